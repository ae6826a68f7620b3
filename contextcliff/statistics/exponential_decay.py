"""A maximum-likelihood fit of an exponential decay of recall over length, with an interval of its rate.

The chance of a right answer at length L is R₀·e^(−λL), with R₀ at most 1. Right and wrong answers of each length
are binomial; a fractional score s counts as s of a right answer and 1 − s of a wrong one, which is a quasi-likelihood
(R. W. M. Wedderburn, Biometrika 61 (1974) 439-447): the estimate is consistent, and the interval is too wide for scores
that vary less than right and wrong answers do.

The interval holds the rates that Rao's score test does not reject, with R₀ at its maximum-likelihood value for each
rate. The slope of the profile likelihood is compared with its standard error: that of λ with R₀ unknown, or, where R₀
is on its bound, with R₀ known. For one length it is Wilson's interval, and a rate of 0 lies in it exactly where the
trend test of Cochran (Biometrics 10 (1954) 417-451) and Armitage (Biometrics 11 (1955) 375-386) shows no trend.

The common interval, the profile's deviance against χ² (D. J. Venzon and S. H. Moolgavkar, Applied Statistics 37 (1988)
87-94), is too short where few answers are wrong and R₀ is 1: it covers as little as 86% at a nominal 95%, since after n
right answers it ends at half the failure rate of an exact bound. `tests/analysis/test_half_life_simulations.py` tests
the coverage. Own code: the GLMs of statsmodels with a log link have no bound on R₀ and no score interval."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from contextcliff.statistics.intervals import root_of

FLAT = 1e-9
"""Rate over the whole tested range up to which recall counts as constant: a half-life would overflow."""

_TOLERANCE = 1e-12
_NO_VARIANCE = 1e-200

_Array = NDArray[np.float64]


@dataclass(frozen=True, kw_only=True, slots=True)
class DecayFit:
    """The rate λ per token with its interval, and R₀. A rate, or an end of the interval, below `FLAT` is 0."""

    rate: float
    rate_low: float
    rate_high: float
    initial: float


def fit_decay(lengths: _Array, right: _Array, wrong: _Array, *, z: float) -> DecayFit:
    """Fit the decay to right and wrong answers by length.

    `lengths` (tokens, above 0), `right` and `wrong` (samples, can be fractions) have shape (lengths,). At least two
    lengths have to differ, and some answer has to be right. The interval holds the rates at which the score statistic
    is at most `z` standard errors from 0."""
    longest = float(lengths.max())
    model = _Model(at=lengths / longest, right=right, wrong=wrong)
    bound = model.bound()
    best = _likeliest(model, bound)
    ends = (best, _lowest(model, bound, best, z), _highest(model, bound, best, z))
    rate, low, high = (end / longest if end > FLAT else 0.0 for end in ends)
    return DecayFit(rate=rate, rate_low=low, rate_high=high, initial=model.initial(best, on_bound=best >= bound))


def _likeliest(model: _Model, bound: float) -> float:
    if bound == 0.0 or model.excess(0.0, on_bound=False) >= 0.0:
        return 0.0
    if model.excess(bound, on_bound=False) >= 0.0:
        return _root(lambda rate: model.excess(rate, on_bound=False), 0.0, bound)
    return _root_above(lambda rate: model.excess(rate, on_bound=True), bound)


def _lowest(model: _Model, bound: float, best: float, z: float) -> float:
    if best == 0.0 or model.errors(0.0, on_bound=False) >= -z:
        return 0.0
    return _root(lambda rate: model.errors(rate, on_bound=rate >= bound) + z, 0.0, best)


def _highest(model: _Model, bound: float, best: float, z: float) -> float:
    """The upper end. It is looked for with R₀ on its bound first, where the standard error is larger."""
    start = max(best, bound)
    if model.errors(start, on_bound=True) < z:
        return _root_above(lambda rate: model.errors(rate, on_bound=True) - z, start)
    if model.errors(best, on_bound=False) >= z:
        return 0.0
    return _root(lambda rate: model.errors(rate, on_bound=False) - z, best, bound)


def _root_above(function: Callable[[float], float], low: float) -> float:
    high = max(1.0, 2.0 * low)
    while function(high) < 0.0:
        high *= 2.0
    return _root(function, low, high)


def _root(function: Callable[[float], float], low: float, high: float) -> float:
    """Where an increasing function crosses 0; an end itself where rounding has moved the crossing past it."""
    if function(low) >= 0.0:
        return low
    return high if function(high) <= 0.0 else root_of(function, low, high, tolerance=_TOLERANCE)


@dataclass(frozen=True, kw_only=True, slots=True)
class _Model:
    """The decay at a given rate above 0, with R₀ at its maximum-likelihood value. All arrays have shape (lengths,)."""

    at: _Array
    """Lengths as shares of the longest one."""
    right: _Array
    wrong: _Array

    def bound(self) -> float:
        """The rate from which on R₀ is 1; 0 where no answer is wrong."""
        right, wrong = float(self.right.sum()), float(self.wrong.sum())
        if wrong == 0.0:
            return 0.0
        # The ends are the rates if every sample were at the longest length, and if every sample were at the shortest.
        low = math.log1p(wrong / right)
        return _root(self._surplus, 0.5 * low, 2.0 * low / float(self.at.min()))

    def _surplus(self, rate: float) -> float:
        return float(self.right.sum()) - float((self.wrong * _odds(-rate * self.at)).sum())

    def excess(self, rate: float, *, on_bound: bool) -> float:
        """Minus the slope of the profile log-likelihood: above 0 where the rate is too high for the scores."""
        return float((self._slope(self._log_chance(rate, on_bound=on_bound)) * self.at).sum())

    def errors(self, rate: float, *, on_bound: bool) -> float:
        """The same slope in standard errors."""
        log_chance = self._log_chance(rate, on_bound=on_bound)
        weight = (self.right + self.wrong) * _odds(log_chance)
        about = 0.0 if on_bound else float((weight * self.at).sum() / weight.sum())
        information = float((weight * (self.at - about) ** 2).sum())
        # At rates far beyond the interval only one length has a chance above 0, and the variance vanishes.
        return float((self._slope(log_chance) * self.at).sum()) / math.sqrt(max(information, _NO_VARIANCE))

    def initial(self, rate: float, *, on_bound: bool) -> float:
        """The maximum-likelihood R₀ at this rate."""
        if on_bound:
            return 1.0
        return min(1.0, math.exp(float(self._log_chance(rate, on_bound=False)[0]) + rate * float(self.at[0])))

    def _slope(self, log_chance: _Array) -> _Array:
        """Derivative of the log-likelihood by the logarithm of the chance, at each length."""
        slope = self.right.copy()
        failing = self.wrong > 0.0
        slope[failing] -= self.wrong[failing] * _odds(log_chance[failing])
        return slope

    def _log_chance(self, rate: float, *, on_bound: bool) -> _Array:
        """Logarithm of the chance at each length.

        Off the bound the equation is solved for the chance v at the shortest length: with w its remaining share at each
        length, Σ wrong·v·w / (1 − v·w) has to be the number of right answers. The sum is convex in v, so that Newton's
        steps from above never overshoot."""
        if on_bound:
            return -rate * self.at
        left: _Array = -rate * (self.at - float(self.at.min()))
        failing = self.wrong > 0.0
        wrong, weight, right = self.wrong[failing], np.exp(left[failing]), float(self.right.sum())
        chance = float(np.min(right / (right + wrong) * np.exp(np.minimum(-left[failing], 700.0))))
        for _ in range(100):
            rest = 1.0 - chance * weight
            surplus = float((wrong * chance * weight / rest).sum()) - right
            step = surplus / float((wrong * weight / rest**2).sum())
            chance -= step
            if step <= _TOLERANCE * chance:
                break
        return math.log(chance) + left


def _odds(log_chance: _Array) -> _Array:
    """Odds of each chance, from its logarithm (at most 0): the same shape."""
    with np.errstate(divide="ignore"):
        odds: _Array = np.exp(log_chance) / np.abs(np.expm1(log_chance))
    return odds
