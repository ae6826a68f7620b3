"""Are these values larger than those? A rank test that is exact also in small samples with ties.

H. B. Mann and D. R. Whitney, Ann. Math. Statist. 18 (1947) 50-60. Were both samples of one distribution, every choice
of n of the pooled mid-ranks would be as likely as the observed one. The sums of all choices are counted by dynamic
programming over the doubled mid-ranks, which are whole numbers. scipy's exact method counts as if nothing were tied,
and scores that are often 0 (a repetition rate) have mostly ties.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

_MOST_STEPS = 1e9
"""Additions above which the normal approximation stands in: about 100 values against 100 take as many."""

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
        # The smaller sample's ranks sum up to at most what they do, where the larger one's are at least theirs.
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
    """Twice the mid-rank of each value, counted from 0, and how often each distinct value occurs, ascending."""
    _, place, counts = np.unique(np.asarray(values), return_inverse=True, return_counts=True)
    below = np.cumsum(counts) - counts
    doubled: NDArray[np.int64] = (2 * below + counts - 1)[place]
    return doubled, tuple(int(count) for count in counts)


@lru_cache(maxsize=512)
def chances_of_rank_sums(ties: tuple[int, ...], n: int) -> _Array:
    """The chance of each sum of doubled mid-ranks that `n` of the values have, were all choices alike; from 0 up."""
    counts = np.asarray(ties)
    ranks = np.repeat(2 * (np.cumsum(counts) - counts) + counts - 1, counts)
    ways = np.zeros((n + 1, int(ranks[-n:].sum()) + 1))
    ways[0, 0] = 1.0
    for place, rank in enumerate(ranks):
        # Only what can still come to n choices, and to no more than the largest ranks so far add up to. The right-hand
        # side is read before anything is written: each rank is taken at most once.
        fewest, most = max(1, n - (len(ranks) - 1 - place)), min(n, place + 1)
        end = int(ranks[max(0, place + 1 - n) : place + 1].sum()) + 1
        ways[fewest : most + 1, rank:end] += ways[fewest - 1 : most, : end - rank]
    chances: _Array = ways[n] / math.comb(len(ranks), n)
    return chances


def _is_counted(n: int, total: int) -> bool:
    return n * (2.0 * n * total) * total <= _MOST_STEPS
