"""Mann and Whitney's test, exact in small samples with ties, and Holm's correction for many tests at once.

The test is of whether values are larger than others: H. B. Mann and D. R. Whitney, Ann. Math. Statist. 18 (1947) 50-60.
If both samples are of one distribution, every choice of n of the pooled mid-ranks is as likely as the observed one.
Dynamic programming counts the sums of all choices of the doubled mid-ranks, which are whole numbers.

Own code: scipy 1.17's `mannwhitneyu(method="exact")` makes no correction for ties, and scores that are often 0 (a
repetition rate) are mostly ties. Its `PermutationMethod` enumerates the choices one by one (184,756 for 10 values
against 10), and samples them beyond its limit. The correction is own code too: statsmodels'
`multipletests` gives the same numbers, but collects all garbage of the process in each call and loads pandas, which
takes longer than the rest of an analysis of prose.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

_MOST_STEPS = 1e9
"""Additions above which the normal approximation is used; 100 values against 100 take about as many."""

_Array = NDArray[np.float64]


def p_larger(values: Sequence[float], others: Sequence[float]) -> float:
    """One-sided p-value of "`values` are no larger than `others`", by Mann and Whitney's test; both non-empty.

    Exact given the ties, up to about 100 against 100; beyond, the normal approximation with its corrections for ties
    and continuity.
    """
    n, m = len(values), len(others)
    ranks, ties = doubled_ranks((*values, *others))
    if len(ties) == 1:
        return 1.0
    if not _is_counted(min(n, m), n + m):
        from scipy import stats

        return float(stats.mannwhitneyu(values, others, alternative="greater", method="asymptotic").pvalue)
    if n <= m:
        tail = chances_of_rank_sums(ties, n)[int(ranks[:n].sum()) :]
    else:
        # The larger sample's rank sum is at least the observed one where the smaller sample's is at most it.
        tail = chances_of_rank_sums(ties, m)[: int(ranks[n:].sum()) + 1]
    return min(1.0, float(tail.sum()))


def rank_biserial(values: Sequence[float], others: Sequence[float]) -> float:
    """2·P(larger) + P(tie) − 1 over all pairs: 1 where every value is larger, 0 where as many are smaller."""
    differences = np.sign(np.subtract.outer(np.asarray(values), np.asarray(others)))
    return float(differences.mean())


def least_p(n: int, m: int) -> float:
    """The smallest p-value that `n` values against `m` can reach: every one of them larger."""
    return 1.0 / math.comb(n + m, n)


def doubled_ranks(values: Sequence[float]) -> tuple[NDArray[np.int64], tuple[int, ...]]:
    """Twice the mid-rank of each value, counted from 0: shape (values,); and each distinct value's count, ascending."""
    _, place, counts = np.unique(np.asarray(values), return_inverse=True, return_counts=True)
    below = np.cumsum(counts) - counts
    doubled: NDArray[np.int64] = (2 * below + counts - 1)[place]
    return doubled, tuple(int(count) for count in counts)


@lru_cache(maxsize=512)
def chances_of_rank_sums(ties: tuple[int, ...], n: int) -> _Array:
    """Probability of each sum of doubled mid-ranks of `n` of the values, all choices equally likely.

    Shape (largest sum + 1,), for sums from 0 on.
    """
    counts = np.asarray(ties)
    ranks = np.repeat(2 * (np.cumsum(counts) - counts) + counts - 1, counts)
    ways = np.zeros((n + 1, int(ranks[-n:].sum()) + 1))
    ways[0, 0] = 1.0
    for place, rank in enumerate(ranks):
        # Only numbers of choices that can still become n, and sums up to that of the largest ranks so far. The
        # right-hand side is evaluated before anything is written, so that each rank is taken at most once.
        fewest, most = max(1, n - (len(ranks) - 1 - place)), min(n, place + 1)
        end = int(ranks[max(0, place + 1 - n) : place + 1].sum()) + 1
        ways[fewest : most + 1, rank:end] += ways[fewest - 1 : most, : end - rank]
    chances: _Array = ways[n] / math.comb(len(ranks), n)
    return chances


def _is_counted(n: int, total: int) -> bool:
    return n * (2.0 * n * total) * total <= _MOST_STEPS


SLACK = 1e-9
"""Tolerance for rounding when a p-value is compared with 1 − confidence: 1 − 0.9 is a little less than 0.1."""


def holm(p_values: Sequence[float]) -> tuple[float, ...]:
    """The p-values after Holm's correction over all of them, in the order given.

    S. Holm, "A simple sequentially rejective multiple test procedure", Scand. J. Statist. 6 (1979) 65-70: whatever the
    tests have to do with each other, the chance that any of them is rejected wrongly stays at the level.
    """
    corrected = [0.0] * len(p_values)
    least = 0.0
    for rank, place in enumerate(sorted(range(len(p_values)), key=p_values.__getitem__)):
        least = max(least, min(1.0, p_values[place] * (len(p_values) - rank)))
        corrected[place] = least
    return tuple(corrected)


def is_significant(p_value: float, confidence: float) -> bool:
    """Whether a p-value is at most 1 − `confidence`; every test of this package is decided here."""
    return bool(p_value <= 1.0 - confidence + SLACK)


def are_significant(p_values: _Array, confidence: float) -> NDArray[np.bool_]:
    """The same of each p-value of an array of any shape."""
    significant: NDArray[np.bool_] = p_values <= 1.0 - confidence + SLACK
    return significant
