"""The names and number formats that Context-Tester's files share."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path

from contextcliff.errors import ConfigError
from contextcliff.writing.measures.measure import BY_NAME

TOOL = "Context-Tester"
LENGTH = "context_length"
ROUNDS = "num_rounds"

_KEYS_OF_PARAMETERS = {
    "max_tokens": "task.max_tokens",
    "temperature": "sampling.temperature",
    "top_k": "sampling.top_k",
    "top_p": "sampling.top_p",
    "min_p": "sampling.min_p",
    "rep_pen": "sampling.repetition_penalty",
    "max_context": "task.max_context",
    "start_context": "task.start_context",
    "divisions": "task.divisions",
}
_MAX_NAME = 80
_MAX_SHOWN = 40
_MAX_READ = 400
"""Characters: of a name, of a value in a message, and of a value before its blanks are removed."""
_MAX_TOKENS = 1 << 31


def measures_of(row: Mapping[str, object], *, place: str) -> dict[str, float]:
    """The measures in a row or object, by name. Raises `ConfigError` for one that is not a number."""
    numbers = ((name, number(row.get(name), name, place=place)) for name in BY_NAME)
    return {name: value for name, value in numbers if value is not None}


def number(value: object, name: str, *, place: str) -> float | None:
    """A number; None for an empty value and for one that is not finite. Raises `ConfigError` for other values."""
    if value is None or value == "":
        return None
    try:
        if isinstance(value, bool) or not isinstance(value, int | float | str):
            raise ValueError
        result = float(value)
    except (ValueError, OverflowError):
        raise ConfigError(
            f"{place}: {name} is {_shown(value)}, not a number; correct it, or leave this file out"
        ) from None
    return result if math.isfinite(result) else None


def context_tokens(value: object, *, place: str) -> int:
    """A context length in tokens. Raises `ConfigError` for other values."""
    tokens = number(value, LENGTH, place=place)
    if tokens is None or not 0 < tokens < _MAX_TOKENS or tokens != int(tokens):
        raise ConfigError(
            f"{place}: {LENGTH} is {_shown(value)}, not a whole number of tokens; correct it, or leave this file out"
        )
    return int(tokens)


def round_count(value: object, *, place: str) -> int:
    """The number of rounds that were averaged; 1 where it is absent."""
    rounds = number(value, ROUNDS, place=place)
    return 1 if rounds is None else max(1, int(rounds))


def parameters_of(values: Mapping[str, object]) -> dict[str, str]:
    """The tool's settings, under this project's keys. Unknown ones are absent."""
    parameters = ((ours, values.get(theirs)) for theirs, ours in _KEYS_OF_PARAMETERS.items())
    return {ours: one_line(value) for ours, value in parameters if value is not None and value != ""}


def one_line(value: object, *, longest: int = _MAX_NAME) -> str:
    """A value from a file as one line of at most `longest` characters; empty for a list or object."""
    flat = " ".join(str(value).split()) if isinstance(value, str | int | float) else ""
    return flat if len(flat) <= longest else f"{flat[: longest - 3]}..."


def text_of(value: object) -> str:
    """A continuation; empty where none was stored."""
    return value.strip() if isinstance(value, str) else ""


def address(file: Path, *, key: str) -> str:
    """How a file is named in an error."""
    return f"{key}={file}"


def _shown(value: object) -> str:
    return "missing" if value is None or value == "" else repr(one_line(str(value)[:_MAX_READ], longest=_MAX_SHOWN))
