"""Jonckheere and Terpstra's test of whether values rise over ordered groups.

A. R. Jonckheere, Biometrika 41 (1954) 133-145; T. J. Terpstra, Indag. Math. 14 (1952) 327-333. The statistic counts
the pairs of values from two groups in which the one of the later group is larger, a tie as half a pair. Where no values
are tied, its distribution is that of the inversions of a multiset: the q-multinomial coefficient, a product of Mann and
Whitney's distributions of each group against all before it, and the p-value counts every arrangement. Where values are
tied, or counting would take long, the values are shuffled with a seed, and the p-value counts the observed order among
the shuffled ones, so that it is never too small (B. Phipson, G. K. Smyth, Stat. Appl. Genet. Mol. Biol. 9 (2010) 39).

A rank correlation of the groups' means would have as many points as there are groups: three means rise in every sixth
order of them by chance. Own code: statsmodels 0.15 has this test with the normal approximation alone, and scipy 1.17
only Page's test, for repeated measures.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate, combinations

import numpy as np
from numpy.typing import NDArray

from contextcliff.statistics.rank_tests import doubled_ranks

PERMUTATIONS = 9_999
_MOST_STEPS = 1e9
"""Additions above which arrangements are sampled; so many take under a second."""
_MOST_CHANCES = 1e6
"""Probabilities held at once, of 8 bytes each, above which arrangements are sampled."""
_CHUNK = 200_000
"""Values that are shuffled at once, which bounds the memory."""
_TIE = 1e-9

_Array = NDArray[np.float64]
_Labels = NDArray[np.int64]


@dataclass(frozen=True, kw_only=True, slots=True)
class OrderedTrend:
    """The p-value; `exact`: it counts all arrangements, not a sample of them."""

    p_value: float
    exact: bool


def ordered_trend(groups: Sequence[Sequence[float]], *, two_sided: bool, seed: int) -> OrderedTrend | None:
    """Test "the values do not rise from group to group"; `two_sided`: "they neither rise nor fall".

    None where fewer than two groups have values, or all values are equal: there is only one arrangement.
    """
    groups = [group for group in groups if len(group)]
    pooled = [value for group in groups for value in group]
    if len(groups) < 2 or min(pooled) == max(pooled):
        return None
    sizes = tuple(len(group) for group in groups)
    rises = _rises(groups)
    pairs = sum(a * b for a, b in combinations(sizes, 2))
    ranks, ties = doubled_ranks(pooled)
    if max(ties) == 1 and is_counted(sizes):
        chances = chances_of_rises(sizes)
        up, down = float(chances[round(rises) :].sum()), float(chances[: round(rises) + 1].sum())
        return OrderedTrend(p_value=min(1.0, 2.0 * min(up, down) if two_sided else up), exact=True)
    labels = np.repeat(np.arange(len(sizes)), sizes)[np.argsort(ranks, kind="stable")]
    shuffled = _shuffled_rises(labels, ties, seed)
    if two_sided:
        # The mean of the statistic is half of the pairs, with ties too; its distribution need not be symmetric.
        extreme = np.abs(shuffled - 0.5 * pairs) >= abs(rises - 0.5 * pairs) - _TIE
    else:
        extreme = shuffled >= rises - _TIE
    return OrderedTrend(p_value=(1 + int(extreme.sum())) / (1 + PERMUTATIONS), exact=False)


def is_counted(sizes: tuple[int, ...]) -> bool:
    """Whether all arrangements of groups of these sizes are counted; otherwise a sample of them is."""
    steps, held, pairs = 0.0, 0.0, 0
    for before, size in zip(accumulate(sizes), sizes[1:], strict=False):
        here = before * size
        steps += 0.75 * here**2 + float(pairs) * here
        held = max(held, 0.5 * min(before, size) * here)
        pairs += here
    return steps <= _MOST_STEPS and held + 2.0 * pairs <= _MOST_CHANCES


@lru_cache(maxsize=4)
def chances_of_rises(sizes: tuple[int, ...]) -> _Array:
    """Probability of each number of rising pairs if every arrangement is equally likely and no values are tied.

    Shape (pairs + 1,), for 0 up to all pairs.
    """
    chances = np.ones(1)
    for before, size in zip(accumulate(sizes), sizes[1:], strict=False):
        chances = np.convolve(chances, _chances_of_pairs(min(before, size), max(before, size)))
    return chances


def _chances_of_pairs(few: int, many: int) -> _Array:
    """Probability of each number of pairs in which the value of the `few` is larger: shape (few × many + 1,).

    By recursion: the largest of k and j values is one of the k with probability k / (k + j), and is then larger than
    all j.
    """
    chances = [np.ones(1) for _ in range(few + 1)]
    for j in range(1, many + 1):
        for k in range(1, few + 1):
            mixed = np.zeros(k * j + 1)
            mixed[j:] = k / (k + j) * chances[k - 1]
            mixed[: chances[k].size] += j / (k + j) * chances[k]
            chances[k] = mixed
    return chances[few]


def _rises(groups: Sequence[Sequence[float]]) -> float:
    """Pairs of values from two groups in which the one of the later group is larger; a tie counts half."""
    rises = 0.0
    for earlier, later in combinations(groups, 2):
        signs = np.sign(np.subtract.outer(np.asarray(later), np.asarray(earlier)))
        rises += 0.5 * float((signs + 1.0).sum())
    return rises


def _shuffled_rises(labels: _Labels, ties: tuple[int, ...], seed: int) -> _Array:
    """The statistic of random arrangements: shape (PERMUTATIONS,). `labels`, shape (values,), are groups by value."""
    rng = np.random.default_rng(seed)
    rows = max(1, _CHUNK // labels.size)
    parts = [
        _rises_of(rng.permuted(np.tile(labels, (min(rows, PERMUTATIONS - start), 1)), axis=1), ties)
        for start in range(0, PERMUTATIONS, rows)
    ]
    return np.concatenate(parts)


def _rises_of(labels: _Labels, ties: tuple[int, ...]) -> _Array:
    """The statistic of each row of group labels over the same ascending values: shape (rows,).

    `labels` has shape (rows, values); `ties` says how often each distinct value occurs.
    """
    starts = np.cumsum(ties) - np.asarray(ties)
    # Shape (rows, distinct values): how often each value has occurred in the groups so far.
    before = np.zeros((len(labels), len(ties)))
    rises = np.zeros(len(labels))
    for group in range(int(labels.max()) + 1):
        here = np.add.reduceat((labels == group).astype(np.float64), starts, axis=1)
        rises += (here * (np.cumsum(before, axis=1) - 0.5 * before)).sum(axis=1)
        before += here
    return rises
