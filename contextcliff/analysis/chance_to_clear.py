"""The chance that a length with a fixed number of samples is shown above the threshold, before a sample is sent."""

from __future__ import annotations

import bisect

from contextcliff.analysis.length_result import LengthResult
from contextcliff.analysis.threshold import AbsoluteThreshold, Threshold
from contextcliff.statistics.clusters import Evidence
from contextcliff.statistics.intervals import binomial_above


def chance_to_clear(planned: LengthResult, threshold: Threshold, rate: float) -> float | None:
    """For independent 0/1 scores with a true score of `rate`: exact, by the test that the cap is made with.

    None where samples share texts or the threshold is a share of the baseline: the chance then depends on how alike
    the samples of a text are, or on the baseline.
    """
    if planned.sharing or not isinstance(threshold, AbsoluteThreshold):
        return None
    n = planned.planned
    fewest = bisect.bisect_left(
        range(n + 1), True, key=lambda right: threshold.could_be_shown_above(planned, _evidence(right, n))
    )
    return binomial_above(fewest - 1, n, rate)


def _evidence(right: int, n: int) -> Evidence:
    return Evidence(scores=(0.0,) * (n - right) + (1.0,) * right, binary=True)
