"""Estimates beside the cap: the lengths at which a fitted curve falls to 80% and 50%, the area under the score, and
RULER's effective length.

x80 and x50 are the prompt lengths at which a logistic curve in log length, fitted to the scores of all lengths
(`statistics/logistic_fall.py`), falls to 0.80 and 0.50 of the full score 1; where the run's threshold is a share of the
baseline's score, they are 80% and 50% of the curve's own value at the shortest length. A half and four fifths of the
full score are the horizons of T. Kwa et al., "Measuring AI Ability to Complete Long Tasks" (arXiv 2503.14499), and a
share of the score at short length is how NoLiMa (arXiv 2502.05167) counts: so a fitted length is read on the scale on
which the cap is. Nothing is extrapolated: a curve that reaches the score beyond the longest test has no such length.

These are estimates, whatever their intervals: the safe cap does not depend on them. The intervals allow for chance and
not for another form of the fall: in 100 runs each at a nominal 95%, that of x50 covered 85 on an exponential decay with
100 samples a length, and that of x80 covered 73 on a straight line over log length with 40.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from contextcliff.analysis.length_result import LengthResult
from contextcliff.analysis.reason import low_baseline
from contextcliff.analysis.score_curve import DRAWS, FallTo, ScoreCurve
from contextcliff.analysis.study import Study
from contextcliff.analysis.task_means import RULER_THRESHOLD
from contextcliff.analysis.threshold import LOW_BASELINE
from contextcliff.records.fact import Fact
from contextcliff.statistics.leading_run import leading_above

FEWEST_LENGTHS = 3
"""With two lengths nothing tells a steep fall from a slow one."""


@dataclass(frozen=True, kw_only=True, slots=True)
class FittedLength:
    """Tokens at which the fitted curve falls to a score, with a bootstrap interval; None with the reason.

    `censored`: the curve is above the score up to the longest test, and `ci_low` is a lower bound. An end is None where
    the interval goes beyond the tested lengths on that side.
    """

    tokens: int | None
    ci_low: int | None
    ci_high: int | None
    censored: bool
    score: float | None
    """The score that the curve falls to; None where there is no curve."""
    reason: Fact


@dataclass(frozen=True, kw_only=True, slots=True)
class ScoreArea:
    """The area under the score over log length, divided by the log of the range: 1 where every score is 1.

    Scores of tested lengths are joined by straight lines over log length, so that each octave counts alike. Areas of
    different ranges are not comparable.
    """

    value: float
    ci_low: float
    ci_high: float
    min_tokens: int
    max_tokens: int


@dataclass(frozen=True, kw_only=True, slots=True)
class EffectiveLength:
    """RULER's effective length: the longest tested prompt up to which every mean score is above `threshold`.

    None where the shortest length is not. `censored`: every tested length is.
    """

    tokens: int | None
    threshold: float
    censored: bool


@dataclass(frozen=True, kw_only=True, slots=True)
class FittedLengths:
    """What is estimated of the whole curve, and from how much."""

    x80: FittedLength
    x50: FittedLength
    area: ScoreArea | None
    """None where fewer than two lengths have scores."""
    effective_length: EffectiveLength
    n_samples: int
    n_lengths: int
    relative: bool
    """Whether 80% and 50% are of the curve's value at the shortest length, and not of the full score."""


@dataclass(frozen=True, kw_only=True, slots=True)
class FitBasis:
    """What a curve was fitted to, and the confidence of its intervals."""

    confidence: float
    lengths: int
    samples: int


@dataclass(frozen=True, kw_only=True, slots=True)
class TooFewToFit(Fact):
    """A curve takes scores at `fewest` lengths, and there are `lengths`."""

    lengths: int
    fewest: int


@dataclass(frozen=True, kw_only=True, slots=True)
class FallsTo(Fact):
    """The curve falls to `score` at `tokens`. An end is None where the interval goes beyond the tested lengths."""

    score: float
    tokens: int
    ci_low: int | None
    ci_high: int | None
    basis: FitBasis


@dataclass(frozen=True, kw_only=True, slots=True)
class StaysAbove(Fact):
    """The curve is above `score` up to `longest`, the longest test; `at_least` is the interval's lower end, if any."""

    score: float
    longest: int
    at_least: int | None
    basis: FitBasis


@dataclass(frozen=True, kw_only=True, slots=True)
class StartsBelow(Fact):
    """The curve is at `score` or below from `shortest`, the shortest test; `at_most` is the interval's upper end."""

    score: float
    shortest: int
    at_most: int | None
    basis: FitBasis


def fitted_lengths(study: Study) -> FittedLengths | None:
    """The estimates of a run; None where nothing was scored."""
    return estimates_of(study.results, study.confidence, relative=study.relative)


def estimates_of(
    results: Sequence[LengthResult], confidence: float, *, relative: bool = False, draws: int = DRAWS
) -> FittedLengths | None:
    """The estimates of lengths in ascending order, with intervals from so many draws.

    The figures of `tests/analysis/test_fitted_length_simulations.py` say how often the intervals cover.
    """
    scored = [result for result in results if result.scores and result.bin.median_tokens > 0]
    if not scored:
        return None
    curve = ScoreCurve.of(scored, confidence=confidence, relative=relative, draws=draws)
    x80, x50 = (_fitted_length(curve, share) for share in (0.8, 0.5))
    return FittedLengths(
        x80=x80,
        x50=x50,
        area=_area(curve) if len(curve.tokens) > 1 else None,
        effective_length=effective_length(results),
        n_samples=curve.samples,
        n_lengths=len(curve.tokens),
        relative=relative,
    )


def effective_length(results: Sequence[LengthResult], threshold: float = RULER_THRESHOLD) -> EffectiveLength:
    """RULER's effective length: of lengths in ascending order, the last before the first that is not above `threshold`.

    RULER takes the longest length that is above it; that is the same unless a score recovers. A length at which nothing
    was scored is not above it.
    """
    above = leading_above((result.bin.mean for result in results), threshold)
    tokens = results[above - 1].bin.max_tokens if above else None
    return EffectiveLength(tokens=tokens, threshold=threshold, censored=bool(results) and above == len(results))


def _area(curve: ScoreCurve) -> ScoreArea:
    value, low, high = curve.area()
    return ScoreArea(value=value, ci_low=low, ci_high=high, min_tokens=curve.tokens[0], max_tokens=curve.tokens[-1])


def _fitted_length(curve: ScoreCurve, share: float) -> FittedLength:
    if len(curve.tokens) < FEWEST_LENGTHS:
        return _none(TooFewToFit(lengths=len(curve.tokens), fewest=FEWEST_LENGTHS))
    fall = curve.fall_to(share)
    if curve.relative and fall.score < share * LOW_BASELINE:
        return _none(low_baseline(fall.score / share, curve.tokens[0]))
    return _said(curve, fall)


def _none(reason: Fact) -> FittedLength:
    return FittedLength(tokens=None, ci_low=None, ci_high=None, censored=False, score=None, reason=reason)


def _said(curve: ScoreCurve, fall: FallTo) -> FittedLength:
    shortest, longest = curve.tokens[0], curve.tokens[-1]
    ci_low, ci_high, tokens = _tokens(fall.low), _tokens(fall.high), _tokens(fall.at)
    basis = FitBasis(confidence=curve.confidence, lengths=len(curve.tokens), samples=curve.samples)
    if tokens is not None:
        reason: Fact = FallsTo(score=fall.score, tokens=tokens, ci_low=ci_low, ci_high=ci_high, basis=basis)
    elif fall.at > 0.0:
        ci_low, ci_high = (longest if fall.low == math.inf else ci_low), None
        reason = StaysAbove(score=fall.score, longest=longest, at_least=ci_low, basis=basis)
    else:
        ci_low, ci_high = None, (shortest if fall.high == -math.inf else ci_high)
        reason = StartsBelow(score=fall.score, shortest=shortest, at_most=ci_high, basis=basis)
    return FittedLength(
        tokens=tokens,
        ci_low=ci_low,
        ci_high=ci_high,
        censored=fall.at == math.inf,
        score=fall.score,
        reason=reason,
    )


def _tokens(at: float) -> int | None:
    return round(math.exp(at)) if math.isfinite(at) else None
