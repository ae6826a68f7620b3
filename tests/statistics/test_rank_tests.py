"""Mann and Whitney's test, against enumeration of every choice and against scipy."""

import itertools
import math
from collections.abc import Sequence
from unittest import mock

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from statsmodels.stats.multitest import multipletests

from contextcliff.statistics.ranks import chances_of_rank_sums, holm, is_significant, p_larger

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


def test_ties_make_a_difference_that_scipys_exact_method_does_not_see() -> None:
    # 1 of 3 against 0 of 3: half of the 20 choices hold the single 1.
    assert p_larger([0, 0, 1], [0, 0, 0]) == pytest.approx(0.5)
    assert stats.mannwhitneyu([0, 0, 1], [0, 0, 0], alternative="greater", method="exact").pvalue < 0.5


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
