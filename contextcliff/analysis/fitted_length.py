"""Estimates beside the cap: the lengths at which a fitted curve falls to 80% and 50%, the area under the score, and
RULER's effective length.

x80 and x50 are the prompt lengths at which a logistic curve in log length, fitted to the scores of all lengths
(`statistics/logistic_fall.py`), falls to 0.80 and 0.50 of the full score 1; where the run's threshold is a share of the
baseline's score, they are 80% and 50% of the curve's own value at the shortest length. A half and four fifths of the
full score are the horizons of T. Kwa et al., "Measuring AI Ability to Complete Long Tasks" (arXiv 2503.14499), and a
share of the score at short length is how NoLiMa (arXiv 2502.05167) counts: so a fitted length is read on the scale on
which the cap is. Nothing is extrapolated: a curve that reaches the score beyond the longest test has no such length.

These are estimates, whatever their intervals: the safe cap does not depend on them. The intervals allow for chance and
not for another form of the fall: on an exponential decay with 100 samples a length that of x50 covers in some 85% of
runs at a nominal 95%, and on a straight line over log length with 40 that of x80 in some 75%.
"""

from __future__ import annotations

import math
import statistics
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from contextcliff.analysis.length_result import LengthResult
from contextcliff.analysis.study import Study
from contextcliff.analysis.threshold import LOW_BASELINE
from contextcliff.records.cap_reason import LowBaseline
from contextcliff.records.fact import Fact
from contextcliff.statistics.clusters import Cluster, design_effect_of
from contextcliff.statistics.logistic_fall import Falls, fit_falls
from contextcliff.statistics.mean_draws import LengthScores, drawn_means, expanded_tail

RULER_THRESHOLD = 0.856
"""What Llama2-7B scores at 4K on RULER's 13 tasks (C.-P. Hsieh et al., arXiv 2404.06654, section 4)."""
FEWEST_LENGTHS = 3
"""With two lengths nothing tells a steep fall from a slow one."""
_DRAWS = 1_000
_SEED = 20_261_103

_Array = NDArray[np.float64]


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
    results: Sequence[LengthResult], confidence: float, *, relative: bool = False, draws: int = _DRAWS
) -> FittedLengths | None:
    """The estimates of lengths in ascending order, with intervals from so many draws.

    The figures of `tests/analysis/test_fitted_length_simulations.py` say how often the intervals cover.
    """
    scored = [result for result in results if result.scores and result.bin.median_tokens > 0]
    if not scored:
        return None
    curve = _Curve.of(scored, confidence=confidence, relative=relative, draws=draws)
    x80, x50 = (curve.length_at(share) for share in (0.8, 0.5))
    return FittedLengths(
        x80=x80,
        x50=x50,
        area=curve.area(),
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
    tokens, above = None, 0
    for result in results:
        if result.bin.mean is None or not result.bin.mean > threshold:
            break
        tokens, above = result.bin.max_tokens, above + 1
    return EffectiveLength(tokens=tokens, threshold=threshold, censored=bool(results) and above == len(results))


@dataclass(frozen=True, kw_only=True)
class _Curve:
    """The scores of a run by length, and draws of what they could have been."""

    tokens: tuple[int, ...]
    """Different lengths, ascending: medians of measured prompts."""
    lengths: tuple[LengthScores, ...]
    confidence: float
    relative: bool
    draws: _Array
    """Of shape (draws, lengths)."""

    @classmethod
    def of(cls, scored: Sequence[LengthResult], *, confidence: float, relative: bool, draws: int) -> _Curve:
        by_tokens: defaultdict[int, list[LengthResult]] = defaultdict(list)
        for result in scored:
            by_tokens[result.bin.median_tokens].append(result)
        tokens = tuple(sorted(by_tokens))
        lengths = tuple(_scores_of(by_tokens[each]) for each in tokens)
        drawn = drawn_means(lengths, draws=draws, confidence=confidence, seed=_SEED)
        return cls(tokens=tokens, lengths=lengths, confidence=confidence, relative=relative, draws=drawn)

    @property
    def _means(self) -> _Array:
        return np.array([[length.total / length.n for length in self.lengths]])

    @cached_property
    def _fitted(self) -> Falls:
        return fit_falls(self.at, self._means, self._weights)

    @cached_property
    def _drawn(self) -> Falls:
        return fit_falls(self.at, self.draws, self._weights)

    @property
    def samples(self) -> int:
        return sum(length.n for length in self.lengths)

    @property
    def at(self) -> _Array:
        return np.asarray(np.log(self.tokens), dtype=np.float64)

    def length_at(self, share: float) -> FittedLength:
        """Where the curve falls to `share` of the full score, or of its value at the shortest length."""
        if len(self.tokens) < FEWEST_LENGTHS:
            reason = TooFewToFit(lengths=len(self.tokens), fewest=FEWEST_LENGTHS)
            return FittedLength(tokens=None, ci_low=None, ci_high=None, censored=False, score=None, reason=reason)
        score = float(self._score(self._fitted, share)[0])
        if self.relative and score < share * LOW_BASELINE:
            hardly = LowBaseline(mean=score / share, tokens=self.tokens[0], least=LOW_BASELINE)
            return FittedLength(tokens=None, ci_low=None, ci_high=None, censored=False, score=None, reason=hardly)
        first, last = self._fitted.crossings(score)
        at = float(0.5 * (first[0] + last[0]))
        lows, highs = self._drawn.crossings(self._score(self._drawn, share))
        low = min(float(np.quantile(lows, self._tail, method="lower")), at)
        high = max(float(np.quantile(highs, 1.0 - self._tail, method="higher")), at)
        return self._said(score, at, low, high)

    def area(self) -> ScoreArea | None:
        if len(self.tokens) < 2:
            return None
        value = float(self._areas(self._means)[0])
        drawn = self._areas(self.draws)
        # The pseudo-samples draw every length toward the middle, which adds up over the lengths.
        drawn = drawn - float(drawn.mean()) + value
        low, high = (float(end) for end in np.quantile(drawn, [self._tail, 1.0 - self._tail]))
        return ScoreArea(
            value=value,
            ci_low=max(0.0, min(low, value)),
            ci_high=min(1.0, max(high, value)),
            min_tokens=self.tokens[0],
            max_tokens=self.tokens[-1],
        )

    def _areas(self, means: _Array) -> _Array:
        return np.asarray(np.trapezoid(means, self.at, axis=1) / (self.at[-1] - self.at[0]), dtype=np.float64)

    def _score(self, falls: Falls, share: float) -> _Array:
        whole = falls.value_at(float(self.at[0])) if self.relative else np.ones_like(falls.top)
        return np.asarray(share * whole)

    @property
    def _tail(self) -> float:
        """Share of draws beyond each end of an interval."""
        return expanded_tail(round(statistics.median(length.n for length in self.lengths)), self.confidence)

    @cached_property
    def _weights(self) -> _Array:
        """Inverse variance of each mean, by the score of a first fit, moved toward the middle by two samples.

        By its own score a length that happens to be good would weigh more, and lift the curve.
        """
        n = np.array([float(length.n) for length in self.lengths])
        worth = n / np.array([length.design_effect for length in self.lengths])
        first = fit_falls(self.at, self._means, 4.0 * worth)
        fitted = np.array([first.value_at(float(at))[0] for at in self.at])
        moved = (n * fitted + 1.0) / (n + 2.0)
        return np.asarray(worth / (moved * (1.0 - moved)))

    def _said(self, score: float, at: float, low: float, high: float) -> FittedLength:
        ci_low, ci_high, tokens = self._tokens(low), self._tokens(high), self._tokens(at)
        basis = FitBasis(confidence=self.confidence, lengths=len(self.tokens), samples=self.samples)
        if tokens is not None:
            reason: Fact = FallsTo(score=score, tokens=tokens, ci_low=ci_low, ci_high=ci_high, basis=basis)
        elif at > 0.0:
            ci_low, ci_high = (self.tokens[-1] if low == math.inf else ci_low), None
            reason = StaysAbove(score=score, longest=self.tokens[-1], at_least=ci_low, basis=basis)
        else:
            ci_low, ci_high = None, (self.tokens[0] if high == -math.inf else ci_high)
            reason = StartsBelow(score=score, shortest=self.tokens[0], at_most=ci_high, basis=basis)
        return FittedLength(
            tokens=tokens, ci_low=ci_low, ci_high=ci_high, censored=at == math.inf, score=score, reason=reason
        )

    def _tokens(self, at: float) -> int | None:
        return round(math.exp(at)) if math.isfinite(at) else None


def _scores_of(results: Sequence[LengthResult]) -> LengthScores:
    """The scores of a length: samples that share a text, here or at another length, by their text.

    As everywhere, a length at which all samples share one text is about that text, and they are independent.
    """
    alone: list[float] = []
    shared: defaultdict[str, list[float]] = defaultdict(list)
    for result in results:
        several = len({item.cluster for item in result.items} - {""}) > 1
        for item in result.items:
            if item.score is None:
                continue
            if several and item.cluster:
                shared[item.cluster].append(item.score)
            else:
                alone.append(item.score)
    effects = [design_effect_of(result.evidence.clusters) for result in results if result.evidence.clusters]
    return LengthScores(
        alone=tuple(sorted(alone)),
        shared={name: Cluster(total=math.fsum(scores), scored=len(scores)) for name, scores in shared.items()},
        design_effect=max(effects, default=1.0),
    )
