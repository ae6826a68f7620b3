"""How scores are spread: one hump or two, and how that goes from length to length."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from scipy import stats

_FEWEST = 4


def bimodality(scores: Sequence[float]) -> float | None:
    """Sarle's bimodality coefficient, (g² + 1) / (k + 3(n − 1)² / ((n − 2)(n − 3))), by skewness and excess kurtosis.

    0 to 1; a uniform spread has 5/9, and more hints at two humps: some answers whole, others nothing (R. Pfister et
    al., Front. Psychol. 4 (2013) 700). None below four scores, or where all are equal.
    """
    n = len(scores)
    if n < _FEWEST or min(scores) == max(scores):
        return None
    values = np.asarray(scores)
    skewness = float(stats.skew(values, bias=False))
    excess = float(stats.kurtosis(values, bias=False))
    found = (skewness**2 + 1.0) / (excess + 3.0 * (n - 1) ** 2 / ((n - 2) * (n - 3)))
    return found if math.isfinite(found) else None


def rolling_variances(scores: Sequence[Sequence[float]]) -> tuple[float | None, ...]:
    """For each group of scores the variance of it and its direct neighbours together; None below two scores."""
    found: list[float | None] = []
    for position in range(len(scores)):
        around = [value for group in scores[max(0, position - 1) : position + 2] for value in group]
        found.append(float(np.var(around, ddof=1)) if len(around) > 1 else None)
    return tuple(found)
