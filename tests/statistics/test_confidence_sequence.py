"""Intervals that hold whenever one stops."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contextcliff.statistics.betting import ABOVE, BELOW, Wealth
from contextcliff.statistics.confidence_sequence import confidence_sequence, sequential_bounds

values = st.lists(
    st.one_of(st.sampled_from([0.0, 1.0]), st.floats(min_value=0.0, max_value=1.0)), min_size=1, max_size=60
)


@given(values, st.floats(min_value=0.5, max_value=0.99))
def test_it_lies_in_the_unit_interval_and_holds_the_mean(scores: list[float], confidence: float) -> None:
    low, high = confidence_sequence(scores, confidence)
    mean = math.fsum(scores) / len(scores)
    assert 0.0 <= low <= mean + 1e-9
    assert mean - 1e-9 <= high <= 1.0


@given(values)
def test_each_end_is_the_bound_of_the_test_at_half_the_error(scores: list[float]) -> None:
    assert confidence_sequence(scores, 0.95) == pytest.approx(sequential_bounds(scores, alpha=0.025, below_at=40.0))


@given(values, st.floats(min_value=0.05, max_value=0.95))
def test_the_bound_is_where_the_bets_reach_their_e_value(scores: list[float], threshold: float) -> None:
    low, high = sequential_bounds(scores, alpha=0.05)
    above = Wealth.before_any(ABOVE).after([score / threshold - 1.0 for score in scores])
    below = Wealth.before_any(BELOW).after([(threshold - score) / (1.0 - threshold) for score in scores])
    if abs(low - threshold) > 1e-6:
        assert (above.log_e_value >= math.log(20.0)) == (low > threshold)
    if abs(high - threshold) > 1e-6:
        assert (below.log_e_value >= math.log(20.0)) == (high < threshold)


@given(values)
def test_the_order_of_the_values_changes_nothing(scores: list[float]) -> None:
    assert confidence_sequence(sorted(scores), 0.95) == confidence_sequence(scores, 0.95)


def test_it_narrows_as_values_come() -> None:
    widths = [high - low for n in (1, 2, 4, 16) for low, high in [confidence_sequence([1.0] * 9 * n + [0.0] * n, 0.95)]]
    assert widths == sorted(widths, reverse=True)
    assert widths[-1] < 0.2
