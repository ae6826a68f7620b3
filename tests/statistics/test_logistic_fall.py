"""A falling logistic curve in log length."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from contextcliff.statistics.curves import Falls, fit_falls

LENGTHS = np.log([1_000.0, 2_000.0, 4_000.0, 8_000.0, 16_000.0, 32_000.0])
WEIGHTS = np.full(LENGTHS.size, 1e6)


def fitted(*means: float) -> Falls:
    return fit_falls(LENGTHS, np.array([means]), WEIGHTS)


def tokens(falls: Falls, score: float) -> tuple[float, float]:
    low, high = falls.crossings(score)
    return math.exp(low[0]) if math.isfinite(low[0]) else low[0], math.exp(high[0]) if math.isfinite(high[0]) else high[
        0
    ]


@pytest.mark.parametrize("top", [1.0, 0.9])
@pytest.mark.parametrize("bottom", [0.0, 0.1])
@pytest.mark.parametrize("middle", [3_000, 7_000, 12_000])
@pytest.mark.parametrize("scale", [0.4, 0.8])
def test_a_planted_curve_is_found(top: float, bottom: float, middle: int, scale: float) -> None:
    means = bottom + (top - bottom) / (1.0 + np.exp((LENGTHS - math.log(middle)) / scale))
    falls = fit_falls(LENGTHS, means[None], WEIGHTS)
    for score in (0.5, 0.8):
        left = (score - bottom) / (top - bottom)
        at = middle * math.exp(scale * math.log((1.0 - left) / left))
        if LENGTHS[0] < math.log(at) < LENGTHS[-1]:
            assert tokens(falls, score) == pytest.approx((at, at), rel=0.05)


def test_where_no_length_lies_on_the_fall_it_crosses_anywhere_between_the_two_around_it() -> None:
    falls = fitted(0.97, 0.99, 0.98, 0.05, 0.04, 0.06)
    assert tokens(falls, 0.8) == tokens(falls, 0.5) == pytest.approx((4_000, 8_000))


def test_many_sets_are_fitted_as_each_alone() -> None:
    rng = np.random.default_rng(3)
    means = rng.random((40, LENGTHS.size))
    together = fit_falls(LENGTHS, means, WEIGHTS)
    for row, one in enumerate(means):
        alone = fitted(*one)
        assert [each[0] for each in alone.crossings(0.5)] == pytest.approx([e[row] for e in together.crossings(0.5)])


@given(
    st.lists(st.floats(min_value=0.0, max_value=1.0), min_size=6, max_size=6), st.floats(min_value=0.05, max_value=0.95)
)
@settings(max_examples=60)
def test_a_curve_falls_between_0_and_1_and_crosses_a_higher_score_first(means: list[float], score: float) -> None:
    falls = fitted(*means)
    assert 0.0 <= falls.bottom[0] <= falls.top[0] <= 1.0
    low, high = falls.crossings(score)
    assert low[0] <= high[0]
    higher, _ = falls.crossings(min(1.0, score + 0.04))
    assert higher[0] <= low[0]


@given(st.lists(st.integers(min_value=1, max_value=10**6), min_size=2, max_size=8, unique=True))
@settings(max_examples=40)
def test_any_lengths_can_be_fitted(lengths: list[int]) -> None:
    at = np.log(np.sort(np.array(lengths, dtype=float)))
    falls = fit_falls(at, np.linspace(1.0, 0.0, at.size)[None], np.full(at.size, 100.0))
    low, high = falls.crossings(0.5)
    assert at[0] <= low[0] <= high[0] <= at[-1]
