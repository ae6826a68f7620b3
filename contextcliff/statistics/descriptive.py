"""Means, medians and spreads."""

from __future__ import annotations

import math
import statistics
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import TypeVar


def leading_above(values: Iterable[float | None], threshold: float, *, reaching: bool = False) -> int:
    """The number of values before the first missing or not above `threshold`; with `reaching` an equal one is above."""
    count = 0
    for value in values:
        if value is None or not (value > threshold or (reaching and value == threshold)):
            break
        count += 1
    return count


def mean_of(scores: Sequence[float]) -> float:
    """The mean of at least one score, exactly rounded: the same whatever the order of the scores."""
    return math.fsum(scores) / len(scores)


def mean_of_known(scores: Iterable[float | None]) -> float | None:
    """The mean of the scores that there are; None without one."""
    known = [score for score in scores if score is not None]
    return mean_of(known) if known else None


def standard_deviation(scores: Sequence[float]) -> float | None:
    """Sample standard deviation (n − 1 in the denominator); None below two scores."""
    if len(scores) < 2:
        return None
    if min(scores) == max(scores):
        return 0.0  # rounding the mean would leave a remainder
    centre = mean_of(scores)
    return math.sqrt(math.fsum((score - centre) ** 2 for score in scores) / (len(scores) - 1))


def median_of(values: Iterable[float]) -> float | None:
    """The median; None of no values."""
    ordered = sorted(values)
    return statistics.median(ordered) if ordered else None


def counted(words: Iterable[str]) -> dict[str, int]:
    """How often each word occurs: most frequent first, equally frequent ones in alphabetical order."""
    return dict(sorted(Counter(words).items(), key=lambda entry: (-entry[1], entry[0])))


Number = TypeVar("Number", int, float)


def quantile_classes(values: Iterable[Number], classes: int) -> list[list[Number]]:
    """The distinct values, ascending, in up to `classes` classes: the middle of a value's ranks decides its class."""
    counts = Counter(values)
    total, below = counts.total(), 0
    by_class: dict[int, list[Number]] = {}
    for value in sorted(counts):
        by_class.setdefault((2 * below + counts[value]) * classes // (2 * total), []).append(value)
        below += counts[value]
    return list(by_class.values())


def skewness(values: Sequence[float]) -> float:
    """Skewness without bias (G1 of Joanes and Gill 1998) of at least three values that differ; nan where they do by
    less than a number holds."""
    n = len(values)
    second, third = _central_moment(values, 2), _central_moment(values, 3)
    return math.nan if second == 0.0 else third / second**1.5 * math.sqrt(n * (n - 1)) / (n - 2)


def kurtosis(values: Sequence[float]) -> float:
    """Excess kurtosis without bias (G2 of the same) of at least four such values."""
    n = len(values)
    second, fourth = _central_moment(values, 2), _central_moment(values, 4)
    if second == 0.0:
        return math.nan
    return (n - 1) / ((n - 2) * (n - 3)) * ((n + 1) * (fourth / second**2 - 3.0) + 6.0)


def _central_moment(values: Sequence[float], power: int) -> float:
    import numpy as np

    return float(np.mean((np.asarray(values) - mean_of(values)) ** power))


_FEWEST = 4


def bimodality(scores: Sequence[float]) -> float | None:
    """Sarle's bimodality coefficient, (g² + 1) / (k + 3(n − 1)² / ((n − 2)(n − 3))), by skewness and excess kurtosis.

    0 to 1. A uniform distribution has 5/9; more hints at two modes, where some answers are right and others wrong
    (R. Pfister et al., Front. Psychol. 4 (2013) 700). None below four scores, or where all are equal."""
    n = len(scores)
    if n < _FEWEST or min(scores) == max(scores):
        return None
    coefficient = (skewness(scores) ** 2 + 1.0) / (kurtosis(scores) + 3.0 * (n - 1) ** 2 / ((n - 2) * (n - 3)))
    return coefficient if math.isfinite(coefficient) else None


def rolling_variances(scores: Sequence[Sequence[float]]) -> tuple[float | None, ...]:
    """For each group the sample variance of its scores and its direct neighbours' together; None below two scores."""
    import numpy as np

    variances: list[float | None] = []
    for position in range(len(scores)):
        around = [value for group in scores[max(0, position - 1) : position + 2] for value in group]
        variances.append(float(np.var(around, ddof=1)) if len(around) > 1 else None)
    return tuple(variances)
