"""The half-life of recall: the length over which the score halves, by a fitted exponential decay.

R(L) = R₀·e^(−λL) has one half-life, H = ln 2 / λ, wherever one starts. A model with a cliff has none in this sense:
the figure sums up the curve, and the safe cap does not depend on it.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from contextcliff.analysis.length_result import LengthResult
from contextcliff.analysis.study import Study
from contextcliff.records.fact import Fact
from contextcliff.statistics.clusters import pooled_design_effect
from contextcliff.statistics.descriptive import mean_of
from contextcliff.statistics.distributions import normal_quantile
from contextcliff.statistics.exponential_decay import FLAT, DecayFit, fit_decay


@dataclass(frozen=True, kw_only=True, slots=True)
class HalfLife:
    """Length over which recall halves, by a fitted exponential decay R₀·e^(−λL); None with the reason.

    There is one only where the score is shown to fall. `censored`: it lies beyond the longest test. `ci_low` is kept
    where there is no half-life but a lower bound.
    """

    tokens: int | None
    ci_low: int | None
    ci_high: int | None
    censored: bool
    reason: Fact
    initial: float | None = None
    """R₀, the recall at length 0."""


@dataclass(frozen=True, kw_only=True, slots=True)
class HalfLifeFits:
    """The half-life by two fits: maximum likelihood, and least squares on the mean scores (None: there is none)."""

    half_life: HalfLife
    half_life_lsq: int | None = None


FEWEST_LENGTHS = 3
"""With two lengths every curve fits, and nothing says that it is exponential."""


@dataclass(frozen=True, kw_only=True, slots=True)
class TooFewLengths(Fact):
    """A decay takes scores at `fewest` lengths, and there are `lengths`."""

    lengths: int
    fewest: int


@dataclass(frozen=True, kw_only=True, slots=True)
class NothingToHalve(Fact):
    """No sample of any length scored above 0."""

    lengths: int
    samples: int


@dataclass(frozen=True, kw_only=True, slots=True)
class FittedDecay(Fact):
    """The half-life in tokens with its interval, and what it was fitted to.

    `initial` is R₀, the score at length 0. `longest` is the longest prompt of a scored length.
    """

    tokens: int
    ci_low: int
    ci_high: int
    confidence: float
    initial: float
    lengths: int
    samples: int
    longest: int


@dataclass(frozen=True, kw_only=True, slots=True)
class NoFallShown(Fact):
    """The score falls, by no more than chance allows: a half-life of any length from `at_least` on would fit."""

    lengths: int
    samples: int
    confidence: float
    at_least: int


@dataclass(frozen=True, kw_only=True, slots=True)
class NoFall(Fact):
    """The score does not fall with length: it has no half-life, but perhaps a lower bound `at_least` of one.

    `all_right`: every sample has the full score. `at_least` is None where the score rises.
    """

    lengths: int
    samples: int
    all_right: bool
    confidence: float
    at_least: int | None


def half_life(results: Sequence[LengthResult], confidence: float, *, dispersion: float = 1.0) -> HalfLife:
    """Half-life in tokens, by binomial likelihood over the scored samples, with the interval of `exponential_decay.py`.

    Lengths are the bins' median measured prompts. `dispersion` (1 or more) is how many times the variance of
    independent samples the scores have where samples share a text. Where recall is not shown to fall there is no
    half-life, and `ci_low` may still rule short ones out: the estimate would be anywhere between there and infinity.
    All of it leans on the decay being exponential, the more so beyond the longest test. Raises `ValueError` for a
    dispersion below 1.

    At a nominal 95% the interval covers between 94% and 97% from twenty samples at each of six lengths, R₀ = 1
    included, up to half-lives of twice the longest test. Longer ones show in a handful of wrong answers, and with R₀
    at 1 the interval then covers up to 99%.
    """
    if dispersion < 1.0:
        raise ValueError(f"dispersion is {dispersion}: a factor of 1 or more is needed")
    scored = _scored(results)
    lengths = _lengths(scored)
    distinct, samples = len(set(lengths.tolist())), sum(len(result.scores) for result in scored)
    if distinct < FEWEST_LENGTHS:
        return _none(TooFewLengths(lengths=distinct, fewest=FEWEST_LENGTHS))
    # Either side is summed by itself, and rounded: where all are right, nothing may be left over as wrong.
    right = np.array([round(math.fsum(result.scores), 9) for result in scored])
    wrong = np.array([round(math.fsum(1.0 - score for score in result.scores), 9) for result in scored])
    if not right.any():
        return _none(NothingToHalve(lengths=distinct, samples=samples))
    z = normal_quantile(0.5 * (1.0 + confidence)) * math.sqrt(dispersion)
    fit = fit_decay(lengths, right, wrong, z=z)
    longest = max(result.bin.max_tokens for result in scored)
    if fit.rate_low > 0.0:
        return _fitted(fit, confidence=confidence, lengths=distinct, samples=samples, longest=longest)
    at_least = _halving(fit.rate_high) if fit.rate_high > 0.0 else None
    reason: Fact
    if fit.rate > 0.0 and at_least is not None:
        reason = NoFallShown(lengths=distinct, samples=samples, confidence=confidence, at_least=at_least)
    else:
        all_right = not wrong.any()
        reason = NoFall(
            lengths=distinct, samples=samples, all_right=all_right, confidence=confidence, at_least=at_least
        )
    return HalfLife(
        tokens=None,
        ci_low=at_least,
        ci_high=None,
        censored=at_least is not None and at_least > longest,
        reason=reason,
    )


def half_life_of(study: Study) -> HalfLife:
    """The half-life of a run, with the spread of samples that share a text allowed for."""
    dispersion = pooled_design_effect(result.evidence.clusters for result in study.results)
    return half_life(study.results, study.confidence, dispersion=dispersion)


def half_life_lsq(results: Sequence[LengthResult]) -> int | None:
    """Half-life in tokens by least squares on the mean score of each length, every length counting alike.

    The fit of r₀·e^(−λL/1000) from r₀ = 1, λ = 0.1, for comparison with figures made that way: it knows neither how
    many samples stand behind a mean nor that r₀ is at most 1. None below three lengths, where the means are all
    alike, where the fit does not converge and where it does not fall.
    """
    scored = _scored(results)
    lengths = _lengths(scored)
    means = np.array([mean_of(result.scores) for result in scored])
    if len(set(lengths.tolist())) < FEWEST_LENGTHS or means.min() == means.max():
        return None
    from scipy.optimize import OptimizeWarning, curve_fit

    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore", OptimizeWarning)
            (_, rate), _ = curve_fit(_decay, lengths, means, p0=(1.0, 0.1))
    except RuntimeError:
        return None
    if not math.isfinite(rate) or rate / 1_000.0 * float(lengths.max()) <= FLAT:
        return None
    return round(1_000.0 * math.log(2.0) / float(rate))


def _scored(results: Sequence[LengthResult]) -> list[LengthResult]:
    """The levels with scores, but for one whose prompts a server counted at no tokens at all."""
    return [result for result in results if result.scores and result.bin.median_tokens > 0]


def _lengths(results: Sequence[LengthResult]) -> NDArray[np.float64]:
    return np.array([result.bin.median_tokens for result in results], dtype=float)


def _decay(lengths: NDArray[np.float64], initial: float, rate: float) -> NDArray[np.float64]:
    return np.asarray(initial * np.exp(-rate * lengths / 1_000.0))


def _fitted(fit: DecayFit, *, confidence: float, lengths: int, samples: int, longest: int) -> HalfLife:
    fact = FittedDecay(
        tokens=_halving(fit.rate),
        ci_low=_halving(fit.rate_high),
        ci_high=_halving(fit.rate_low),
        confidence=confidence,
        initial=fit.initial,
        lengths=lengths,
        samples=samples,
        longest=longest,
    )
    return HalfLife(
        tokens=fact.tokens,
        ci_low=fact.ci_low,
        ci_high=fact.ci_high,
        censored=fact.tokens > longest,
        reason=fact,
        initial=fit.initial,
    )


def _none(reason: Fact) -> HalfLife:
    return HalfLife(tokens=None, ci_low=None, ci_high=None, censored=False, reason=reason)


def _halving(rate: float) -> int:
    return round(math.log(2.0) / rate)
