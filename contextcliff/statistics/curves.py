"""Curves of score over length: their fit, the fall of a logistic curve, and the spread around it."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, xlogy

_AS_GOOD_AS = 2.0
"""Scores of the full variance that are added: the spread of a handful of scores says little."""
_LEAST = 0.02
"""Scores that hardly vary would make any two means differ."""


def dispersion_of(groups: Sequence[Sequence[float]]) -> float:
    """Variance of the scores within their groups over that of 0/1 scores of the same means, between 0.02 and 1.

    The dispersion of a quasi-binomial fit (P. McCullagh and J. A. Nelder, "Generalized Linear Models", 1989, section
    4.5), shrunk toward 1. Scores lie between 0 and 1."""
    within = binomial = 0.0
    for scores in groups:
        if len(scores) < 2:
            continue
        n, mean = len(scores), math.fsum(scores) / len(scores)
        within += math.fsum((score - mean) ** 2 for score in scores)
        binomial += (n - 1) * mean * (1.0 - mean)
    pooled = [score for scores in groups for score in scores]
    mean = math.fsum(pooled) / len(pooled)
    added = _AS_GOOD_AS * mean * (1.0 - mean)
    if binomial + added <= 0.0:
        return 1.0
    return min(1.0, max(_LEAST, (within + added) / (binomial + added)))


# Which simple curve the scores of several lengths follow: the best of four by the Bayesian information criterion.
#
# The curves are a constant, a logistic curve, a step (one level up to some length, another beyond it), and a dip (one
# length between the others is lower than a constant through them). Scores are binomial counts; a fractional score s
# counts as s of a right answer and 1 − s of a wrong one, and the likelihood is divided by the dispersion: a
# quasi-likelihood (R. W. M. Wedderburn, Biometrika 61 (1974) 439-447). The criterion (G. Schwarz, Annals of Statistics
# 6 (1978) 461-464) takes ln N for each parameter; where a step or a dip may lie at one of k places, each has a prior
# chance of 1/k, which takes 2 ln k more.
#
# Own code: many runs are fitted at once, which no GLM of statsmodels or scikit-learn does.

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
    that of independent right and wrong answers, above 0) has shape (runs,)."""
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


# A falling logistic curve in log length, fitted to many sets of mean scores at once.
#
# The score at log length u is bottom + (top − bottom) / (1 + e^((u − middle) / scale)), with 0 ≤ bottom ≤ top ≤ 1. The
# fit is weighted least squares. For a middle and a scale the best top and bottom have a closed form (G. H. Golub and V.
# Pereyra, "The differentiation of pseudo-inverses and nonlinear least squares problems whose variables separate", SIAM
# J. Numer. Anal. 10 (1973) 413-432), so that a coarse grid of these two and a search around its best point are enough.
#
# Where no length lies on the fall, nothing tells how steep it is, and the curve crosses a score anywhere between the
# last length before the fall and the first one after it. So the curve is also fitted as a step in each gap, and the
# step is kept unless the smooth curve fits better by Akaike's criterion: a step crosses at an interval, a smooth curve
# at a point. Own code: scipy and statsmodels fit one curve at a time, and no step.

_PENALTY = 2.0
"""Weighted squares by which a smooth curve has to fit better than a step: it has one parameter more."""
_STEEPEST = 6.0
"""A fall over less than this part of the narrowest gap is a step to any two lengths."""
_FINEST = 200.0
"""No fall is narrower than this part of the whole range, so that any number of lengths takes some 800 curves."""
_FURTHEST = 4.0
"""Scales beyond the nearest length at which a fall's middle lies at most: further off the curve is flat or a step."""
_ROUNDS = 6
"""Halvings of the search around the grid's best point."""
_AT_ONCE = 50
"""Sets whose losses by some hundred curves stay in a processor's cache."""
_SMALLEST = 1e-12


@dataclass(frozen=True, kw_only=True, slots=True)
class Falls:
    """Fitted curves; every array has shape (sets,)."""

    at: _Array
    """Log lengths that the scores stood at, ascending; shape (lengths,)."""
    top: _Array
    bottom: _Array
    middle: _Array
    """Log length at which half of the fall is done; of a step the middle of its gap."""
    scale: _Array
    """In log length; 0: a step."""
    low: _Array
    """Of a step the ends of its gap; of a smooth curve the middle."""
    high: _Array

    def value_at(self, log_length: float) -> _Array:
        """The score of each curve at a log length; at the middle of a step's gap the mean of both sides."""
        return self.bottom + (self.top - self.bottom) * _share_left(log_length, self.middle, self.scale)

    def crossings(self, score: _Array | float) -> tuple[_Array, _Array]:
        """Log lengths from and up to which each curve falls through `score`: equal but for a step. −inf where it is at
        the score or below from the shortest length on, inf where it is above up to the longest."""
        inside = (self.bottom < score) & (score < self.top)
        left = np.where(inside, (score - self.bottom) / np.maximum(self.top - self.bottom, _SMALLEST), 0.5)
        shift = self.scale * np.log((1.0 - left) / left)
        outside = np.where(score <= self.bottom, math.inf, -math.inf)
        low, high = (np.where(inside, end + shift, outside) for end in (self.low, self.high))
        return self._in_range(low), self._in_range(high)

    def _in_range(self, ends: _Array) -> _Array:
        beyond = np.where(ends > self.at[-1], math.inf, ends)
        return np.where(beyond < self.at[0], -math.inf, beyond)


def fit_falls(at: _Array, means: _Array, weights: _Array) -> Falls:
    """Fit a curve to each row of `means`, of shape (sets, lengths). `at` are at least two different log lengths,
    ascending, and `weights` the inverse variance of each mean."""
    to_zero, free = (_smooth(at, means, weights, bottom=bottom) for bottom in (False, True))
    is_free = free[0] < to_zero[0] - _PENALTY
    loss, top, bottom, middle, scale = (np.where(is_free, one, other) for one, other in zip(free, to_zero, strict=True))
    loss = loss + np.where(is_free, _PENALTY, 0.0)
    steps = np.tril(np.ones((at.size - 1, at.size)))
    gap, step_loss = _best_curve(steps, means, weights, bottom=True)
    _, step_top, step_bottom = _ends(steps[gap], means, weights, bottom=True)
    is_step = loss > step_loss - _PENALTY
    low, high = at[gap], at[gap + 1]
    return Falls(
        at=at,
        top=np.where(is_step, step_top, top),
        bottom=np.where(is_step, step_bottom, bottom),
        middle=np.where(is_step, 0.5 * (low + high), middle),
        scale=np.where(is_step, 0.0, scale),
        low=np.where(is_step, low, middle),
        high=np.where(is_step, high, middle),
    )


def _smooth(at: _Array, means: _Array, weights: _Array, *, bottom: bool) -> tuple[_Array, ...]:
    """The best smooth curve of each set, with a bottom of its own or with 0: loss, top, bottom, middle and scale."""
    middles, scales = _grid(at)
    best, loss = _best_curve(_share_left(at, middles[:, None], scales[:, None]), means, weights, bottom=bottom)
    middle, scale, _ = _refined(at, means, weights, middles[best], scales[best], loss, bottom=bottom)
    loss, top, low = _ends(_share_left(at, middle[:, None], scale[:, None]), means, weights, bottom=bottom)
    return loss, top, low, middle, scale


def _share_left(at: _Array | float, middle: _Array, scale: _Array) -> _Array:
    """The share of the fall that is still to come: 1 before it, 0 after it."""
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        away = np.nan_to_num((at - middle) / scale, nan=0.0)
        return np.asarray(1.0 / (1.0 + np.exp(np.clip(away, -700.0, 700.0))))


def _grid(at: _Array) -> tuple[_Array, _Array]:
    """Middles and scales of the curves that are tried first; steps between two lengths are left out."""
    scale, widest = _narrowest(at), float(at[-1] - at[0])
    middles: list[_Array] = []
    scales: list[_Array] = []
    while scale < 2.0 * widest:
        grid = np.arange(at[0] - 2.0 * scale, at[-1] + 2.0 * scale, 0.5 * scale)
        near = grid[np.abs(grid[:, None] - at).min(axis=1) <= _FURTHEST * scale]
        middles.append(near)
        scales.append(np.full(near.size, scale))
        scale *= 2.0
    return np.concatenate(middles), np.concatenate(scales)


def _narrowest(at: _Array) -> float:
    return max(float(np.diff(at).min()) / _STEEPEST, float(at[-1] - at[0]) / _FINEST)


def _best_curve(curves: _Array, means: _Array, weights: _Array, *, bottom: bool) -> tuple[NDArray[np.int64], _Array]:
    """Of curves with shape (curves, lengths) the best for each set: its index and its loss."""
    of = _weighted(curves, weights)
    found = [
        _least(_losses(of, some @ of.left.T, some @ of.done.T, has_bottom=bottom))
        for some in np.split(means, range(_AT_ONCE, means.shape[0], _AT_ONCE))
    ]
    indices, losses = zip(*found, strict=True)
    return np.concatenate(indices), np.concatenate(losses)


def _least(losses: _Array) -> tuple[NDArray[np.int64], _Array]:
    best = np.argmin(losses, axis=1)
    return best, losses[np.arange(best.size), best]


def _ends(curves: _Array, means: _Array, weights: _Array, *, bottom: bool) -> tuple[_Array, _Array, _Array]:
    """Loss, top and bottom of one curve for each set; `curves` and `means` have shape (sets, lengths)."""
    of = _weighted(curves, weights)
    return _solved(of, (of.left * means).sum(axis=-1), (of.done * means).sum(axis=-1), has_bottom=bottom)


@dataclass(frozen=True, kw_only=True, slots=True)
class _Weighted:
    """Curves for a fit: what the top is multiplied by (a) and what the bottom is (b), weighted, and their products."""

    left: _Array
    """a, weighted, of shape (..., lengths)."""
    done: _Array
    """b, weighted."""
    aa: _Array
    ab: _Array
    bb: _Array


def _weighted(curves: _Array, weights: _Array) -> _Weighted:
    left, done = curves * weights, (1.0 - curves) * weights
    return _Weighted(
        left=left,
        done=done,
        aa=(left * curves).sum(axis=-1),
        ab=(done * curves).sum(axis=-1),
        bb=(done * (1.0 - curves)).sum(axis=-1),
    )


def _losses(of: _Weighted, ya: _Array, yb: _Array, *, has_bottom: bool) -> _Array:
    """The loss of `_solved`, for many curves at once, without their ends."""
    top = _top_alone(of, ya)
    zero = top * (top * of.aa - 2.0 * ya)
    if not has_bottom:
        return zero
    bottom, flat = _bottom_under_one(of, yb), _flat(of, ya, yb)
    under_one = of.aa - 2.0 * ya + bottom * (2.0 * of.ab + bottom * of.bb - 2.0 * yb)
    level = flat * (flat * _whole(of) - 2.0 * (ya + yb))
    edges = np.minimum(np.minimum(zero, under_one), level)
    top, bottom, allowed = _free(of, ya, yb)
    return np.where(allowed, -(top * ya + bottom * yb), edges)


def _solved(of: _Weighted, ya: _Array, yb: _Array, *, has_bottom: bool) -> tuple[_Array, _Array, _Array]:
    """The least squares of y on top · a + bottom · b with 0 ≤ bottom ≤ top ≤ 1, from their weighted products.

    The loss lacks the term that no curve changes. Where the free optimum is not allowed, the best lies on an edge of
    the triangle of allowed pairs."""
    alone = _top_alone(of, ya)
    if not has_bottom:
        return alone * (alone * of.aa - 2.0 * ya), alone, np.zeros_like(alone)
    free_top, free_bottom, allowed = _free(of, ya, yb)
    flat = _flat(of, ya, yb)
    edges = ((np.ones_like(ya), _bottom_under_one(of, yb)), (alone, np.zeros_like(ya)), (flat, flat))
    tops = np.stack([np.where(allowed, free_top, top) for top, _ in edges])
    bottoms = np.stack([np.where(allowed, free_bottom, bottom) for _, bottom in edges])
    losses = tops * (tops * of.aa + 2.0 * bottoms * of.ab - 2.0 * ya) + bottoms * (bottoms * of.bb - 2.0 * yb)
    best = np.argmin(losses, axis=0)[None]
    loss, top, bottom = (np.take_along_axis(each, best, axis=0)[0] for each in (losses, tops, bottoms))
    return loss, top, bottom


def _free(of: _Weighted, ya: _Array, yb: _Array) -> tuple[_Array, _Array, NDArray[np.bool_]]:
    """Top and bottom without bounds, and where they keep them."""
    determinant = of.aa * of.bb - of.ab * of.ab
    inverse = 1.0 / np.maximum(determinant, _SMALLEST)
    top, bottom = (ya * of.bb - yb * of.ab) * inverse, (yb * of.aa - ya * of.ab) * inverse
    # A curve without a fall has no such optimum; its best is flat.
    return top, bottom, (bottom >= 0.0) & (top >= bottom) & (top <= 1.0) & (determinant > _SMALLEST)


def _top_alone(of: _Weighted, ya: _Array) -> _Array:
    return np.clip(ya / np.maximum(of.aa, _SMALLEST), 0.0, 1.0)


def _bottom_under_one(of: _Weighted, yb: _Array) -> _Array:
    return np.clip((yb - of.ab) / np.maximum(of.bb, _SMALLEST), 0.0, 1.0)


def _flat(of: _Weighted, ya: _Array, yb: _Array) -> _Array:
    return np.clip((ya + yb) / _whole(of), 0.0, 1.0)


def _whole(of: _Weighted) -> _Array:
    return of.aa + 2.0 * of.ab + of.bb


def _refined(
    at: _Array, means: _Array, weights: _Array, middle: _Array, scale: _Array, loss: _Array, *, bottom: bool
) -> tuple[_Array, _Array, _Array]:
    """Look around the best point of the grid, in steps that halve."""
    rows = np.arange(means.shape[0])
    step, ratio = 0.25, math.sqrt(2.0)
    narrowest = _narrowest(at)
    for _ in range(_ROUNDS):
        moves = [(shift * step, ratio**power) for shift in (-1.0, 0.0, 1.0) for power in (-1.0, 0.0, 1.0)]
        middles = np.stack([middle + shift * scale for shift, _ in moves], axis=1)
        scales = np.maximum(narrowest, np.stack([scale * factor for _, factor in moves], axis=1))
        curves = _share_left(at, middles[..., None], scales[..., None])
        of = _weighted(curves, weights)
        products = ((each * means[:, None, :]).sum(axis=-1) for each in (of.left, of.done))
        losses = _losses(of, *products, has_bottom=bottom)
        best = np.argmin(losses, axis=1)
        middle, scale, loss = middles[rows, best], scales[rows, best], losses[rows, best]
        step, ratio = 0.5 * step, math.sqrt(ratio)
    return middle, scale, loss
