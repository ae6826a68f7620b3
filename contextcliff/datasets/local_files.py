"""Files that a user names: checked before they are opened, and known by their contents."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path

from contextcliff.errors import ConfigError

MOST_BYTES = 2 << 30
"""A larger file is refused: its texts have to be held in memory."""


def checked_file(path: str, *, key: str, suffixes: Sequence[str]) -> Path:
    """The file, whose suffix is one of `suffixes`. Raises `ConfigError` for one that is absent, empty or too large."""
    file = Path(path).expanduser()
    kinds = " or ".join(filter(None, (", ".join(suffixes[:-1]), suffixes[-1])))
    if not file.is_file():
        told = "is a folder, not a file" if file.is_dir() else "there is no such file"
        raise ConfigError(f"{key}={path}: {told}; give a {kinds} file")
    if file.suffix.lower() not in suffixes:
        raise ConfigError(f"{key}={path}: ends in {file.suffix or 'no suffix'}; give a {kinds} file")
    size = file.stat().st_size
    if size == 0:
        raise ConfigError(f"{key}={path}: is empty; give a file with rows in it")
    refuse_large(size, f"{key}={path}")
    return file


def refuse_large(size: int, place: str) -> None:
    """Raise `ConfigError` for a file of more than 2 GiB."""
    if size > MOST_BYTES:
        raise ConfigError(f"{place}: is {size / (1 << 30):.1f} GiB; files of up to 2 GiB are read, give a part of it")


def digest_of_file(file: Path, *, key: str) -> str:
    """SHA-256 of the contents, in hex. Raises `ConfigError` for a file that can't be read."""
    try:
        with file.open("rb") as stream:
            return hashlib.file_digest(stream, "sha256").hexdigest()
    except OSError as error:
        raise ConfigError(f"{key}={file}: can't be read ({error.strerror}); give a file that can") from error
