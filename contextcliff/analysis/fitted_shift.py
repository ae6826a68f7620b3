"""By how much the fitted length of a candidate lies below or above the baseline's: an estimate beside the verdict."""

from __future__ import annotations

import math
from dataclasses import dataclass

from contextcliff.analysis.fitted_length import FittedLength


@dataclass(frozen=True, kw_only=True, slots=True)
class FittedShift:
    """The candidate's fitted length against the baseline's, in octaves: −1 is half the length.

    The interval is that of both (MOVER, Zou and Donner 2008). It takes them as independent, which runs of the same
    prompts are not: it is rather too wide. An end is None where one of them goes beyond the tested lengths.
    """

    baseline_tokens: int
    candidate_tokens: int
    octaves: float
    ci_low: float | None
    ci_high: float | None


def fitted_shift(baseline: FittedLength, candidate: FittedLength) -> FittedShift | None:
    """None where one of the curves does not fall to the score within the tested lengths."""
    if baseline.tokens is None or candidate.tokens is None:
        return None
    shift = _octaves(candidate.tokens, baseline.tokens)
    down = (_octaves(candidate.tokens, candidate.ci_low), _octaves(baseline.ci_high, baseline.tokens))
    up = (_octaves(candidate.ci_high, candidate.tokens), _octaves(baseline.tokens, baseline.ci_low))
    return FittedShift(
        baseline_tokens=baseline.tokens,
        candidate_tokens=candidate.tokens,
        octaves=shift,
        ci_low=None if any(map(math.isnan, down)) else shift - math.hypot(*down),
        ci_high=None if any(map(math.isnan, up)) else shift + math.hypot(*up),
    )


def _octaves(high: int | None, low: int | None) -> float:
    """NaN where an end is not known."""
    return math.log2(high / low) if high and low else math.nan
