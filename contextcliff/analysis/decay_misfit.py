"""How far the mean scores lie from the fitted exponential decay: of a cliff it is a poor summary, and this says so."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from contextcliff.analysis.half_life import HalfLife
from contextcliff.records.analysis import Bin


@dataclass(frozen=True, kw_only=True, slots=True)
class DecayMisfit:
    """Mean scores less the fitted curve, over the lengths that have a score, each length counting alike."""

    rms: float
    """Root of the mean squared difference, in score points, 0-1."""
    largest: float
    """The difference furthest from 0; negative where the curve is above the score."""
    largest_at: int
    """Its length in tokens, the bin's measured median."""
    outside: int
    """Lengths whose interval the curve misses."""
    lengths: int


def decay_score(half_life: HalfLife, tokens: float) -> float | None:
    """The score of the fitted curve R₀·2^(−L/H) at a length; None where nothing was fitted."""
    if not half_life.tokens or half_life.initial is None:
        return None
    return half_life.initial * math.exp(-math.log(2) * tokens / half_life.tokens)


def decay_misfit(half_life: HalfLife, bins: Sequence[Bin]) -> DecayMisfit | None:
    """The misfit of a fit to these bins; None where there is no fit, or no length has a score."""
    residuals: list[tuple[float, Bin]] = []
    outside = 0
    for each in bins:
        fitted = decay_score(half_life, each.median_tokens)
        if fitted is None or each.mean is None:
            continue
        residuals.append((each.mean - fitted, each))
        if each.ci_low is not None and each.ci_high is not None and not each.ci_low <= fitted <= each.ci_high:
            outside += 1
    if not residuals:
        return None
    largest, at = max(residuals, key=lambda found: abs(found[0]))
    return DecayMisfit(
        rms=math.sqrt(math.fsum(residual**2 for residual, _ in residuals) / len(residuals)),
        largest=largest,
        largest_at=at.median_tokens,
        outside=outside,
        lengths=len(residuals),
    )
