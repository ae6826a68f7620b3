"""Tests by ranks, Mann and Whitney's and Jonckheere and Terpstra's, against enumeration and against scipy."""

import itertools
import math
import tracemalloc
from collections.abc import Iterator, Sequence
from unittest import mock

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from statsmodels.stats.multitest import multipletests

from contextcliff.statistics.ranks import (
    PERMUTATIONS,
    chances_of_rank_sums,
    chances_of_rises,
    holm,
    is_counted,
    is_significant,
    ordered_trend,
    p_larger,
)
from tests.make import known

few = st.lists(st.integers(min_value=0, max_value=4), min_size=1, max_size=5)
untied = st.lists(st.integers(min_value=0, max_value=10_000), min_size=2, max_size=40, unique=True)


def enumerated(values: Sequence[float], others: Sequence[float]) -> float:
    """The share of all choices of as many values whose mid-ranks add up to as much."""
    ranks = stats.rankdata([*values, *others])
    sums = [sum(choice) for choice in itertools.combinations(ranks, len(values))]
    observed = sum(ranks[: len(values)])
    return sum(total >= observed - 1e-9 for total in sums) / len(sums)


@given(few, few)
def test_every_choice_is_counted_also_with_ties(values: list[int], others: list[int]) -> None:
    assert p_larger(values, others) == pytest.approx(enumerated(values, others), abs=1e-12)


@given(untied, st.data())
def test_without_ties_it_is_scipys_exact_test(pooled: list[int], data: st.DataObject) -> None:
    n = data.draw(st.integers(min_value=1, max_value=len(pooled) - 1))
    expected = stats.mannwhitneyu(pooled[:n], pooled[n:], alternative="greater", method="exact").pvalue
    assert p_larger(pooled[:n], pooled[n:]) == pytest.approx(expected, rel=1e-9)


@given(few, few)
def test_both_sides_count_the_observed_choice(values: list[int], others: list[int]) -> None:
    assert p_larger(values, others) + p_larger(others, values) >= 1.0 - 1e-9


def test_a_hundred_against_a_hundred_are_still_counted() -> None:
    chances = chances_of_rank_sums((1,) * 200, 100)
    assert chances.sum() == pytest.approx(1.0, abs=1e-12)
    assert p_larger(range(100, 200), range(100)) == pytest.approx(1 / math.comb(200, 100), rel=1e-9)


def test_above_that_the_normal_approximation_takes_over_where_it_is_close() -> None:
    rng = np.random.default_rng(1)
    values, others = rng.poisson(2.2, 115).tolist(), rng.poisson(2.0, 115).tolist()
    exact, approximate = p_larger(values[:95], others[:95]), p_larger(values, others)
    assert approximate == stats.mannwhitneyu(values, others, alternative="greater", method="asymptotic").pvalue
    assert exact == pytest.approx(
        stats.mannwhitneyu(values[:95], others[:95], alternative="greater", method="asymptotic").pvalue, abs=1e-3
    )


@given(st.lists(st.floats(0.0, 1.0), min_size=1, max_size=30))
def test_holms_correction_is_that_of_statsmodels(p_values: list[float]) -> None:
    with mock.patch("gc.collect"):  # it asks for it in every call
        expected = tuple(multipletests(p_values, method="holm")[1])
    assert holm(p_values) == expected


def test_a_p_value_of_exactly_the_level_is_significant_at_any_confidence() -> None:
    assert is_significant(0.1, 0.9)
    assert is_significant(1 / 20, 0.95)
    assert not is_significant(0.0501, 0.95)


sizes = st.lists(st.integers(min_value=1, max_value=3), min_size=2, max_size=3)


def rises(groups: Sequence[Sequence[float]]) -> float:
    """Pairs from two groups with the later one larger, counted one by one."""
    return sum(
        1.0 if b > a else 0.5 if b == a else 0.0
        for earlier, later in itertools.combinations(groups, 2)
        for a in earlier
        for b in later
    )


def arrangements(pooled: Sequence[float], lengths: Sequence[int]) -> Iterator[list[tuple[float, ...]]]:
    ends = list(itertools.accumulate(lengths))
    for order in itertools.permutations(pooled):
        yield [order[end - length : end] for end, length in zip(ends, lengths, strict=True)]


def cut(pooled: Sequence[float], lengths: Sequence[int]) -> list[list[float]]:
    ends = itertools.accumulate(lengths)
    return [list(pooled[end - length : end]) for end, length in zip(ends, lengths, strict=True)]


def trend_of(groups: Sequence[Sequence[float]], *, two_sided: bool = False) -> tuple[float, bool]:
    return known(ordered_trend(groups, two_sided=two_sided, seed=7))


@given(sizes.filter(lambda trend: sum(trend) <= 7), st.data())
def test_without_ties_every_arrangement_is_counted(lengths: list[int], data: st.DataObject) -> None:
    pooled = data.draw(st.permutations(range(sum(lengths))))
    groups = cut([float(value) for value in pooled], lengths)
    observed, half = rises(groups), 0.5 * sum(a * b for a, b in itertools.combinations(lengths, 2))
    all_rises = np.array([rises(trend) for trend in arrangements(pooled, lengths)])
    assert trend_of(groups)[1]
    assert trend_of(groups)[0] == pytest.approx((all_rises >= observed).mean())
    both = (np.abs(all_rises - half) >= abs(observed - half)).mean()
    assert trend_of(groups, two_sided=True)[0] == pytest.approx(both)


@pytest.mark.parametrize("values", [(0, 0, 1, 0, 1, 1, 2), (3, 0, 1, 1, 1, 2, 0), (0, 0, 0, 1, 0, 0, 0)])
@pytest.mark.parametrize("two_sided", [False, True])
def test_with_ties_the_sampled_p_value_is_near_the_enumerated_one(values: tuple[int, ...], two_sided: bool) -> None:
    lengths = (2, 3, 2)
    groups = cut([float(value) for value in values], lengths)
    observed, half = rises(groups), 8.0
    all_rises = np.array([rises(trend) for trend in arrangements(values, lengths)])
    extreme = np.abs(all_rises - half) >= abs(observed - half) if two_sided else all_rises >= observed
    exact = float(extreme.mean())
    p_value, exactly = trend_of(groups, two_sided=two_sided)
    assert not exactly
    # Four standard deviations of the sampling, and the observed order itself.
    assert p_value == pytest.approx(exact, abs=4 * (exact * (1 - exact) / PERMUTATIONS) ** 0.5 + 1e-4)


def test_two_groups_are_mann_and_whitneys_test() -> None:
    rng = np.random.default_rng(3)
    first, second = rng.normal(size=9).tolist(), rng.normal(0.5, size=12).tolist()
    expected = stats.mannwhitneyu(second, first, alternative="greater", method="exact").pvalue
    assert trend_of([first, second])[0] == pytest.approx(expected)


def test_the_counts_of_rising_pairs_are_those_of_inversions() -> None:
    # Of the 24 orders of four, 1, 3, 5, 6, 5, 3, 1 have so many inversions.
    assert chances_of_rises((1, 1, 1, 1)) * 24 == pytest.approx([1, 3, 5, 6, 5, 3, 1])


def test_where_there_is_one_arrangement_there_is_nothing_to_test() -> None:
    assert ordered_trend([[1.0, 1.0], [1.0]], two_sided=False, seed=1) is None
    assert ordered_trend([[1.0, 2.0], []], two_sided=False, seed=1) is None
    assert ordered_trend([], two_sided=False, seed=1) is None


def test_too_many_pairs_to_count_are_sampled_and_agree() -> None:
    rng = np.random.default_rng(5)
    groups = [rng.normal(0.02 * place, size=75).tolist() for place in range(5)]
    p_value, exactly = trend_of(groups)
    assert not exactly
    half = 0.5 * 10 * 75**2
    n = 375
    variance = (n**2 * (2 * n + 3) - 5 * 75**2 * (2 * 75 + 3)) / 72
    expected = stats.norm.sf((rises(groups) - half) / variance**0.5)
    assert p_value == pytest.approx(expected, abs=0.02)


@pytest.mark.parametrize(
    "sizes", [(75,) * 5, (300, 5), *(pytest.param(each, marks=pytest.mark.slow) for each in ((140, 140), (30,) * 12))]
)
def test_counting_holds_little_and_what_would_hold_more_is_sampled(sizes: tuple[int, ...]) -> None:
    rng = np.random.default_rng(8)
    groups = [rng.normal(size=size).tolist() for size in sizes]
    chances_of_rises.cache_clear()
    tracemalloc.start()
    try:
        _, exactly = trend_of(groups)
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert most < 20e6
    assert exactly == is_counted(sizes) == (sizes == (300, 5))
