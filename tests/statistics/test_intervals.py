"""Intervals that are shown and bounds that are tested, for 0/1 and for fractional scores."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from contextcliff.statistics.intervals import (
    clopper_pearson_low,
    is_binary,
    lower_bound,
    mean_lower_bound,
    mean_upper_bound,
    shown_interval,
    upper_bound,
    weighted_mean_cdf,
)

counts = st.integers(min_value=1, max_value=200).flatmap(
    lambda n: st.tuples(st.integers(min_value=0, max_value=n), st.just(n))
)
confidences = st.sampled_from([0.8, 0.9, 0.95, 0.99])
fractions = st.lists(st.integers(min_value=0, max_value=20).map(lambda k: k / 20), min_size=1, max_size=30)


@given(counts, confidences)
def test_the_bound_agrees_with_scipy(count: tuple[int, int], confidence: float) -> None:
    right, n = count
    expected = stats.binomtest(right, n, alternative="greater").proportion_ci(confidence, method="exact").low
    assert clopper_pearson_low(right, n, confidence) == pytest.approx(expected, abs=1e-9)


@given(fractions, confidences)
def test_bounds_enclose_the_mean_and_stay_within_0_and_1(scores: list[float], confidence: float) -> None:
    ordered = tuple(sorted(scores))
    mean = sum(ordered) / len(ordered)
    assert 0.0 <= lower_bound(ordered, confidence) <= mean + 1e-9
    assert mean - 1e-9 <= upper_bound(ordered, confidence) <= 1.0


@given(fractions)
def test_shown_intervals_lie_within_0_and_1(scores: list[float]) -> None:
    ordered = tuple(sorted(scores))
    low, high = shown_interval(ordered, 0.95, binary=is_binary(ordered))
    assert 0.0 <= low <= high <= 1.0


@pytest.mark.parametrize("n", [1, 3, 40])
def test_equal_fractions_have_an_interval_that_is_not_a_point(n: int) -> None:
    low, high = shown_interval((0.7,) * n, 0.95, binary=False)
    assert low < 0.7 < high


def test_the_bootstrap_is_the_same_every_time_and_near_the_t_interval() -> None:
    scores = tuple(sorted((i % 20) / 20 + 0.025 for i in range(100)))
    low, high = shown_interval(scores, 0.95, binary=False)
    assert (low, high) == shown_interval(scores, 0.95, binary=False)
    t = stats.ttest_1samp(scores, 0.0).confidence_interval(0.95)
    assert (low, high) == pytest.approx((t.low, t.high), abs=0.01)


twentieths = st.integers(min_value=0, max_value=20).map(lambda k: k / 20)
scores = st.lists(twentieths, min_size=1, max_size=30).map(lambda sample: tuple(sorted(sample)))


@pytest.mark.parametrize("confidence", [0.8, 0.95, 0.99])
@pytest.mark.parametrize("n", [1, 2, 5, 20, 100, 1_000])
def test_on_right_and_wrong_it_is_clopper_and_pearson(n: int, confidence: float) -> None:
    for right in {0, 1, n // 2, n - 1, n}:
        sample = mean_lower_bound((0.0,) * (n - right) + (1.0,) * right, confidence)
        assert sample == pytest.approx(clopper_pearson_low(right, n, confidence), abs=5e-6)


def test_the_distribution_is_that_of_random_weights() -> None:
    values = (0.0, 0.1, 0.35, 0.8, 0.8, 1.0)
    drawn = np.random.default_rng(7).dirichlet(np.ones(len(values)), 200_000) @ np.array(values)
    at = np.array([0.2, 0.4, 0.5, 0.6, 0.8])
    expected = (drawn[:, None] <= at).mean(axis=0)
    # Four standard errors of 200,000 draws at most.
    assert weighted_mean_cdf(values, at) == pytest.approx(expected, abs=4 * 0.5 / 200_000**0.5)


@given(scores)
def test_one_more_zero_never_raises_the_bound(sample: tuple[float, ...]) -> None:
    assert mean_lower_bound((0.0, *sample), 0.95) <= mean_lower_bound(sample, 0.95) + 1e-6


@given(scores, st.data())
def test_a_better_score_never_lowers_the_bound(sample: tuple[float, ...], data: st.DataObject) -> None:
    at = data.draw(st.integers(min_value=0, max_value=len(sample) - 1))
    better = tuple(sorted((*sample[:at], 1.0, *sample[at + 1 :])))
    assert mean_lower_bound(better, 0.95) >= mean_lower_bound(sample, 0.95) - 1e-6


@given(scores)
def test_the_upper_bound_mirrors_the_lower_one(sample: tuple[float, ...]) -> None:
    mirrored = tuple(sorted(1.0 - score for score in sample))
    assert mean_upper_bound(sample, 0.95) == pytest.approx(1.0 - mean_lower_bound(mirrored, 0.95))
