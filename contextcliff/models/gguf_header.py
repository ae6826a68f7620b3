"""The metadata of a GGUF file, read without the model's vocabulary.

Own code: package `gguf` decodes every entry of the vocabulary, which takes 1.8 s for one of 49,000 entries where this
takes 30 ms. The format: https://github.com/ggml-org/ggml/blob/master/docs/gguf.md (little-endian, version 2 and later).
"""

from __future__ import annotations

import mmap
import struct
from collections.abc import Iterator, Mapping
from functools import lru_cache
from pathlib import Path
from types import MappingProxyType

Value = str | int | float | bool | tuple[int | float | bool, ...]

_MAGIC = b"GGUF"
_NUMBERS = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q", 12: "d"}
"""The `struct` format of a number or truth value by its type in the file."""
_STRING, _ARRAY = 8, 9


def read_header(file: Path) -> Mapping[str, Value]:
    """Every value by its key, without arrays of texts (the vocabulary) and of arrays. Raises `ValueError` if broken."""
    return _header(file, file.stat().st_mtime_ns)[0]


def tensor_names(file: Path) -> frozenset[str]:
    return _header(file, file.stat().st_mtime_ns)[1]


@lru_cache(maxsize=4)
def _header(file: Path, _changed_ns: int) -> tuple[Mapping[str, Value], frozenset[str]]:
    with file.open("rb") as stream, mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ) as data:
        try:
            values, offset = _values(data)
            return MappingProxyType(values), frozenset(_names(data, offset))
        except (struct.error, OverflowError, KeyError, RecursionError) as error:
            raise ValueError(f"{file}: the header of this GGUF file is broken") from error


def count_of(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else None


def _values(data: mmap.mmap) -> tuple[dict[str, Value], int]:
    if data[:4] != _MAGIC:
        raise KeyError(data[:4])
    (entries,) = struct.unpack_from("<Q", data, 16)
    offset = 24
    values: dict[str, Value] = {}
    for _ in range(entries):
        key, offset = _text(data, offset)
        (kind,) = struct.unpack_from("<I", data, offset)
        value, offset = _value(data, offset + 4, kind)
        if value is not None:
            values[key.decode("utf-8", "replace")] = value
    return values, offset


def _names(data: mmap.mmap, offset: int) -> Iterator[str]:
    (tensors,) = struct.unpack_from("<Q", data, 8)
    for _ in range(tensors):
        name, offset = _text(data, offset)
        (dimensions,) = struct.unpack_from("<I", data, offset)
        offset += 4 + 8 * dimensions + 4 + 8  # how many dimensions, each of them, type, and where it lies
        yield name.decode("utf-8", "replace")


def _value(data: mmap.mmap, offset: int, kind: int) -> tuple[Value | None, int]:
    if kind == _STRING:
        text, end = _text(data, offset)
        return text.decode("utf-8", "replace"), end
    if kind == _ARRAY:
        inner, count = struct.unpack_from("<IQ", data, offset)
        if inner in _NUMBERS:
            return _numbers(data, offset + 12, _NUMBERS[inner], count)
        end = offset + 12
        for _ in range(count):
            end = _end(data, end, inner)
        return None, end
    (number,), end = _numbers(data, offset, _NUMBERS[kind], 1)
    return number, end


def _numbers(data: mmap.mmap, offset: int, code: str, count: int) -> tuple[tuple[int | float | bool, ...], int]:
    packed = struct.Struct(f"<{count}{code}")
    return packed.unpack_from(data, offset), offset + packed.size


def _end(data: mmap.mmap, offset: int, kind: int) -> int:
    return offset + 8 + _length(data, offset) if kind == _STRING else _value(data, offset, kind)[1]


def _text(data: mmap.mmap, offset: int) -> tuple[bytes, int]:
    end = offset + 8 + _length(data, offset)
    return data[offset + 8 : end], end


def _length(data: mmap.mmap, offset: int) -> int:
    return int(struct.unpack_from("<Q", data, offset)[0])
