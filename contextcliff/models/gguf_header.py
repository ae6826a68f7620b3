"""What a GGUF file says of itself, read without its vocabulary: package `gguf` takes seconds for that."""

from __future__ import annotations

import mmap
import struct
from collections.abc import Iterator
from pathlib import Path

_MAGIC = b"GGUF"
_WIDTHS = {0: 1, 1: 1, 2: 2, 3: 2, 4: 4, 5: 4, 6: 4, 7: 1, 10: 8, 11: 8, 12: 8}
"""Bytes of a value by its type in the format: integers, floats and truth values."""
_STRING, _ARRAY = 8, 9


def header_text(file: Path, key: str) -> str | None:
    """A text of the header; None where there is none under this key. Raises `ValueError` for a broken header."""
    with file.open("rb") as stream, mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ) as data:
        try:
            found = next((value for name, value in _texts(data) if name == key.encode()), None)
        except (struct.error, OverflowError, KeyError, RecursionError) as error:
            raise ValueError(f"{file}: the header of this GGUF file is broken") from error
    return None if found is None else found.decode("utf-8", "replace")


def _texts(data: mmap.mmap) -> Iterator[tuple[bytes, bytes]]:
    """Every key of the header whose value is a text, and the text; other values are skipped."""
    if data[:4] != _MAGIC:
        raise KeyError(data[:4])
    (entries,) = struct.unpack_from("<Q", data, 16)
    place = 24
    for _ in range(entries):
        key, place = _text(data, place)
        (kind,) = struct.unpack_from("<I", data, place)
        place += 4
        if kind == _STRING:
            value, place = _text(data, place)
            yield key, value
        else:
            place = _after(data, place, kind)


def _after(data: mmap.mmap, place: int, kind: int) -> int:
    """Where a value ends that begins at `place`."""
    if kind != _ARRAY:
        return place + (_WIDTHS[kind] if kind != _STRING else 8 + _length(data, place))
    inner, count = struct.unpack_from("<IQ", data, place)
    place += 12
    if inner in _WIDTHS:
        return place + _WIDTHS[inner] * int(count)
    for _ in range(count):
        place = _after(data, place, inner)
    return place


def _text(data: mmap.mmap, place: int) -> tuple[bytes, int]:
    end = place + 8 + _length(data, place)
    return data[place + 8 : end], end


def _length(data: mmap.mmap, place: int) -> int:
    return int(struct.unpack_from("<Q", data, place)[0])
