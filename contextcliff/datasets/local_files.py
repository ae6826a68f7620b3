"""Checks of the files that a user names, before they are read, and their digests."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path

from contextcliff.errors import ConfigError

_ROW_FORMATS = {
    ".jsonl": "JSON Lines",
    ".ndjson": "JSON Lines",
    ".json": "JSON",
    ".parquet": "Parquet",
    ".csv": "CSV",
    ".tsv": "TSV",
}
_NO_PROSE = (
    "holds rows ({kind}) and no prose; give a text, or ask the questions of a JSON Lines or Parquet file with "
    "dataset=jsonl task=qa"
)
MAX_BYTES = 2 << 30
"""A larger file is refused, since its texts are held in memory."""


def checked_file(path: str, *, key: str, suffixes: Sequence[str]) -> Path:
    """The path of an existing file with one of `suffixes`.

    Raises `ConfigError`, which begins with `key`, for a file that is absent, empty, too large or of another kind.
    """
    file = Path(path).expanduser()
    kinds = " or ".join(filter(None, (", ".join(suffixes[:-1]), suffixes[-1])))
    if not file.is_file():
        problem = "is a folder, not a file" if file.is_dir() else "there is no such file"
        raise ConfigError(f"{key}={path}: {problem}; give a {kinds} file")
    if file.suffix.lower() not in suffixes:
        raise ConfigError(f"{key}={path}: ends in {file.suffix or 'no suffix'}; give a {kinds} file")
    size = file.stat().st_size
    if size == 0:
        raise ConfigError(f"{key}={path}: is empty; give a file with rows in it")
    refuse_large(size, f"{key}={path}")
    return file


def refuse_large(size: int, place: str) -> None:
    """Raise `ConfigError` for a file of more than 2 GiB."""
    if size > MAX_BYTES:
        raise ConfigError(f"{place}: is {size / (1 << 30):.1f} GiB; files of up to 2 GiB are read, give a part of it")


def refuse_rows(file: Path, place: str) -> None:
    """Raise `ConfigError` for a file whose suffix says that it holds rows (CSV, JSON Lines …) and not prose."""
    kind = _ROW_FORMATS.get(file.suffix.lower())
    if kind is not None:
        raise ConfigError(f"{place} {_NO_PROSE.format(kind=kind)}")


def refuse_row_text(text: str, place: str) -> None:
    """Raise `ConfigError` for a text that is JSON."""
    if text[:1] in ("{", "[") and (_is_json(text.split("\n", 1)[0]) or _is_json(text)):
        raise ConfigError(f"{place} {_NO_PROSE.format(kind='JSON')}")


def _is_json(text: str) -> bool:
    try:
        return isinstance(json.loads(text), dict | list)
    except (ValueError, RecursionError):
        return False


def digest_of_file(file: Path, *, key: str) -> str:
    """SHA-256 of the contents, in hex. Raises `ConfigError` for a file that can't be read."""
    try:
        with file.open("rb") as stream:
            return hashlib.file_digest(stream, "sha256").hexdigest()
    except OSError as error:
        raise ConfigError(f"{key}={file}: can't be read ({error.strerror}); give a file that can") from error
