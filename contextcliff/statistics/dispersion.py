"""How much fractional scores vary, against right and wrong answers of the same mean."""

from __future__ import annotations

import math
from collections.abc import Sequence

_AS_GOOD_AS = 2.0
"""Scores of the full variance that are added: the spread of a handful of scores says little."""
_LEAST = 0.02
"""Scores that hardly vary would make any two means differ."""


def dispersion_of(groups: Sequence[Sequence[float]]) -> float:
    """Variance of the scores within their groups over that of 0/1 scores of the same means, between 0.02 and 1.

    The dispersion of a quasi-binomial fit (P. McCullagh and J. A. Nelder, "Generalized Linear Models", 1989, section
    4.5), shrunk toward 1. Scores lie between 0 and 1.
    """
    within = binomial = 0.0
    for scores in groups:
        if len(scores) < 2:
            continue
        n, mean = len(scores), math.fsum(scores) / len(scores)
        within += math.fsum((score - mean) ** 2 for score in scores)
        binomial += (n - 1) * mean * (1.0 - mean)
    pooled = [score for scores in groups for score in scores]
    mean = math.fsum(pooled) / len(pooled)
    added = _AS_GOOD_AS * mean * (1.0 - mean)
    if binomial + added <= 0.0:
        return 1.0
    return min(1.0, max(_LEAST, (within + added) / (binomial + added)))
