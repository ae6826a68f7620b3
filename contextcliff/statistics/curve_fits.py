"""Which simple curve the scores of several lengths follow: the best of four by the Bayesian information criterion.

The curves are a constant, a logistic curve, a step (one level up to some length, another beyond it), and a dip (one
length between the others is lower than a constant through them). Scores are binomial counts; a fractional score s
counts as s of a right answer and 1 − s of a wrong one, and the likelihood is divided by the dispersion: a
quasi-likelihood (R. W. M. Wedderburn, Biometrika 61 (1974) 439-447). The criterion (G. Schwarz, Annals of Statistics 6
(1978) 461-464) takes ln N for each parameter; where a step or a dip may lie at one of k places, each has a prior chance
of 1/k, which takes 2 ln k more.

Own code: many runs are fitted at once, which no GLM of statsmodels or scikit-learn does.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, xlogy

CurveKind = Literal["constant", "logistic", "step", "dip"]
KINDS: tuple[CurveKind, ...] = ("constant", "step", "logistic", "dip")
"""In the order in which a tie is decided: with two lengths a logistic curve is a step."""

_STEPS = 60
_LARGEST_STEP = 4.0
"""Of one iteration, in logits; where a curve separates right from wrong answers the best slope is infinite."""
_CONVERGED = 1e-7
_RIDGE = 1e-9

_Array = NDArray[np.float64]


@dataclass(frozen=True, kw_only=True)
class BestCurves:
    """The best curve of each run."""

    kind: NDArray[np.intp]
    """Its place in `KINDS`, of shape (runs,)."""
    fitted: _Array
    """Its mean score at each length, of shape (runs, lengths)."""
    place: NDArray[np.intp]
    """Of a step the first length beyond it, of a dip its length; -1 for the other curves. Shape (runs,)."""


@dataclass(frozen=True, kw_only=True)
class _Curve:
    fitted: _Array
    loss: _Array
    """Schwarz's criterion: lower is better; infinite where the curve does not exist."""
    place: NDArray[np.intp]


def best_curves(at: _Array, right: _Array, n: _Array, *, dispersion: _Array) -> BestCurves:
    """Fit the curves and take the best.

    `at` has shape (lengths,): the places of the lengths, ascending, as logarithms of tokens. `right` (sum of the
    scores) and `n` (number of them, above 0) have shape (runs, lengths), and `dispersion` (variance of the scores over
    that of independent right and wrong answers, above 0) has shape (runs,).
    """
    by_kind = {
        "constant": _constant(right, n, dispersion),
        "step": _best_of(_steps(right, n, dispersion), right),
        "logistic": _logistic(at, right, n, dispersion),
        "dip": _best_of(_dips(right, n, dispersion), right),
    }
    curves = [by_kind[kind] for kind in KINDS]
    kind = np.argmin([curve.loss for curve in curves], axis=0)
    runs = np.arange(len(right))
    return BestCurves(
        kind=kind,
        fitted=np.stack([curve.fitted for curve in curves])[kind, runs],
        place=np.stack([curve.place for curve in curves])[kind, runs],
    )


def _constant(right: _Array, n: _Array, dispersion: _Array) -> _Curve:
    fitted = _levels(right, n, np.zeros(right.shape[1], dtype=bool))
    return _curve(fitted, right, n, dispersion, parameters=1, places=1, place=-1)


def _steps(right: _Array, n: _Array, dispersion: _Array) -> Iterator[_Curve]:
    lengths = right.shape[1]
    for place in range(1, lengths):
        fitted = _levels(right, n, np.arange(lengths) >= place)
        yield _curve(fitted, right, n, dispersion, parameters=2, places=lengths - 1, place=place)


def _dips(right: _Array, n: _Array, dispersion: _Array) -> Iterator[_Curve]:
    lengths = right.shape[1]
    for place in range(1, lengths - 1):
        fitted = _levels(right, n, np.arange(lengths) == place)
        curve = _curve(fitted, right, n, dispersion, parameters=2, places=lengths - 2, place=place)
        lower = fitted[:, place] < fitted[:, 0]
        yield _Curve(fitted=fitted, loss=np.where(lower, curve.loss, np.inf), place=curve.place)


def _levels(right: _Array, n: _Array, apart: NDArray[np.bool_]) -> _Array:
    """One mean for the lengths `apart`, and one for the others."""
    fitted = np.empty_like(right)
    for part in (apart, ~apart):
        if part.any():
            fitted[:, part] = (right[:, part].sum(axis=1) / n[:, part].sum(axis=1))[:, None]
    return np.clip(fitted, 0.0, 1.0)


def _logistic(at: _Array, right: _Array, n: _Array, dispersion: _Array) -> _Curve:
    """By Newton's steps on intercept and slope, bounded in length."""
    if len(at) < 2 or at[-1] == at[0]:
        return _Curve(fitted=right / n, loss=np.full(len(right), np.inf), place=np.full(len(right), -1))
    x = 2.0 * (at - at[0]) / (at[-1] - at[0]) - 1.0
    whole = (right.sum(axis=1) + 0.5) / (n.sum(axis=1) + 1.0)
    intercept, slope = np.log(whole / (1.0 - whole)), np.zeros(len(right))
    for _ in range(_STEPS):
        p = expit(intercept[:, None] + slope[:, None] * x)
        weight, surplus = n * p * (1.0 - p), right - n * p
        a, b, c = weight.sum(axis=1) + _RIDGE, (weight * x).sum(axis=1), (weight * x**2).sum(axis=1) + _RIDGE
        up, turn = surplus.sum(axis=1), (surplus * x).sum(axis=1)
        determinant = a * c - b**2
        steps = np.stack([c * up - b * turn, a * turn - b * up]) / determinant
        longest = np.abs(steps).max(axis=0)
        steps *= np.minimum(1.0, _LARGEST_STEP / np.maximum(longest, _LARGEST_STEP))
        intercept, slope = intercept + steps[0], slope + steps[1]
        if longest.max() < _CONVERGED:
            break
    fitted = expit(intercept[:, None] + slope[:, None] * x)
    return _curve(fitted, right, n, dispersion, parameters=2, places=1, place=-1)


def _curve(
    fitted: _Array, right: _Array, n: _Array, dispersion: _Array, *, parameters: int, places: int, place: int
) -> _Curve:
    likelihood = (xlogy(right, fitted) + xlogy(n - right, 1.0 - fitted)).sum(axis=1) / dispersion
    evidence = n.sum(axis=1) / np.maximum(1.0, dispersion)
    loss = -2.0 * likelihood + parameters * np.log(np.maximum(evidence, 2.0)) + 2.0 * np.log(places)
    return _Curve(fitted=fitted, loss=loss, place=np.full(len(right), place))


def _best_of(curves: Iterator[_Curve], right: _Array) -> _Curve:
    best = _Curve(fitted=right.copy(), loss=np.full(len(right), np.inf), place=np.full(len(right), -1))
    for curve in curves:
        better = curve.loss < best.loss
        best = _Curve(
            fitted=np.where(better[:, None], curve.fitted, best.fitted),
            loss=np.where(better, curve.loss, best.loss),
            place=np.where(better, curve.place, best.place),
        )
    return best
