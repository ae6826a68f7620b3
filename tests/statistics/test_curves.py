"""Which of four curves the counts of several lengths follow; a falling logistic curve in log length."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.special import expit, xlogy

from contextcliff.statistics.curves import KINDS, BestCurves, Falls, best_curves, fit_falls

counts = st.integers(1, 40).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))


def fitted(*pairs: tuple[float, float], dispersion: float = 1.0) -> BestCurves:
    """The best curve of one run: (right, n) by length, each length twice the one before."""
    right, n = np.array([pairs], dtype=float).transpose(2, 0, 1)
    return best_curves(np.log(2.0) * np.arange(len(pairs)), right, n, dispersion=np.array([dispersion]))


@pytest.mark.parametrize(
    ("pairs", "kind", "place"),
    [
        ([(40, 40)] * 5, "constant", -1),
        ([(38, 40), (37, 40), (39, 40), (38, 40)], "constant", -1),
        ([(39, 40), (38, 40), (12, 40), (13, 40), (11, 40)], "step", 2),
        ([(39, 40), (36, 40), (30, 40), (19, 40), (8, 40)], "logistic", -1),
        ([(39, 40), (38, 40), (20, 40), (39, 40), (39, 40)], "dip", 2),
        ([(20, 40), (40, 40)], "step", 1),
    ],
)
def test_the_best_curve_is_the_one_that_was_planted(pairs: list[tuple[int, int]], kind: str, place: int) -> None:
    found = fitted(*pairs)
    assert (KINDS[found.kind[0]], found.place[0]) == (kind, place)


def test_the_logistic_curve_is_the_likeliest_one() -> None:
    pairs = [(39, 40), (36, 40), (30, 40), (19, 40), (8, 40)]
    right, n = (np.array(side, dtype=float) for side in zip(*pairs, strict=True))
    x = np.arange(5.0)

    def loss(of: NDArray[np.float64]) -> float:
        p = expit(of[0] + of[1] * x)
        return -float((xlogy(right, p) + xlogy(n - right, 1.0 - p)).sum())

    best = minimize(loss, np.zeros(2), method="Nelder-Mead", options={"xatol": 1e-9, "fatol": 1e-12}).x
    assert fitted(*pairs).fitted[0] == pytest.approx(expit(best[0] + best[1] * x), abs=1e-5)


def test_scores_of_shared_texts_need_a_larger_fall() -> None:
    pairs = [(40, 40), (40, 40), (34, 40), (33, 40)]
    assert KINDS[fitted(*pairs).kind[0]] != "constant"
    assert KINDS[fitted(*pairs, dispersion=4.0).kind[0]] == "constant"


@given(st.lists(counts, min_size=1, max_size=7))
def test_a_fit_is_finite_between_0_and_1_and_keeps_the_sum(pairs: list[tuple[int, int]]) -> None:
    found = fitted(*pairs).fitted[0]
    assert np.isfinite(found).all()
    assert ((found >= 0.0) & (found <= 1.0)).all()
    total = math.fsum(p * n for p, (_, n) in zip(found, pairs, strict=True))
    assert total == pytest.approx(sum(right for right, _ in pairs), abs=1e-3)


@given(st.lists(st.lists(counts, min_size=4, max_size=4), min_size=2, max_size=5))
def test_runs_that_are_fitted_together_are_fitted_as_alone(runs: list[list[tuple[int, int]]]) -> None:
    right, n = np.array(runs, dtype=float).transpose(2, 0, 1)
    together = best_curves(np.log(2.0) * np.arange(4), right, n, dispersion=np.ones(len(runs)))
    for place, pairs in enumerate(runs):
        alone = fitted(*pairs)
        assert together.fitted[place] == pytest.approx(alone.fitted[0], abs=1e-4)


LENGTHS = np.log([1_000.0, 2_000.0, 4_000.0, 8_000.0, 16_000.0, 32_000.0])
WEIGHTS = np.full(LENGTHS.size, 1e6)


def fall_of(*means: float) -> Falls:
    return fit_falls(LENGTHS, np.array([means]), WEIGHTS)


def tokens(falls: Falls, score: float) -> tuple[float, float]:
    low, high = falls.crossings(score)
    return math.exp(low[0]) if math.isfinite(low[0]) else low[0], math.exp(high[0]) if math.isfinite(high[0]) else high[
        0
    ]


def test_a_planted_curve_is_found() -> None:
    for top, bottom, middle, scale in itertools.product((1.0, 0.9), (0.0, 0.1), (3_000, 7_000, 12_000), (0.4, 0.8)):
        means = bottom + (top - bottom) / (1.0 + np.exp((LENGTHS - math.log(middle)) / scale))
        falls = fit_falls(LENGTHS, means[None], WEIGHTS)
        for score in (0.5, 0.8):
            left = (score - bottom) / (top - bottom)
            at = middle * math.exp(scale * math.log((1.0 - left) / left))
            if LENGTHS[0] < math.log(at) < LENGTHS[-1]:
                assert tokens(falls, score) == pytest.approx((at, at), rel=0.05), (top, bottom, middle, scale)


def test_where_no_length_lies_on_the_fall_it_crosses_anywhere_between_the_two_around_it() -> None:
    falls = fall_of(0.97, 0.99, 0.98, 0.05, 0.04, 0.06)
    assert tokens(falls, 0.8) == tokens(falls, 0.5) == pytest.approx((4_000, 8_000))


def test_many_sets_are_fitted_as_each_alone() -> None:
    rng = np.random.default_rng(3)
    means = rng.random((40, LENGTHS.size))
    together = fit_falls(LENGTHS, means, WEIGHTS)
    for row, one in enumerate(means):
        alone = fall_of(*one)
        assert [each[0] for each in alone.crossings(0.5)] == pytest.approx([e[row] for e in together.crossings(0.5)])


@given(
    st.lists(st.floats(min_value=0.0, max_value=1.0), min_size=6, max_size=6), st.floats(min_value=0.05, max_value=0.95)
)
def test_a_curve_falls_between_0_and_1_and_crosses_a_higher_score_first(means: list[float], score: float) -> None:
    falls = fall_of(*means)
    assert 0.0 <= falls.bottom[0] <= falls.top[0] <= 1.0
    low, high = falls.crossings(score)
    assert low[0] <= high[0]
    higher, _ = falls.crossings(min(1.0, score + 0.04))
    assert higher[0] <= low[0]


@given(st.lists(st.integers(min_value=1, max_value=10**6), min_size=2, max_size=8, unique=True))
def test_any_lengths_can_be_fitted(lengths: list[int]) -> None:
    at = np.log(np.sort(np.array(lengths, dtype=float)))
    falls = fit_falls(at, np.linspace(1.0, 0.0, at.size)[None], np.full(at.size, 100.0))
    low, high = falls.crossings(0.5)
    assert at[0] <= low[0] <= high[0] <= at[-1]
