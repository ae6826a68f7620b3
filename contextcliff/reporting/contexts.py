"""The prompts of a run, kept beside its report: `contexts.jsonl.gz`, a JSON object a line."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterable
from pathlib import Path

from contextcliff.records.sample import Prompt
from contextcliff.reporting.atomic import LINE_ENDS, replacing


def write_contexts(prompts: Iterable[tuple[str, Prompt]], *, path: Path) -> Path:
    """Write sample ids and their prompts, one prompt in memory at a time, the file whole or not at all.

    A line is an object with `sample_id`, `prompt_sha256`, `system` (null: none) and `user`. The same prompts make
    the same bytes: the archive holds neither a time nor a name. Returns `path`.
    """
    with replacing(path) as file, gzip.GzipFile(filename="", fileobj=file, mode="wb", mtime=0) as stream:
        for sample_id, prompt in prompts:
            line = {
                "sample_id": sample_id,
                "prompt_sha256": prompt.sha256,
                "system": prompt.system,
                "user": prompt.user,
            }
            text = json.dumps(line, ensure_ascii=False).translate(LINE_ENDS)
            stream.write(f"{text}\n".encode("utf-8", errors="backslashreplace"))
    return path
