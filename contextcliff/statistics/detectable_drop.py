"""The smallest fall of a score between two lengths that a number of samples detects."""

from __future__ import annotations

import numpy as np
from scipy import stats

_EXACT_SAMPLES = 250
_GRID = 400


def detectable_drop(samples: int, *, confidence: float, baseline: float = 0.95, power: float = 0.8) -> float | None:
    """Smallest drop below `baseline` that a one-sided comparison of two lengths finds with this power.

    Fisher's exact test at 1 − confidence, `samples` 0/1 scores a length, its power summed over all outcomes; above
    250 samples by the arcsine approximation (J. Cohen 1988), which is good there. None where not even a fall to
    zero would be found.
    """
    if samples < 1:
        return None
    power_of = _exact_power if samples <= _EXACT_SAMPLES else _arcsine_power
    drops = np.linspace(0.0, baseline, _GRID + 1)[1:]
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
    right = np.arange(n + 1)
    before, after = right[:, None], right[None, :]
    p_values = stats.hypergeom.cdf(after, 2 * n, before + after, n)
    chances = stats.binom.pmf(right, n, baseline)[:, None] * stats.binom.pmf(right, n, baseline - drop)[None, :]
    return float(chances[p_values <= 1.0 - confidence].sum())


def _arcsine_power(n: int, confidence: float, baseline: float, drop: float) -> float:
    effect = 2.0 * (np.arcsin(np.sqrt(baseline)) - np.arcsin(np.sqrt(baseline - drop)))
    return float(stats.norm.cdf(effect * np.sqrt(n / 2.0) - stats.norm.ppf(confidence)))
