"""How large is the difference? Intervals for the mean difference of paired scores.

Each end holds by itself at the confidence that is asked for: the lower end is what non-inferiority is tested by.

- Right or wrong answers, every pair by itself: the score interval of T. Tango, "Equivalence test and confidence
  interval for the difference in proportions for the paired-sample design", Statistics in Medicine 17 (1998) 891-908.
  It does not collapse where no pair differs.
- Graded scores, and units of several pairs: Gaffke's bound for bounded scores (`gaffke.py`), on the units' differences.

A weighted sum of such intervals (the area under the score) is combined by MOVER: G. Y. Zou and A. Donner,
"Construction of confidence limits about effect measures", Statistics in Medicine 27 (2008) 1693-1702.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from contextcliff.statistics.distributions import normal_quantile
from contextcliff.statistics.gaffke import mean_lower_bound, mean_upper_bound
from contextcliff.statistics.paired.differences import Units
from contextcliff.statistics.roots import root_of

_EDGE = 1e-12
_TOLERANCE = 1e-10


@dataclass(frozen=True, kw_only=True, slots=True)
class MeanDifference:
    """A mean difference and its interval."""

    mean: float
    low: float
    high: float
    method: str


def mean_difference(units: Units, confidence: float) -> MeanDifference:
    """Of at least one unit; each end holds at `confidence`."""
    if units.is_right_or_wrong:
        low, high = tango(better=units.better, worse=units.worse, n=units.n_pairs, confidence=confidence)
        return MeanDifference(mean=units.mean, low=low, high=high, method="tango")
    # A unit counts by its pairs: its total is a share of that of the largest unit.
    largest = max(unit.pairs for unit in units.units)
    scale = 2.0 * largest * len(units.units) / units.n_pairs
    shares = tuple(sorted(min(1.0, max(0.0, 0.5 * (1.0 + unit.total / largest))) for unit in units.units))
    low = scale * (mean_lower_bound(shares, confidence) - 0.5)
    high = scale * (mean_upper_bound(shares, confidence) - 0.5)
    return MeanDifference(
        mean=units.mean, low=max(-1.0, min(low, units.mean)), high=min(1.0, max(high, units.mean)), method="gaffke"
    )


def tango(*, better: int, worse: int, n: int, confidence: float) -> tuple[float, float]:
    """Score interval for the share of better minus that of worse pairs; each end holds at `confidence`."""
    z = normal_quantile(confidence)
    estimate = (better - worse) / n

    def excess(difference: float, limit: float) -> float:
        return _score(better, worse, n, difference) - limit

    low = (
        -1.0
        if better - worse == -n
        else root_of(partial(excess, limit=z), -1.0 + _EDGE, estimate, tolerance=_TOLERANCE)
    )
    high = (
        1.0 if better - worse == n else root_of(partial(excess, limit=-z), estimate, 1.0 - _EDGE, tolerance=_TOLERANCE)
    )
    return low, high


def _score(better: int, worse: int, n: int, difference: float) -> float:
    """Tango's statistic: how far the observed difference is above a supposed one, in standard errors."""
    a = 2.0 * n
    b = -better - worse + (2.0 * n - better + worse) * difference
    c = -worse * difference * (1.0 - difference)
    # The likeliest share of worse pairs, given the difference.
    share = max(0.0, (math.sqrt(max(0.0, b * b - 4.0 * a * c)) - b) / (2.0 * a))
    variance = n * (2.0 * share + difference * (1.0 - difference))
    gap = better - worse - n * difference
    return 0.0 if abs(gap) < _EDGE else gap / math.sqrt(max(variance, _EDGE))


def weighted(parts: Sequence[MeanDifference], weights: Sequence[float]) -> MeanDifference:
    """A weighted sum of independent differences, with the interval that theirs make (MOVER)."""
    mean = math.fsum(w * part.mean for w, part in zip(weights, parts, strict=True))
    below = math.fsum((w * (part.mean - part.low)) ** 2 for w, part in zip(weights, parts, strict=True))
    above = math.fsum((w * (part.high - part.mean)) ** 2 for w, part in zip(weights, parts, strict=True))
    return MeanDifference(mean=mean, low=mean - math.sqrt(below), high=mean + math.sqrt(above), method="mover")
