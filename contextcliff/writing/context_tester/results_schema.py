"""What Context-Tester's files have in common: its names for ours, and numbers that are none."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path

from contextcliff.errors import ConfigError
from contextcliff.writing.measures.measure import BY_NAME

TOOL = "Context-Tester"
LENGTH = "context_length"
ROUNDS = "num_rounds"
STDS = {"cloze_score_std": "cloze_score", "vocab_diversity_std": "vocabulary_diversity"}
"""The standard deviations that it keeps beside its means, with the measure of each."""

_PARAMETERS = {
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
_LONGEST_NAME = 80
_LONGEST_TEXT = 400
_MOST_TOKENS = 1 << 31


def measures_of(row: Mapping[str, object], *, place: str) -> dict[str, float]:
    """The measures that a row or object holds, by name. Raises `ConfigError` for one that is no number."""
    found = ((name, number(row.get(name), name, place=place)) for name in BY_NAME)
    return {name: value for name, value in found if value is not None}


def number(value: object, name: str, *, place: str) -> float | None:
    """A stored number; None where there is none, or one that is not finite."""
    if value is None or value == "":
        return None
    try:
        if isinstance(value, bool) or not isinstance(value, int | float | str):
            raise ValueError
        found = float(value)
    except (ValueError, OverflowError):
        raise ConfigError(
            f"{place}: {name} is {_brief(value)} and no number; mend it, or leave this file out"
        ) from None
    return found if math.isfinite(found) else None


def context_tokens(value: object, *, place: str) -> int:
    """A context length in tokens. Raises `ConfigError` for what is none."""
    found = number(value, LENGTH, place=place)
    if found is None or not 0 < found < _MOST_TOKENS or found != int(found):
        raise ConfigError(
            f"{place}: {LENGTH} is {_brief(value)}; a whole number of tokens belongs there, mend it or leave this out"
        )
    return int(found)


def count(value: object, *, place: str) -> int:
    """How many rounds were averaged; 1 where it isn't said."""
    found = number(value, ROUNDS, place=place)
    return 1 if found is None else max(1, int(found))


def parameters_of(values: Mapping[str, object]) -> dict[str, str]:
    """Its settings under our keys; what it does not say is absent."""
    told = ((ours, values.get(theirs)) for theirs, ours in _PARAMETERS.items())
    return {ours: line(value) for ours, value in told if value is not None and value != ""}


def line(value: object, *, longest: int = _LONGEST_NAME) -> str:
    """Text from a file on one line, and not too long to be a name."""
    flat = " ".join(str(value).split()) if isinstance(value, str | int | float) else ""
    return flat if len(flat) <= longest else f"{flat[: longest - 3]}..."


def text_of(value: object) -> str:
    """A continuation, where one is kept."""
    return value.strip() if isinstance(value, str) else ""


def address(file: Path, *, key: str) -> str:
    """How a file is named in an error."""
    return f"{key}={file}"


def _brief(value: object) -> str:
    return "missing" if value is None or value == "" else repr(line(str(value)[:_LONGEST_TEXT], longest=40))
