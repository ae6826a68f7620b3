"""The border to files that may be anybody's: only plain files are read, up to a bound."""

from __future__ import annotations

import hashlib
import json
import os
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from stat import S_ISREG
from typing import Any, BinaryIO

from contextcliff.errors import ConfigError, ContextCliffError

MAX_BYTES = 2 << 30
"""A larger file is refused, since its texts are held in memory."""
_MOST_VALUES = 2_000_000


class UnreadableFile(ContextCliffError):
    """A file that is missing, too large, damaged or none at all; the message goes on after the file's name."""


@contextmanager
def opened(file: Path, *, most: int) -> Iterator[BinaryIO]:
    """The bytes of a plain file, which may be anybody's. Raises `UnreadableFile`, also for damage in the block."""
    try:
        # A pipe without a writer would be waited for.
        with open(file, "rb", opener=lambda path, flags: os.open(path, flags | getattr(os, "O_NONBLOCK", 0))) as stream:
            status = os.fstat(stream.fileno())
            if not S_ISREG(status.st_mode):
                raise UnreadableFile("is no plain file")
            if status.st_size > most:
                raise UnreadableFile(f"is larger than {most >> 20:,} MiB")
            yield stream
    except OSError as error:
        raise UnreadableFile(error.strerror or str(error)) from error
    except (ValueError, TypeError, LookupError, AttributeError, RecursionError, EOFError, zlib.error) as error:
        raise UnreadableFile("is damaged") from error


def json_of(file: Path, *, most: int = 32 << 20) -> Any:
    with opened(file, most=most) as stream:
        return parsed(whole(stream))


def whole(stream: BinaryIO) -> bytes:
    """The bytes of a file that was `opened`: `read` would take the memory for as many as it is told at most."""
    return stream.read(os.fstat(stream.fileno()).st_size)


def parsed(data: bytes) -> Any:
    """What JSON says. Raises `ValueError` or `RecursionError`; two bytes, as `{}`, may take a hundred when read."""
    if sum(map(data.count, (b"{", b"[", b","))) > _MOST_VALUES:
        raise ValueError(f"more than {_MOST_VALUES:,} values")
    return json.loads(data.decode())


def checked_file(path: str, *, key: str, suffixes: Sequence[str]) -> Path:
    """The path of a file with one of `suffixes`. Raises `ConfigError` for one that is absent, empty or too large."""
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
    if size > MAX_BYTES:
        raise ConfigError(f"{place}: is {size / (1 << 30):.1f} GiB; files of up to 2 GiB are read, give a part of it")


def digest_of_file(file: Path, *, key: str) -> str:
    try:
        with file.open("rb") as stream:
            return hashlib.file_digest(stream, "sha256").hexdigest()
    except OSError as error:
        raise ConfigError(f"{key}={file}: can't be read ({error.strerror}); give a file that can") from error
