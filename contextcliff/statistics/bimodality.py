"""How scores are spread: whether they have one mode or two, and their variance over neighbouring lengths."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from scipy import stats

_FEWEST = 4


def bimodality(scores: Sequence[float]) -> float | None:
    """Sarle's bimodality coefficient, (g² + 1) / (k + 3(n − 1)² / ((n − 2)(n − 3))), by skewness and excess kurtosis.

    0 to 1. A uniform distribution has 5/9; more hints at two modes, where some answers are right and others wrong
    (R. Pfister et al., Front. Psychol. 4 (2013) 700). None below four scores, or where all are equal.
    """
    n = len(scores)
    if n < _FEWEST or min(scores) == max(scores):
        return None
    values = np.asarray(scores)
    skewness = float(stats.skew(values, bias=False))
    excess = float(stats.kurtosis(values, bias=False))
    coefficient = (skewness**2 + 1.0) / (excess + 3.0 * (n - 1) ** 2 / ((n - 2) * (n - 3)))
    return coefficient if math.isfinite(coefficient) else None


def rolling_variances(scores: Sequence[Sequence[float]]) -> tuple[float | None, ...]:
    """For each group the sample variance of its scores and its direct neighbours' together; None below two scores."""
    variances: list[float | None] = []
    for position in range(len(scores)):
        around = [value for group in scores[max(0, position - 1) : position + 2] for value in group]
        variances.append(float(np.var(around, ddof=1)) if len(around) > 1 else None)
    return tuple(variances)
