"""Intervals that hold whenever one stops."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from contextcliff.statistics.confidence_sequence import confidence_sequence, sequential_bounds
from contextcliff.statistics.sequential import decide
from tests.statistics.simulated_walks import most_errors

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
def test_the_bound_that_is_drawn_is_the_test_that_is_made(scores: list[float], threshold: float) -> None:
    low, high = sequential_bounds(scores, alpha=0.05)
    kind = decide([scores], threshold=threshold, alpha=0.05).kind
    if abs(low - threshold) > 1e-6:
        assert (kind == "above") == (low > threshold)
    if abs(high - threshold) > 1e-6:
        assert (kind == "below") == (high < threshold)


@pytest.mark.parametrize("scores", [[1.0] * 20, [1.0] * 30 + [0.0] * 10, [0.0] * 9 + [0.5], [0.2, 0.7, 0.9] * 12])
def test_the_decision_changes_at_the_bounds(scores: list[float]) -> None:
    low, high = sequential_bounds(scores, alpha=0.05)
    for threshold, kind in ((low - 1e-6, "above"), (low + 1e-6, "open"), (high - 1e-6, "open"), (high + 1e-6, "below")):
        if 0.0 < threshold < 1.0:
            assert decide([scores], threshold=threshold, alpha=0.05).kind == kind


@given(values)
def test_the_order_of_the_values_changes_nothing(scores: list[float]) -> None:
    assert confidence_sequence(sorted(scores), 0.95) == confidence_sequence(scores, 0.95)


def test_it_narrows_as_values_come() -> None:
    widths = [high - low for n in (1, 2, 4, 16) for low, high in [confidence_sequence([1.0] * 9 * n + [0.0] * n, 0.95)]]
    assert widths == sorted(widths, reverse=True)
    assert widths[-1] < 0.2


@pytest.mark.parametrize("rate", [0.5, 0.85, 0.95])
def test_it_covers_where_a_decision_stops_the_samples(rate: float) -> None:
    """Each run stops where it is decided against 0.8, which is when a Wilson interval is biased."""
    runs, rng, missed = 300, np.random.default_rng(21), 0
    for blocks in (rng.random((runs, 16, 10)) < rate).astype(float):
        used = decide(blocks.tolist(), threshold=0.8, alpha=0.05).blocks_used
        low, high = confidence_sequence(blocks[:used].ravel().tolist(), 0.95)
        missed += not low <= rate <= high
    assert missed <= most_errors(runs, 0.05)
