"""Files of data, written whole or not at all, of which neither a terminal nor a spreadsheet obeys anything."""

from __future__ import annotations

import csv
import gzip
import io
import json
import os
import uuid
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import BinaryIO

from contextcliff.records.sample import Prompt, SentTurn
from contextcliff.reporting.outside_text import tame_cell
from contextcliff.text.tokens import plain_text

Cell = str | int | float | None
"""A value of a table; None: not measured."""
Row = dict[str, Cell]


def json_text(value: Mapping[str, object]) -> str:
    """An object over several lines. Raises `ValueError` where a number is not finite."""
    text = json.dumps(dict(value), ensure_ascii=False, allow_nan=False, indent=2)
    return text.translate(_ESCAPED) + "\n"


def csv_text(rows: Sequence[Row]) -> str:
    """Rows of the same keys under one head line; an empty cell is what was not measured."""
    stream = io.StringIO()
    table = csv.DictWriter(stream, fieldnames=list(rows[0]) if rows else [], lineterminator="\n")
    table.writeheader()
    table.writerows(
        {key: tame_cell(cell) if isinstance(cell, str) else cell for key, cell in row.items()} for row in rows
    )
    return stream.getvalue()


LINE_ENDS = {ord(char): f"\\u{ord(char):04x}" for char in "\x85\u2028\u2029"}
"""For `str.translate` of JSON: some readers end a line at these too, and in a string an escape is the same."""

# Inside a JSON string an escape is the same character, and a terminal does not obey it.
_ESCAPED = LINE_ENDS | {code: f"\\u{code:04x}" for code in (0x7F, *range(0x80, 0xA0))}


@contextmanager
def replacing(path: Path) -> Iterator[BinaryIO]:
    """A stream whose bytes replace `path` in one step when the block ends, and are dropped where it raises.

    The folder of `path` is made where it is missing.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    # Beside the target, since a rename is atomic only within one file system. `open` and not
    # `tempfile`: a report is for others to read, and `tempfile` would leave it private (mode 0600).
    temporary = path.with_name(f".{path.name}.{uuid.uuid4().hex}.tmp")
    try:
        with temporary.open("xb") as stream:
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


def write_bytes(*, path: Path, data: bytes) -> Path:
    """Replace `path` by `data` in one step and return it; its folder is made where it is missing."""
    with replacing(path) as stream:
        stream.write(data)
    return path


def write_text(*, path: Path, text: str) -> Path:
    """Write `text` as UTF-8 with Unix line ends, as `write_bytes` does.

    A lone surrogate, which a model's broken JSON can hold, has no UTF-8 form; it becomes a six
    character escape, which inside JSON is the very escape that reads back as the same character.
    """
    return write_bytes(path=path, data=text.encode("utf-8", errors="backslashreplace"))


CONTEXTS_NAME = "contexts.jsonl.gz"
_MOST_PROMPTS = 64 << 20


def read_contexts(path: Path) -> dict[str, str]:
    """The prompts that `write_contexts` left, as one text each, by `sample_id`; 64 MiB at most."""
    if not path.is_file():
        return {}
    prompts: dict[str, str] = {}
    left = _MOST_PROMPTS
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        while left > 0 and (line := lines.readline(left)).endswith("\n"):
            left -= len(line)
            kept = json.loads(line)
            turns = tuple(SentTurn(**turn) for turn in kept.get("turns", ()))
            prompt = Prompt(system=kept["system"] or None, user=kept["user"], turns=turns)
            prompts[str(kept["sample_id"])] = plain_text(prompt)
    return prompts


def write_contexts(prompts: Iterable[tuple[str, Prompt]], *, path: Path) -> Path:
    """Write sample ids and their prompts, one prompt in memory at a time, the file whole or not at all.

    A line is an object with `sample_id`, `prompt_sha256`, `system` (null: none) and `user`; that of a conversation has
    its earlier `turns` too, a list of objects with `user` and `assistant`. The same prompts make the same bytes: the
    archive holds neither a time nor a name. Returns `path`.
    """
    with replacing(path) as file, gzip.GzipFile(filename="", fileobj=file, mode="wb", mtime=0) as stream:
        for sample_id, prompt in prompts:
            line = {
                "sample_id": sample_id,
                "prompt_sha256": prompt.sha256,
                "system": prompt.system,
                "user": prompt.user,
                **({"turns": [asdict(turn) for turn in prompt.turns]} if prompt.turns else {}),
            }
            text = json.dumps(line, ensure_ascii=False).translate(LINE_ENDS)
            stream.write(f"{text}\n".encode("utf-8", errors="backslashreplace"))
    return path
