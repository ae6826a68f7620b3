"""The words and numbers of a continuation run, said once for console, page, figures and files; nothing is escaped."""

from __future__ import annotations

from contextcliff.findings import phrases
from contextcliff.writing.measures.measure import BY_NAME, CLASSIC_COMPOSITE, COMPOSITE
from contextcliff.writing.prose_findings import Scale

COMPOSITE_TITLES = {COMPOSITE: "Composite", CLASSIC_COMPOSITE: "Classic composite"}


def title(measure: str) -> str:
    """What a measure or composite is called; its name where it isn't one of this version's."""
    known = BY_NAME.get(measure)
    return COMPOSITE_TITLES.get(measure, measure) if known is None else known.title


def in_sentence(measure: str) -> str:
    """The title within a sentence; an abbreviation stays as it is."""
    name = title(measure)
    return name if name[:2].isupper() else name[0].lower() + name[1:]


def value(number: float | None, *, signed: bool = False) -> str:
    """A figure with about three digits that tell something."""
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


def better(worse: int) -> str:
    return {1: "lower is better", -1: "higher is better"}.get(worse, "neither way is better")


def digits_of(size: float) -> int:
    """Decimals by which figures of this size tell something."""
    return next((digits for digits, least in enumerate((1000.0, 9.995, 0.9995)) if size >= least), 3)
