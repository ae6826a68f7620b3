"""Tests of ranks and permutations: trends, two groups, also within strata, and depths against each other."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import lru_cache
from itertools import accumulate, combinations

import numpy as np
from numpy.typing import NDArray

# Mann and Whitney's test, exact in small samples with ties, and Holm's correction for many tests at once.
#
# The test is of whether values are larger than others: H. B. Mann and D. R. Whitney, Ann. Math. Statist. 18 (1947)
# 50-60. If both samples are of one distribution, every choice of n of the pooled mid-ranks is as likely as the observed
# one. Dynamic programming counts the sums of all choices of the doubled mid-ranks, which are whole numbers.
#
# Own code: scipy 1.17's `mannwhitneyu(method="exact")` makes no correction for ties, and scores that are often 0 (a
# repetition rate) are mostly ties. Its `PermutationMethod` enumerates the choices one by one (184,756 for 10 values
# against 10), and samples them beyond its limit. The correction is own code too: statsmodels' `multipletests` gives the
# same numbers, but collects all garbage of the process in each call and loads pandas, which takes longer than the rest
# of an analysis of prose.

_MOST_STEPS = 1e9
"""Additions above which the normal approximation is used; 100 values against 100 take about as many."""

_Array = NDArray[np.float64]


def p_larger(values: Sequence[float], others: Sequence[float]) -> float:
    """One-sided p-value of "`values` are no larger than `others`", by Mann and Whitney's test; both non-empty.

    Exact given the ties, up to about 100 against 100; beyond, the normal approximation with its corrections for ties
    and continuity."""
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
    """Chances of the sums, from 0 on, of doubled mid-ranks of `n` values, all choices equally likely: (sums,)."""
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
    tests have to do with each other, the chance that any of them is rejected wrongly stays at the level."""
    corrected = [0.0] * len(p_values)
    least = 0.0
    for rank, place in enumerate(sorted(range(len(p_values)), key=p_values.__getitem__)):
        least = max(least, min(1.0, p_values[place] * (len(p_values) - rank)))
        corrected[place] = least
    return tuple(corrected)


def is_significant(p_value: float, confidence: float) -> bool:
    """Whether a p-value is at most 1 − `confidence`; every test of this package is decided here."""
    return bool(p_value <= 1.0 - confidence + SLACK)


def p_of(is_shown: Callable[[float], bool], confidence: float) -> float:
    """The p-value of a claim that is only decided, at any confidence: the least error at which it is shown, to a
    hundredth of itself; 1 where `confidence` does not show it."""
    low, high = math.log(1e-12), math.log(1.0 - confidence)
    if not is_shown(confidence):
        return 1.0
    while high - low > 0.01:
        middle = 0.5 * (low + high)
        low, high = (low, middle) if is_shown(1.0 - math.exp(middle)) else (middle, high)
    return math.exp(high)


def are_significant(p_values: _Array, confidence: float) -> NDArray[np.bool_]:
    """The same of each p-value of an array of any shape."""
    significant: NDArray[np.bool_] = p_values <= 1.0 - confidence + SLACK
    return significant


# Jonckheere and Terpstra's test of whether values rise over ordered groups.
#
# A. R. Jonckheere, Biometrika 41 (1954) 133-145; T. J. Terpstra, Indag. Math. 14 (1952) 327-333. The statistic counts
# the pairs of values from two groups in which the one of the later group is larger, a tie as half a pair. Where no
# values are tied, its distribution is that of the inversions of a multiset: the q-multinomial coefficient, a product of
# Mann and Whitney's distributions of each group against all before it, and the p-value counts every arrangement. Where
# values are tied, or counting would take long, the values are shuffled with a seed, and the p-value counts the observed
# order among the shuffled ones, so that it is never too small (B. Phipson, G. K. Smyth, Stat. Appl. Genet. Mol. Biol. 9
# (2010) 39).
#
# A rank correlation of the groups' means would have as many points as there are groups: three means rise in every sixth
# order of them by chance. Own code: statsmodels 0.15 has this test with the normal approximation alone, and scipy 1.17
# only Page's test, for repeated measures.

PERMUTATIONS = 9_999
_MOST_ARRANGED = 1e9
"""Additions above which arrangements are sampled; so many take under a second."""
_MOST_CHANCES = 1e6
"""Probabilities held at once, of 8 bytes each, above which arrangements are sampled."""
_CHUNK_OF_VALUES = 200_000
"""Values that are shuffled at once, which bounds the memory."""
_TIE = 1e-9

_Labels = NDArray[np.int64]


def ordered_trend(groups: Sequence[Sequence[float]], *, two_sided: bool, seed: int) -> tuple[float, bool] | None:
    """The p-value of "the values do not rise from group to group"; `two_sided`: "they neither rise nor fall".

    And whether it counts all arrangements, not a sample of them. None where there is only one arrangement: fewer than
    two groups have values, or all values are equal."""
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
        return min(1.0, 2.0 * min(up, down) if two_sided else up), True
    labels = np.repeat(np.arange(len(sizes)), sizes)[np.argsort(ranks, kind="stable")]
    shuffled = _shuffled_rises(labels, ties, seed)
    if two_sided:
        # The mean of the statistic is half of the pairs, with ties too; its distribution need not be symmetric.
        extreme = np.abs(shuffled - 0.5 * pairs) >= abs(rises - 0.5 * pairs) - _TIE
    else:
        extreme = shuffled >= rises - _TIE
    return (1 + int(extreme.sum())) / (1 + PERMUTATIONS), False


def is_counted(sizes: tuple[int, ...]) -> bool:
    """Whether all arrangements of groups of these sizes are counted; otherwise a sample of them is."""
    steps, held, pairs = 0.0, 0.0, 0
    for before, size in zip(accumulate(sizes), sizes[1:], strict=False):
        here = before * size
        steps += 0.75 * here**2 + float(pairs) * here
        held = max(held, 0.5 * min(before, size) * here)
        pairs += here
    return steps <= _MOST_ARRANGED and held + 2.0 * pairs <= _MOST_CHANCES


@lru_cache(maxsize=4)
def chances_of_rises(sizes: tuple[int, ...]) -> _Array:
    """Chances of 0 up to all rising pairs if no values are tied and all arrangements equally likely: (pairs + 1,)."""
    chances = np.ones(1)
    for before, size in zip(accumulate(sizes), sizes[1:], strict=False):
        chances = np.convolve(chances, _chances_of_pairs(min(before, size), max(before, size)))
    return chances


def _chances_of_pairs(few: int, many: int) -> _Array:
    """Probability of each number of pairs in which the value of the `few` is larger: shape (few × many + 1,).

    By recursion: the largest of k and j values is one of the k with probability k / (k + j), and is then larger than
    all j."""
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
    rows = max(1, _CHUNK_OF_VALUES // labels.size)
    parts = [
        _rises_of(rng.permuted(np.tile(labels, (min(rows, PERMUTATIONS - start), 1)), axis=1), ties)
        for start in range(0, PERMUTATIONS, rows)
    ]
    return np.concatenate(parts)


def _rises_of(labels: _Labels, ties: tuple[int, ...]) -> _Array:
    """The statistic of each row of group labels over the same ascending values: shape (rows,). `labels` has shape
    (rows, values); `ties` says how often each distinct value occurs."""
    starts = np.cumsum(ties) - np.asarray(ties)
    # Shape (rows, distinct values): how often each value has occurred in the groups so far.
    before = np.zeros((len(labels), len(ties)))
    rises = np.zeros(len(labels))
    for group in range(int(labels.max()) + 1):
        here = np.add.reduceat((labels == group).astype(np.float64), starts, axis=1)
        rises += (here * (np.cumsum(before, axis=1) - 0.5 * before)).sum(axis=1)
        before += here
    return rises


# A permutation test of scores over depth.
#
# Within a stratum, the samples of one length and one cluster, a model that does not mind the depth would have given the
# same scores in any order. So scores are permuted within strata only, and neither decay over length nor a harder text
# can look like a position effect.
#
# Two contrasts are standardised by their permutation variance, a linear and a quadratic one that is made uncorrelated
# with it. The larger one is the statistic, and its own permutation distribution gives one p-value for the whole
# question (P. H. Westfall and S. S. Young, "Resampling-Based Multiple Testing", 1993). The p-value counts the observed
# order among the permutations, so that it is never too small (B. Phipson and G. K. Smyth, Stat. Appl. Genet. Mol. Biol.
# 9 (2010) 39).

_PERMUTATIONS = 3_999
_SEED = 20_230_706
_CHUNK = 2_000_000
"""Scores that are permuted at once, so that memory stays flat."""

Stratum = tuple[_Array, _Array]
"""Depths and scores, each centred."""


def varying_strata(placed: Sequence[Sequence[tuple[float, float]]]) -> list[Stratum]:
    """The strata in which depth and score both vary: no other one tells anything."""
    strata = []
    for pairs in placed:
        depths, scores = np.array(pairs).T
        if depths.min() < depths.max() and scores.min() < scores.max():
            strata.append((depths - depths.mean(), scores - scores.mean()))
    return strata


def permutation_test(strata: Sequence[Stratum]) -> tuple[float, float, float]:
    """Standardised linear and quadratic contrast, and the p-value of the larger."""
    contrasts, spread = _contrasts(strata)
    observed = sum((scores @ c for (_, scores), c in zip(strata, contrasts, strict=True)), np.zeros(2))
    permuted = np.zeros((_PERMUTATIONS, 2))
    rng = np.random.default_rng(_SEED)
    for (_, scores), c in zip(strata, contrasts, strict=True):
        rows = max(1, _CHUNK // scores.size)
        for start in range(0, _PERMUTATIONS, rows):
            some = permuted[start : start + rows]
            some += rng.permuted(np.tile(scores, (len(some), 1)), axis=1) @ c
    linear, edges = observed / spread
    largest = np.maximum(np.abs(permuted[:, 0]) / spread[0], permuted[:, 1] / spread[1])
    as_large = int((largest >= max(abs(linear), edges) - _TIE).sum())
    return float(linear), float(edges), (1 + as_large) / (1 + _PERMUTATIONS)


def _contrasts(strata: Sequence[Stratum]) -> tuple[list[_Array], _Array]:
    """For each stratum the weights of its scores (linear, quadratic), and the standard deviations of the two sums.

    A permuted sum Σ c·y of centred c and y has the variance Σc²·Σy² / (n − 1); the quadratic weights lose what the
    linear ones explain of them, weighted likewise, so that the two sums are uncorrelated."""
    linear = [depths for depths, _ in strata]
    square = [depths**2 - np.mean(depths**2) for depths in linear]
    variances = [float(scores @ scores) / (scores.size - 1) for _, scores in strata]
    shared = math.fsum(v * float(d @ q) for v, d, q in zip(variances, linear, square, strict=True))
    slope = shared / math.fsum(v * float(d @ d) for v, d in zip(variances, linear, strict=True))
    contrasts = [np.column_stack([d, q - slope * d]) for d, q in zip(linear, square, strict=True)]
    spread = np.sqrt(sum((v * (c**2).sum(axis=0) for v, c in zip(variances, contrasts, strict=True)), np.zeros(2)))
    # Where no stratum has three depths the quadratic contrast is nothing but rounding, and is never the larger one.
    return contrasts, np.where(spread > _TIE * spread[0], spread, np.inf)


# Do two groups differ within strata?
#
# The statistic is Cochran, Mantel and Haenszel's: the sum of the first group's scores over all strata, less what is
# expected if each stratum's scores were dealt out at random. Both p-values count every deal that is as far from the
# expectation, on either side. Scores of 0 and 1 have hypergeometric sums, which are counted exactly (Fisher's test for
# one stratum); other scores are permuted within strata with a seed, as over depth above. Own code: statsmodels'
# `StratifiedTable` takes 0/1 scores alone, and the normal approximation.


def difference_within(strata: Sequence[tuple[Sequence[float], Sequence[float]]]) -> tuple[float, float, float] | None:
    """Mean of the first and of the second group, each stratum weighted by n·m / (n + m), and the two-sided p-value.
    None where no stratum has scores of both groups."""
    both = [(np.sort(one), np.sort(other)) for one, other in strata if len(one) and len(other)]
    if not both:
        return None
    weights = [one.size * other.size / (one.size + other.size) for one, other in both]
    first, second = (np.average([pair[place].mean() for pair in both], weights=weights) for place in (0, 1))
    pooled = [(one.size, np.sort(np.concatenate((one, other)))) for one, other in both]
    expected = math.fsum(n * scores.mean() for n, scores in pooled)
    if all(np.isin(scores, (0.0, 1.0)).all() for _, scores in pooled):
        from scipy import stats

        chances = np.ones(1)
        for n, scores in pooled:
            dealt = stats.hypergeom.pmf(np.arange(n + 1), scores.size, int(scores.sum()), n)
            chances = np.convolve(chances, dealt)
        sums: _Array = np.arange(chances.size, dtype=float)
    else:
        sums, rng = np.zeros(1 + _PERMUTATIONS), np.random.default_rng(_SEED)
        sums[0] = math.fsum(one.sum() for one, _ in both)  # the observed deal is one of them
        for n, scores in pooled:
            rows = max(1, _CHUNK // scores.size)
            for start in range(1, sums.size, rows):
                some = sums[start : start + rows]
                some += rng.permuted(np.tile(scores, (some.size, 1)), axis=1)[:, :n].sum(axis=1)
        chances = np.full(sums.size, 1.0 / sums.size)
    observed = math.fsum(one.sum() for one, _ in both) - expected
    p_value = float(chances[np.abs(sums - expected) >= abs(observed) - _TIE].sum())
    return float(first), float(second), min(1.0, p_value)
