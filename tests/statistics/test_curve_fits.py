"""Which of four curves the counts of several lengths follow."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.special import expit, xlogy

from contextcliff.statistics.curves import KINDS, BestCurves, best_curves

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


@settings(deadline=None)
@given(st.lists(counts, min_size=1, max_size=7))
def test_a_fit_is_finite_between_0_and_1_and_keeps_the_sum(pairs: list[tuple[int, int]]) -> None:
    found = fitted(*pairs).fitted[0]
    assert np.isfinite(found).all()
    assert ((found >= 0.0) & (found <= 1.0)).all()
    total = math.fsum(p * n for p, (_, n) in zip(found, pairs, strict=True))
    assert total == pytest.approx(sum(right for right, _ in pairs), abs=1e-3)


@settings(deadline=None)
@given(st.lists(st.lists(counts, min_size=4, max_size=4), min_size=2, max_size=5))
def test_runs_that_are_fitted_together_are_fitted_as_alone(runs: list[list[tuple[int, int]]]) -> None:
    right, n = np.array(runs, dtype=float).transpose(2, 0, 1)
    together = best_curves(np.log(2.0) * np.arange(4), right, n, dispersion=np.ones(len(runs)))
    for place, pairs in enumerate(runs):
        alone = fitted(*pairs)
        assert together.fitted[place] == pytest.approx(alone.fitted[0], abs=1e-4)
