"""How many samples would settle it, and the smallest fall of a score that a number of samples detects.

Sizes are for a fixed threshold, for a share of the baseline, and for one test among many. They are planned for a power
of 80% at the confidence of the run, with the test that the cap is made with, and hold for a new run: samples added
after a look at the result are optional stopping, which the tests do not allow for.
"""

from __future__ import annotations

import itertools
import math
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from contextcliff.statistics.distributions import (
    binomial_chances,
    binomials_above,
    binomials_exceeded,
    log_choose,
    normal_below,
    normal_quantile,
)
from contextcliff.statistics.intervals import clopper_pearson_low
from contextcliff.statistics.rank_tests import are_significant, is_significant, least_p

POWER = 0.8
"""Chance that a run of the planned size shows what is true."""
MOST = 20_000
"""A larger number of samples is not practical; None is returned instead."""


def _is_shown_above(right: int, n: int, threshold: float, confidence: float) -> bool:
    """Whether `right` of `n` is shown above `threshold` by the exact one-sided test."""
    return n > 0 and clopper_pearson_low(right, n, confidence) >= threshold


def fewest_all_right(threshold: float, confidence: float) -> int | None:
    """Fewest samples that show a score above `threshold` if all are right: 14 for 0.8 at 95%. None where none do."""
    if threshold >= 1.0:
        return None
    if threshold == 0.0:
        return 1
    # All of n right has the exact p-value threshold ** n; rounding can leave the quotient one short.
    n = max(1, math.ceil(math.log(1.0 - confidence) / math.log(threshold)) - 1)
    while not _is_shown_above(n, n, threshold, confidence):
        n += 1
    return n if n <= MOST else None


def cautious_mean(mean: float, n: float, threshold: float) -> float:
    """The `mean` of `n` samples, moved toward a half as two more samples would: (k + 1) / (n + 2).

    The mean itself where the moved one would lie on the other side of the threshold.
    """
    shrunk = (mean * n + 1.0) / (n + 2.0)
    return mean if (shrunk > threshold) != (mean > threshold) else shrunk


@lru_cache(maxsize=1024)
def to_show_above(rate: float, threshold: float, confidence: float) -> int | None:
    """Fewest samples with which a true score of `rate` is shown above `threshold` with 80% power; None above `MOST`."""
    if rate <= threshold:
        return None
    if threshold == 0.0:
        return 1
    for place, n in enumerate(_ranges()):
        compatible = _most_compatible(threshold, confidence, place)
        enough = np.flatnonzero(binomials_above(compatible, n, rate) >= POWER)
        if enough.size:
            return int(n[enough[0]])
    return None


def to_show_below(rate: float, threshold: float, confidence: float) -> int | None:
    """Fewest samples with which a true score of `rate` is shown below `threshold` with 80% power; None above `MOST`.

    By the exact one-sided test, which shows that the share of wrong answers is above 1 − `threshold`. None also for a
    threshold of 1, which a single wrong answer is below.
    """
    return None if threshold >= 1.0 else to_show_above(1.0 - rate, 1.0 - threshold, confidence)


@lru_cache(maxsize=64)
def _most_compatible(threshold: float, confidence: float, place: int) -> NDArray[np.float64]:
    """The largest count right that is still compatible with a score at the threshold, for each n of a range."""
    return binomials_exceeded(1.0 - confidence, _ranges()[place], threshold)


def _ranges() -> list[np.ndarray[tuple[int], np.dtype[np.int64]]]:
    """Sample sizes to try, from 1 to `MOST`, in three arrays of growing size: most answers are small."""
    edges = [1, 257, 2_049, MOST + 1]
    return [np.arange(a, b, dtype=np.int64) for a, b in itertools.pairwise(edges)]


def to_show_above_share(rate: float, baseline: float, share: float, confidence: float) -> int | None:
    """Samples at each of the two lengths with which `rate` is shown above `share` × `baseline` with 80% power.

    The number for a fixed threshold of that height, plus, by the normal approximation, the number that estimating the
    baseline takes. None above `MOST`, or where `rate` is not above.
    """
    alone = to_show_above(rate, share * baseline, confidence)
    return None if alone is None else _with_baseline(alone, rate, baseline, share, confidence)


def _with_baseline(alone: int, rate: float, baseline: float, share: float, confidence: float) -> int | None:
    z = normal_quantile(confidence) + normal_quantile(POWER)
    gap = rate - share * baseline
    n = alone + math.ceil(z**2 * share**2 * baseline * (1.0 - baseline) / gap**2)
    return n if n <= MOST else None


def to_show_below_share(rate: float, baseline: float, share: float, confidence: float) -> int | None:
    """Samples at each of the two lengths with which `rate` is shown below `share` × `baseline` with 80% power.

    As `to_show_above_share`. None above `MOST`, or where `rate` is not below.
    """
    alone = to_show_below(rate, share * baseline, confidence)
    return None if alone is None else _with_baseline(alone, rate, baseline, share, confidence)


_MOST_VALUES = 1_000


def fewest_for_significance(tests: int, others: int | None, confidence: float) -> int | None:
    """Fewest values with which one of `tests` rank tests can be significant after Holm's correction; None above 1,000.

    They are compared with `others` values; None: with as many as they are.
    """
    sizes = range(1, _MOST_VALUES + 1)
    return next((n for n in sizes if is_significant(tests * least_p(n, others or n), confidence)), None)


_EXACT_SAMPLES = 250
_DROPS = 400


def detectable_drop(samples: int, *, confidence: float, baseline: float = 0.95, power: float = 0.8) -> float | None:
    """Smallest drop below `baseline` that a one-sided comparison of two lengths finds with this power.

    Fisher's exact test at 1 − confidence, `samples` 0/1 scores a length, its power summed over all outcomes; above
    250 samples by the arcsine approximation (J. Cohen 1988), which is good there. None where not even a fall to
    zero would be found.
    """
    if samples < 1:
        return None
    power_of = _exact_power if samples <= _EXACT_SAMPLES else _arcsine_power
    drops = np.linspace(0.0, baseline, _DROPS + 1)[1:]
    low, high = 0, len(drops) - 1
    if power_of(samples, confidence, baseline, float(drops[high])) < power:
        return None
    while low < high:
        middle = (low + high) // 2
        if power_of(samples, confidence, baseline, float(drops[middle])) >= power:
            high = middle
        else:
            low = middle + 1
    return float(drops[low])


def _exact_power(n: int, confidence: float, baseline: float, drop: float) -> float:
    """Power of Fisher's test, summed over all outcomes: arrays of shape (n + 1, n + 1), right before × right after."""
    chances = _chances(n, baseline)[:, None] * _chances(n, baseline - drop)[None, :]
    return float(chances[are_significant(_fisher_p_values(n), confidence)].sum())


def _chances(n: int, rate: float) -> NDArray[np.float64]:
    """The last drop is to zero, where rounding may leave something below it."""
    return binomial_chances(n, rate) if rate > 0.0 else np.eye(1, n + 1).ravel()


@lru_cache(maxsize=4)
def _fisher_p_values(n: int) -> NDArray[np.float64]:
    """The chance of so few right after, given how many are right in all: hypergeometric."""
    right = np.arange(n + 1)
    each, whole = log_choose(n, right), log_choose(2 * n, np.arange(2 * n + 1))
    before = np.arange(2 * n + 1)[:, None] - right[None, :]
    is_possible = (before >= 0) & (before <= n)
    logs = each[None, :] + each[np.clip(before, 0, n)] - whole[:, None]
    at_most = np.minimum(1.0, np.cumsum(np.where(is_possible, np.exp(logs), 0.0), axis=1))
    return np.asarray(at_most[right[:, None] + right[None, :], right[None, :]])


def _arcsine_power(n: int, confidence: float, baseline: float, drop: float) -> float:
    effect = 2.0 * (np.arcsin(np.sqrt(baseline)) - np.arcsin(np.sqrt(baseline - drop)))
    return normal_below(float(effect * np.sqrt(n / 2.0)) - normal_quantile(confidence))
