"""Intervals that are shown and bounds that are tested, for 0/1 and for fractional scores."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from contextcliff.statistics.intervals import clopper_pearson_low, is_binary, lower_bound, shown_interval, upper_bound

counts = st.integers(min_value=1, max_value=200).flatmap(
    lambda n: st.tuples(st.integers(min_value=0, max_value=n), st.just(n))
)
confidences = st.sampled_from([0.8, 0.9, 0.95, 0.99])
fractions = st.lists(st.integers(min_value=0, max_value=20).map(lambda k: k / 20), min_size=1, max_size=30)


@settings(deadline=None)
@given(counts, confidences)
def test_the_bound_agrees_with_scipy(count: tuple[int, int], confidence: float) -> None:
    right, n = count
    expected = stats.binomtest(right, n, alternative="greater").proportion_ci(confidence, method="exact").low
    assert clopper_pearson_low(right, n, confidence) == pytest.approx(expected, abs=1e-9)


@settings(deadline=None)
@given(fractions, confidences)
def test_bounds_enclose_the_mean_and_stay_within_0_and_1(scores: list[float], confidence: float) -> None:
    ordered = tuple(sorted(scores))
    mean = sum(ordered) / len(ordered)
    assert 0.0 <= lower_bound(ordered, confidence) <= mean + 1e-9
    assert mean - 1e-9 <= upper_bound(ordered, confidence) <= 1.0


@settings(deadline=None)
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
