"""Files of data, written whole or not at all, of which neither a terminal nor a spreadsheet obeys anything."""

from __future__ import annotations

import csv
import gzip
import io
import json
import os
import shutil
import time
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict
from errno import EISDIR
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, BinaryIO, TypeVar

from pydantic import Field, FiniteFloat, TypeAdapter, ValidationError
from pydantic.dataclasses import dataclass

from contextcliff.datasets.local_files import MAX_BYTES, UnreadableFile, opened, parsed
from contextcliff.errors import ConfigError, tell
from contextcliff.records.sample import Prompt, SentTurn
from contextcliff.reporting.text import tame_cell
from contextcliff.text.tokens import plain_text

_T = TypeVar("_T")
_ABANDONED_S = 3600.0
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
_ESCAPED = LINE_ENDS | {code: f"\\u{code:04x}" for code in (0x7F, *range(0x80, 0xA0))}
"""A terminal does not obey these."""


@contextmanager
def replacing(path: Path) -> Iterator[BinaryIO]:
    """A stream whose bytes replace `path` in one step when the block ends, and are dropped where it raises."""
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


@contextmanager
def replacing_together(folder: Path, *, stale: Sequence[str] = ()) -> Iterator[Path]:
    """A folder whose files take their places in `folder` when the block ends, and are dropped where it raises; files
    that match a pattern of `stale` and are not among the new ones go then."""
    is_new = not folder.is_dir()
    folder.mkdir(parents=True, exist_ok=True)
    for left in folder.glob(".new-*"):  # by a process that was killed
        if left.stat().st_mtime < time.time() - _ABANDONED_S:
            shutil.rmtree(left, ignore_errors=True)
    try:
        with TemporaryDirectory(prefix=".new-", dir=folder) as name:
            new = Path(name)
            yield new
            files = [path.relative_to(new) for path in sorted(new.rglob("*")) if path.is_file()]
            files.sort(key=lambda file: file == Path("report.json"))  # the last: a folder that has one is whole
            for file in files:  # what can fail, before anything is replaced
                (folder / file).parent.mkdir(parents=True, exist_ok=True)
                if (folder / file).is_dir():
                    raise IsADirectoryError(EISDIR, os.strerror(EISDIR), str(folder / file))
            for file in files:
                (new / file).replace(folder / file)
        for path in [path for pattern in stale for path in folder.glob(pattern)]:
            if path.relative_to(folder) not in files:
                path.unlink()
    except OSError as error:
        raise OSError(error.errno, error.strerror, error.filename or str(folder)) from error
    finally:
        if is_new:
            with suppress(OSError):  # it holds the report
                folder.rmdir()


def write_bytes(*, path: Path, data: bytes) -> Path:
    """Replace `path` by `data` in one step and return it; its folder is made where it is missing."""
    with replacing(path) as stream:
        stream.write(data)
    return path


def write_text(*, path: Path, text: str) -> Path:
    """Write `text` as UTF-8. A lone surrogate, which a model's broken JSON can hold, becomes the escape that JSON has
    for it."""
    return write_bytes(path=path, data=text.encode("utf-8", errors="backslashreplace"))


CONTEXTS_NAME = "contexts.jsonl.gz"
_MOST_UNPACKED, _LONGEST_LINE = 64 << 20, 16 << 20


def read_rows(path: Path, made_of: Callable[[Any], tuple[str, _T]]) -> dict[str, _T]:
    """What is made of the lines of a gzipped JSON Lines file, up to 64 MiB; nothing of a missing or damaged file, and
    of that a warning."""
    found: dict[str, _T] = {}
    if not os.path.lexists(path):
        return found
    try:
        with opened(path, most=_MOST_UNPACKED) as packed, gzip.GzipFile(fileobj=packed) as lines:
            left = _MOST_UNPACKED
            while (line := lines.readline(_LONGEST_LINE)) and (left := left - len(line)) > 0:
                if not line.endswith(b"\n"):
                    raise UnreadableFile("has a line that is too long or has no end")
                name, row = made_of(parsed(line))
                found[name] = row
    except UnreadableFile as error:
        tell(f"warning: {path} {error}; the report goes without what it holds")
        return {}
    return found


def write_rows(rows: Iterable[Mapping[str, object]], *, path: Path) -> Path:
    """Write gzipped JSON Lines, one row in memory at a time. The same rows make the same bytes."""
    with replacing(path) as file, gzip.GzipFile(filename="", fileobj=file, mode="wb", mtime=0) as stream:
        for row in rows:
            text = json.dumps(row, ensure_ascii=False).translate(LINE_ENDS)
            stream.write(f"{text}\n".encode("utf-8", errors="backslashreplace"))
    return path


def read_contexts(path: Path) -> dict[str, str]:
    """The prompts that `write_contexts` left, as one text each, by `sample_id`; see `read_rows`."""

    def prompt(kept: Any) -> tuple[str, str]:
        turns = tuple(SentTurn(**turn) for turn in kept.get("turns", ()))
        return str(kept["sample_id"]), plain_text(Prompt(system=kept["system"] or None, user=kept["user"], turns=turns))

    return read_rows(path, prompt)


def write_contexts(prompts: Iterable[tuple[str, Prompt]], *, path: Path) -> Path:
    """Write sample ids and their prompts; a conversation has its earlier `turns` too."""

    def row(sample_id: str, prompt: Prompt) -> dict[str, object]:
        told = {"sample_id": sample_id, "prompt_sha256": prompt.sha256, "system": prompt.system, "user": prompt.user}
        return {**told, "turns": [asdict(turn) for turn in prompt.turns]} if prompt.turns else {**told}

    return write_rows((row(sample_id, prompt) for sample_id, prompt in prompts), path=path)


SAMPLES_NAME = "samples.jsonl"
_LONGEST_SAMPLE, _MOST_SAMPLES = 8 << 20, 500_000
AGAIN = "write it again with action=analyze"
"""The way out of a file that lacks something."""


@dataclass(frozen=True, kw_only=True, slots=True)
class StoredSample:
    """What a line says that two runs are compared by; the rest of it is not looked at."""

    sample_id: str
    context_tokens: int
    prompt_sha256: str
    score: float | None = Field(default=None, ge=0.0, le=1.0)
    failure: str | None = None
    cluster: str = ""
    item: str = ""
    """The question that it repeats; empty: none, or a file of an earlier version."""
    step: int | None = None
    replayed: bool = False
    """Whether it was asked only to stay paired with another run."""
    figures: Mapping[str, FiniteFloat] = Field(default_factory=dict)
    """What else the task measured of the answer; empty in a file of an earlier version."""


_sample = TypeAdapter(StoredSample)


def stored_samples(folder: Path, *, asked: str) -> Iterator[StoredSample]:
    """The samples of a run's folder. `asked` is what named the run, as `task.like=RUN`. Raises `ConfigError` with file
    and line."""
    file = folder / SAMPLES_NAME
    try:
        for number, line in enumerate(sample_lines(file), start=1):
            try:
                yield _sample.validate_json(line)
            except ValidationError as error:
                raise ConfigError(f"{asked}: {file} line {number} is no sample; {AGAIN}") from error
    except UnreadableFile as error:
        raise ConfigError(f"{asked}: {file}: {error}; {AGAIN}") from error


def sample_lines(file: Path) -> Iterator[bytes]:
    """The lines of a `samples.jsonl`. Raises `UnreadableFile`."""
    with opened(file, most=MAX_BYTES) as lines:
        for number, line in enumerate(iter(lambda: lines.readline(_LONGEST_SAMPLE), b"")):
            if number == _MOST_SAMPLES:
                raise UnreadableFile(f"has more than {_MOST_SAMPLES:,} samples")
            yield line
