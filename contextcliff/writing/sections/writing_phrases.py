"""The words and numbers of a continuation run, said once for console, page, figures and files.

As in `phrases`, nothing here is escaped, and all is plain ASCII apart from what the run itself brings.
"""

from __future__ import annotations

from contextcliff.findings import phrases
from contextcliff.writing.measures.measure import BY_NAME
from contextcliff.writing.prose_findings import Scale


def title(measure: str) -> str:
    """What a measure is called; its name where it isn't one of this version's."""
    known = BY_NAME.get(measure)
    return measure if known is None else known.title


def value(number: float | None, *, signed: bool = False) -> str:
    """A figure of any measure with about three digits that tell something."""
    if number is None:
        return phrases.MISSING
    size = abs(number)
    digits = 3 if size < 9.9995 else 2 if size < 99.995 else 1
    return f"{number:{'+' if signed else ''},.{digits}f}"


def change(measure: str, difference: float) -> str:
    """A difference in a measure's own unit, and what it means where that is known."""
    known = BY_NAME.get(measure)
    if known is None or known.worse == 0 or not difference:
        return value(difference, signed=True)
    is_rise = difference > 0
    meaning = known.rise if is_rise else known.fall
    if meaning is None:
        meaning = "worse" if is_rise == (known.worse > 0) else "better"
    return f"{value(difference, signed=True)}, {meaning}"


def shift(measure: str, difference: float, scale: Scale) -> str:
    """A difference on the scale that was tested, with its unit."""
    if scale == "z":
        return f"{value(difference)} sd of the author's"
    known = BY_NAME.get(measure)
    return f"{value(difference)} {known.unit if known else ''}".rstrip()


def way(measure: str) -> str:
    """Which way is worse, for a title; empty where neither is."""
    known = BY_NAME.get(measure)
    return {1: "up is worse", -1: "down is worse"}.get(known.worse if known else 0, "")
