"""Means, spreads and counts whose values do not depend on the order of the scores."""

from __future__ import annotations

import math
import statistics
from collections import Counter
from collections.abc import Iterable, Sequence


def mean_of(scores: Sequence[float]) -> float:
    """The mean of at least one score, exactly rounded: the same whatever the order of the scores."""
    return math.fsum(scores) / len(scores)


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
