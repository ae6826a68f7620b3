"""The border where JSON of a server becomes ours: parsed without a traceback, each value read as its type or absent."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import chain

from pydantic_core import from_json

_MOST_COUNTED = 10**9
_INFINITE = 1e300
_SURROGATES = re.compile(r"(\\\\|\\uD[89AB]..\\uD[C-F]..)|\\uD[89A-F]..", re.IGNORECASE)
"""A pair that stands for one character, or else a half of one."""


def parsed(text: str) -> object:
    """The value of a JSON text; half surrogate pairs, which can't be encoded, become U+FFFD. Raises `ValueError`."""
    if "\\ud" in text or "\\uD" in text:
        text = _SURROGATES.sub(lambda found: found[1] or r"\ufffd", text)
    value: object = from_json(text, allow_inf_nan=False)
    return value


def parsed_object(text: str) -> Mapping[str, object]:
    """The object of a JSON text; an empty one for any other value. Raises `ValueError` as `parsed` does."""
    value = parsed(text)
    return value if isinstance(value, dict) else {}


def text_at(values: Mapping[str, object], name: str) -> str:
    found = values.get(name)
    return found if isinstance(found, str) else ""


def count_at(values: Mapping[str, object], name: str, *, most: int = _MOST_COUNTED) -> int | None:
    """A whole number from 0 to `most` (a billion) inside an object; None if it is absent or something else."""
    found = values.get(name)
    if not isinstance(found, int) or isinstance(found, bool) or not 0 <= found <= most:
        return None
    return found


def object_at(values: Mapping[str, object], name: str) -> Mapping[str, object]:
    found = values.get(name)
    return found if isinstance(found, dict) else {}


def list_at(values: Mapping[str, object], name: str) -> Sequence[object]:
    found = values.get(name)
    return found if isinstance(found, list) else []


def objects_at(values: Mapping[str, object], name: str) -> Sequence[Mapping[str, object]]:
    return [each for each in list_at(values, name) if isinstance(each, dict)]


def numbers_at(values: Mapping[str, object], name: str) -> tuple[float, ...]:
    """The numbers of a list inside an object; none if anything in it is something else, or infinite."""
    found = list_at(values, name)
    numbers = [each for each in found if isinstance(each, int | float) and abs(each) < _INFINITE]
    return tuple(map(float, numbers)) if len(numbers) == len(found) else ()


def texts_in(value: object) -> str:
    match value:
        case dict(values):
            return " ".join(map(texts_in, chain.from_iterable(values.items())))
        case list(values):
            return " ".join(map(texts_in, values))
    return value if isinstance(value, str) else ""


_MESSAGES = ("error", "errors", "message", "detail", "msg", "error_message", "errorMessage")


def message_in(value: object) -> str:
    """The words of a server's error in any shape: its messages, those of a list, or else every text in it."""
    match value:
        case dict(values):
            said = dict.fromkeys(message_in(values.get(name)) for name in _MESSAGES)
            return "; ".join(filter(None, said)) or texts_in(values)
        case list(values):
            return "; ".join(filter(None, map(message_in, values[:8])))
    return value if isinstance(value, str) else ""
