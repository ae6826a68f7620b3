"""The prompts of a run, kept beside its report: `contexts.jsonl.gz`, a JSON object a line."""

from __future__ import annotations

import gzip
import json
import uuid
from collections.abc import Iterable
from pathlib import Path

from contextcliff.records import Prompt


def write_contexts(prompts: Iterable[tuple[str, Prompt]], *, path: Path) -> Path:
    """Write sample ids and their prompts, one prompt in memory at a time, the file whole or not at all.

    The same prompts make the same bytes: the archive holds no time.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{uuid.uuid4().hex}.tmp")
    try:
        with temporary.open("xb") as file, gzip.GzipFile(filename="", fileobj=file, mode="wb", mtime=0) as stream:
            for sample_id, prompt in prompts:
                line = {
                    "sample_id": sample_id,
                    "prompt_sha256": prompt.sha256,
                    "system": prompt.system,
                    "user": prompt.user,
                }
                stream.write(f"{json.dumps(line, ensure_ascii=False)}\n".encode("utf-8", errors="backslashreplace"))
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)
    return path
