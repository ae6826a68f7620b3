"""Do values rise over ordered groups? Jonckheere and Terpstra's test.

A. R. Jonckheere, Biometrika 41 (1954) 133-145; T. J. Terpstra, Indag. Math. 14 (1952) 327-333. The statistic counts
the pairs from two groups in which the later one is larger, a tie as half of one. Where no values are tied, its
distribution is that of the inversions of a multiset: the q-multinomial coefficient, a product of Mann and Whitney's
distributions of each group against all before it, and the p-value counts every arrangement. Where some are, or the
counting would take long, the values are shuffled from a seed, and the p-value counts the observed order among the
shuffled ones (B. Phipson and G. K. Smyth, Stat. Appl. Genet. Mol. Biol. 9 (2010) 39), so that it is never too small.

A rank correlation of the groups' means would be a test of as many points as there are groups: of three means every
sixth rise is perfect by chance.
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
"""Additions above which arrangements are sampled: under a second."""
_MOST_CHANCES = 1e6
"""Chances that are held at once, as 8 bytes each; above, arrangements are sampled."""
_CHUNK = 200_000
"""Values that are shuffled at once, so that memory stays flat."""
_TIE = 1e-9

_Array = NDArray[np.float64]
_Labels = NDArray[np.int64]


@dataclass(frozen=True, kw_only=True, slots=True)
class OrderedTrend:
    """The p-value, and whether it counts all arrangements or a sample of them."""

    p_value: float
    exact: bool


def ordered_trend(groups: Sequence[Sequence[float]], *, two_sided: bool, seed: int) -> OrderedTrend | None:
    """Test "the values don't rise from group to group"; `two_sided`: nor fall.

    None where fewer than two groups have values, or all are equal: there is only one arrangement.
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
        # Half of the pairs rise in the mean, whatever is tied; the distribution need not be symmetric.
        extreme = np.abs(shuffled - 0.5 * pairs) >= abs(rises - 0.5 * pairs) - _TIE
    else:
        extreme = shuffled >= rises - _TIE
    return OrderedTrend(p_value=(1 + int(extreme.sum())) / (1 + PERMUTATIONS), exact=False)


def is_counted(sizes: tuple[int, ...]) -> bool:
    """Whether all arrangements of groups of these sizes are counted, or a sample of them."""
    steps, held, pairs = 0.0, 0.0, 0
    for before, size in zip(accumulate(sizes), sizes[1:], strict=False):
        here = before * size
        steps += 0.75 * here**2 + float(pairs) * here
        held = max(held, 0.5 * min(before, size) * here)
        pairs += here
    return steps <= _MOST_STEPS and held + 2.0 * pairs <= _MOST_CHANCES


@lru_cache(maxsize=4)
def chances_of_rises(sizes: tuple[int, ...]) -> _Array:
    """The chance of each number of rising pairs, 0 up to all, were every arrangement of untied values alike."""
    chances = np.ones(1)
    for before, size in zip(accumulate(sizes), sizes[1:], strict=False):
        chances = np.convolve(chances, _chances_of_pairs(min(before, size), max(before, size)))
    return chances


def _chances_of_pairs(few: int, many: int) -> _Array:
    """The chance of each number of pairs, 0 up to `few` × `many`, in which the value of the `few` is larger.

    The largest of k and j values is one of the k in k of k + j cases, and then larger than all j.
    """
    chances = [np.ones(1) for _ in range(few + 1)]
    for j in range(1, many + 1):
        for k in range(1, few + 1):
            found = np.zeros(k * j + 1)
            found[j:] = k / (k + j) * chances[k - 1]
            found[: chances[k].size] += j / (k + j) * chances[k]
            chances[k] = found
    return chances[few]


def _rises(groups: Sequence[Sequence[float]]) -> float:
    """Pairs from two groups of which the later value is larger; a tie is half of one."""
    found = 0.0
    for earlier, later in combinations(groups, 2):
        signs = np.sign(np.subtract.outer(np.asarray(later), np.asarray(earlier)))
        found += 0.5 * float((signs + 1.0).sum())
    return found


def _shuffled_rises(labels: _Labels, ties: tuple[int, ...], seed: int) -> _Array:
    """The statistic of `PERMUTATIONS` random arrangements; `labels` are the groups in the order of the values."""
    rng = np.random.default_rng(seed)
    rows = max(1, _CHUNK // labels.size)
    parts = [
        _rises_of(rng.permuted(np.tile(labels, (min(rows, PERMUTATIONS - start), 1)), axis=1), ties)
        for start in range(0, PERMUTATIONS, rows)
    ]
    return np.concatenate(parts)


def _rises_of(labels: _Labels, ties: tuple[int, ...]) -> _Array:
    """The statistic of each row of group labels over the same ascending values, tied as `ties` says."""
    starts = np.cumsum(ties) - np.asarray(ties)
    # Of each distinct value, in every row: how often it has occurred in the groups so far.
    before = np.zeros((len(labels), len(ties)))
    found = np.zeros(len(labels))
    for group in range(int(labels.max()) + 1):
        here = np.add.reduceat((labels == group).astype(np.float64), starts, axis=1)
        found += (here * (np.cumsum(before, axis=1) - 0.5 * before)).sum(axis=1)
        before += here
    return found
