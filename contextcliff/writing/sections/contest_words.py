"""A measure over several runs in one sentence: each one's range, and who is ahead."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from contextcliff.writing.measures.measure import BY_NAME, CLASSIC_COMPOSITE, COMPOSITE
from contextcliff.writing.prose_findings import Scale

COMPOSITES = {COMPOSITE: "Composite", CLASSIC_COMPOSITE: "Classic composite"}
"""Up is worse in both."""
_Z_DIGITS = 2


@dataclass(frozen=True, kw_only=True, slots=True)
class WritingRange:
    """One measure of one run: its least and greatest mean, at which lengths, and its mean over the common lengths."""

    run: str
    low: float
    low_tokens: int
    high: float
    high_tokens: int
    common_mean: float | None
    """None where no length is common to the runs."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Lead:
    """Who is ahead, and by how much; the ends are None where the rounds can't tell."""

    best: str
    next_best: str
    difference: float
    low: float | None
    high: float | None
    reason: str


def contest_title(measure: str) -> str:
    """What a measure or composite is called."""
    return COMPOSITES.get(measure) or BY_NAME[measure].title


def way_of(worse: int) -> str:
    """Which way is better."""
    return {1: "lower is better", -1: "higher is better"}.get(worse, "neither way is better")


def sentence_of(
    measure: str,
    worse: int,
    scale: Scale,
    ranges: Sequence[WritingRange],
    missing: Sequence[str],
    common: Sequence[int],
    lead: Lead | None,
    reason: str,
    confidence: float,
) -> str:
    """`lead` is None, or its ends are, where the rounds can't tell; `reason` says why nobody wins."""
    digits = _digits(ranges)
    told = ", ".join(f"{found.run} {_from_to(found.low, found.high, digits)}" for found in ranges)
    lacking = f"; not measured: {', '.join(missing)}" if missing else ""
    lead_in = f"{contest_title(measure)} ({way_of(worse)}): {told}{lacking}"
    if not worse:
        return f"{lead_in}."
    if lead is None:
        return f"{lead_in}; no winner: {reason}."
    over = f" over {lead.next_best}" if len(ranges) > 2 else ""
    at = f"{len(common)} length{'' if len(common) == 1 else 's'}"
    if lead.low is None or lead.high is None:
        return f"{lead_in}; no winner: {reason}."
    digits = _telling(_Z_DIGITS if scale == "z" else digits, (lead.difference, lead.low))
    unit = " in the author's sd, at equal length," if scale == "z" else ""
    by = (
        f"by {lead.difference:.{digits}f} ({100 * confidence:g}% CI {lead.low:.{digits}f} to {lead.high:.{digits}f})"
        f"{unit} over {at}"
    )
    if reason:
        return f"{lead_in}; no winner: {lead.best} leads{over} {by}, and {reason}."
    return f"{lead_in}; {lead.best} wins{over} {by}."


def _from_to(low: float, high: float, digits: int) -> str:
    first, last = f"{low:.{digits}f}", f"{high:.{digits}f}"
    if first == last:
        return first
    return f"{first} to {last}" if low < 0 else f"{first}-{last}"


def _digits(ranges: Sequence[WritingRange]) -> int:
    """Decimals by which a measure's figures tell something, the same for all runs."""
    size = max(abs(end) for found in ranges for end in (found.low, found.high))
    return next((digits for digits, least in enumerate((1000.0, 9.995, 0.9995)) if size >= least), 3)


def _telling(digits: int, values: Sequence[float]) -> int:
    """As many decimals more as it takes for what is not 0 not to read as 0."""
    while digits < 6 and any(value and not round(abs(value), digits) for value in values):
        digits += 1
    return digits
