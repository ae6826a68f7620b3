"""How many samples would have settled it.

Planned with the same exact binomial test that the cap is made with. A score that is a fraction varies
less than right-or-wrong with the same mean, so for fractional scores these figures are on the high side; against
a share of the baseline they are planned with their own spread instead (`settling.py`).
They are for a new run: samples added after a look at the result are optional stopping, which the
test does not allow for. They are counts of independent samples: where samples share texts, more of them are
worth so many (`clusters.samples_worth`).
"""

from __future__ import annotations

import itertools
import math
from functools import lru_cache

import numpy as np
from scipy import stats

from contextcliff.statistics.intervals import clopper_pearson_low

POWER = 0.8
MOST = 20_000
"""Above this a figure is no advice; None is returned."""


def is_shown_above(right: int, n: int, threshold: float, confidence: float) -> bool:
    """Whether `right` of `n` clears `threshold` by the exact one-sided test."""
    return n > 0 and clopper_pearson_low(right, n, confidence) >= threshold


def fewest_to_clear(threshold: float, confidence: float) -> int | None:
    """Fewest samples at which all right clears `threshold`: 14 for 0.8 at 95%. None where none do."""
    if threshold >= 1.0:
        return None
    if threshold == 0.0:
        return 1
    # All of n right has the exact p-value threshold ** n; rounding can leave the quotient one short.
    n = max(1, math.ceil(math.log(1.0 - confidence) / math.log(threshold)) - 1)
    while not is_shown_above(n, n, threshold, confidence):
        n += 1
    return n if n <= MOST else None


def cautious_rate(scores: tuple[float, ...], threshold: float) -> float:
    """The observed mean, moved toward a half as two more samples would: (k + 1) / (n + 2).

    Plain where that would carry it across the threshold and turn the question round.
    """
    total, n = math.fsum(scores), len(scores)
    shrunk = (total + 1.0) / (n + 2.0)
    mean = total / n
    return mean if (shrunk > threshold) != (mean > threshold) else shrunk


@lru_cache(maxsize=1024)
def to_clear(rate: float, threshold: float, confidence: float) -> int | None:
    """Fewest samples at which a model of true score `rate` clears `threshold` with 80% power."""
    if rate <= threshold:
        return None
    for n in _ranges():
        # isf gives the largest count that is still compatible with a score at the threshold.
        if threshold == 0.0:
            return 1
        compatible = stats.binom.isf(1.0 - confidence, n, threshold)
        enough = np.flatnonzero(stats.binom.sf(compatible, n, rate) >= POWER)
        if enough.size:
            return int(n[enough[0]])
    return None


@lru_cache(maxsize=1024)
def to_fall(rate: float, threshold: float, confidence: float) -> int | None:
    """Fewest samples at which the shown (Wilson) interval lies below `threshold` with 80% power."""
    if rate >= threshold:
        return None
    z = stats.norm.ppf(0.5 * (1.0 + confidence))
    for n in _ranges():
        # Wilson's upper end is below the threshold where the score test of the threshold rejects.
        limit = n * threshold - z * np.sqrt(n * threshold * (1.0 - threshold))
        enough = np.flatnonzero(stats.binom.cdf(np.ceil(limit) - 1.0, n, rate) >= POWER)
        if enough.size:
            return int(n[enough[0]])
    return None


def to_clear_share(rate: float, baseline: float, share: float, confidence: float) -> int | None:
    """Samples, at each of the two lengths, for `rate` to clear `share` × `baseline` with 80% power.

    What a fixed threshold of that height would take, and on top, by the normal approximation, what
    it takes to know the baseline as well.
    """
    alone = to_clear(rate, share * baseline, confidence)
    if alone is None:
        return None
    z = float(stats.norm.ppf(confidence) + stats.norm.ppf(POWER))
    gap = rate - share * baseline
    n = alone + math.ceil(z**2 * share**2 * baseline * (1.0 - baseline) / gap**2)
    return n if n <= MOST else None


def _ranges() -> list[np.ndarray[tuple[int], np.dtype[np.int64]]]:
    """Sample sizes to look at, in growing portions: most answers are small."""
    edges = [1, 257, 2_049, MOST + 1]
    return [np.arange(a, b, dtype=np.int64) for a, b in itertools.pairwise(edges)]
