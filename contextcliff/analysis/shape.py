"""The shape of the scores over length: flat, falling in one step or gradually, below the threshold, or rising.

The shape is the curve that fits best (`statistics/curves.py`), and no test: it says how the scores run, and the
walk says what of that is shown. Where samples are unscored, a fall has to be there also if all of these were right.
Its word is said from six lengths with twenty samples each on, and that of a cliff where the walk shows the fall: at
three lengths it is wrong in one run of ten, and a fall that stays above the threshold often looks like a cliff.
"""

from __future__ import annotations

import math
import statistics
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from contextcliff.analysis.lengths import LengthResult
from contextcliff.analysis.walk import LOW_BASELINE, FixedSequenceTest, Threshold, evidence_suffices
from contextcliff.records.analysis import EvidenceName, ShapeName, VerdictName
from contextcliff.statistics.clusters import (
    Cluster,
    LengthScores,
    design_effect_of,
    drawn_means,
    expanded_tail,
    pooled_design_effect,
)
from contextcliff.statistics.curves import KINDS, Falls, best_curves, dispersion_of, fit_falls

CLIFF_SHARE = 0.5
"""Share of the whole fall between two neighbouring lengths from which on a fall is a cliff, and not a slope."""
FEWEST_LENGTHS, FEWEST_SCORES = 6, 20
"""So many lengths with so many scores each are needed to name the shape."""
_ROUNDING = 1e-9


@dataclass(frozen=True, kw_only=True, slots=True)
class Shape:
    """The shape with the curve behind it. `tokens` are the median prompts of the lengths that have scores."""

    name: ShapeName
    tokens: tuple[int, ...]
    fitted: tuple[float, ...]
    """Score of the curve at each of them."""
    n: int
    """Number of scores at all of them."""
    step: tuple[int, int] | None = None
    """Of a cliff the two lengths between which it falls."""
    dip: int | None = None
    """A length that is lower than the constant which all others follow."""

    def at(self, tokens: int) -> float | None:
        """Score of the curve at a length with scores; None at another."""
        return self.fitted[self.tokens.index(tokens)] if tokens in self.tokens else None


_FALLS: tuple[ShapeName, ...] = ("cliff", "slope")


def shape_of(results: Sequence[LengthResult], threshold: Threshold) -> Shape | None:
    """The shape of the scores by length, shortest first; None where nothing was scored."""
    scored = [result for result in results if result.scores]
    if not scored:
        return None
    # A baseline that is hardly one is below itself.
    limit = max(threshold.score or 0.0, 0.0 if threshold.relative is None else LOW_BASELINE)
    shape = _shape(scored, [result.scores for result in scored], limit)
    if all(map(threshold.is_shown_below, scored)):
        return Shape(name="below", tokens=shape.tokens, fitted=shape.fitted, n=shape.n)
    if shape.name in _FALLS and any(result.bin.n_unscored for result in scored):
        at_best = _shape(scored, [result.if_unscored_right.scores for result in scored], limit)
        return shape if at_best.name == shape.name else at_best
    return shape


def _shape(scored: Sequence[LengthResult], scores: Sequence[Sequence[float]], limit: float) -> Shape:
    right, n = [math.fsum(each) for each in scores], [len(each) for each in scores]
    shared = pooled_design_effect(result.evidence.clusters for result in scored)
    dispersion = shared if scored[0].binary else shared * dispersion_of(scores)
    best = best_curves(
        np.log([max(1, result.bin.median_tokens) for result in scored]), np.array([right], dtype=float),
        np.array([n], dtype=float), dispersion=np.array([dispersion]),
    )  # fmt: skip
    kind, place = KINDS[int(best.kind[0])], int(best.place[0])
    tokens = tuple(result.bin.median_tokens for result in scored)
    fitted = tuple(map(float, best.fitted[0]))
    # What a dip is below is level: it has the shape of a constant.
    name = name_of(fitted if kind != "dip" else (fitted[0],) * len(fitted), limit)
    step = list(pairwise(tokens))[_steepest(fitted)] if name == "cliff" else None
    dip = tokens[place] if kind == "dip" else None
    return Shape(name=name, tokens=tokens, fitted=fitted, n=sum(n), step=step, dip=dip)


def name_of(fitted: Sequence[float], limit: float) -> ShapeName:
    """The shape of a monotone curve, by its score at each length; `limit` is the threshold as a score.

    A fall is a cliff where one step from a length to the next takes most of it, and takes it through the threshold.
    """
    if max(fitted) < limit - _ROUNDING:
        return "below"
    fall = fitted[0] - fitted[-1]
    if abs(fall) < _ROUNDING:
        return "flat"
    if fall < 0.0:
        return "rising"
    steepest = _steepest(fitted)
    is_through = fitted[steepest] >= limit - _ROUNDING > fitted[steepest + 1]
    takes_most = fitted[steepest] - fitted[steepest + 1] >= CLIFF_SHARE * fall
    return "cliff" if is_through and takes_most else "slope"


def _steepest(fitted: Sequence[float]) -> int:
    falls = [earlier - later for earlier, later in pairwise(fitted)]
    return falls.index(max(falls))


def evidence_of(sequence: FixedSequenceTest, threshold: Threshold, shape: Shape) -> EvidenceName:
    """Whether the walks show the shape.

    They show a `flat` or `rising` one where every length clears the threshold, a `cliff` or `slope` where a fall is
    shown from the longest length down (and the length that stopped the walk from the shortest up had samples enough to
    clear), and `below` where every length is shown to be below, as is the one at which a search ends. Nothing is shown
    where all lengths are part of the baseline, or where that is hardly one.
    """
    baseline, stop = threshold.relative, sequence.stop
    if baseline is not None and (baseline.is_low or len(baseline.members) == len(sequence.results)):
        return "unsettled"
    shown = False
    if stop is None:
        shown = not sequence.is_open and shape.name != "below"
    elif shape.name == "below":
        shown = len(sequence.degraded) == len(sequence.results)
    elif shape.name in _FALLS:
        is_decided = threshold.is_shown_below(stop) or evidence_suffices(stop, threshold)
        shown = bool(sequence.degraded) and is_decided
    return "settled" if shown else "unsettled"


def said(shape: Shape, evidence: EvidenceName, results: Sequence[LengthResult]) -> ShapeName | None:
    """The word for a shape; None where it is likely to be wrong."""
    is_told = sum(len(result.scores) >= FEWEST_SCORES for result in results) >= FEWEST_LENGTHS
    return shape.name if is_told and (shape.name != "cliff" or evidence == "settled") else None


_VERDICTS: Mapping[ShapeName, VerdictName] = {"cliff": "cliff", "slope": "slope"}


def verdict_of(sequence: FixedSequenceTest, shape: Shape | None, evidence: EvidenceName | None) -> VerdictName:
    """`flat` where every length clears the threshold, `cliff` or `slope` where a fall is shown, by the best curve."""
    if shape is None or evidence != "settled":
        return "insufficient_evidence"
    return "flat" if sequence.stop is None else _VERDICTS.get(shape.name, "insufficient_evidence")


DRAWS = 1_000
_SEED = 20_261_103

_Array = NDArray[np.float64]


@dataclass(frozen=True, kw_only=True, slots=True)
class FallTo:
    """Where a curve falls to a score, with its interval, in log tokens: −inf before the range, inf beyond it."""

    score: float
    at: float
    low: float
    high: float


@dataclass(frozen=True, kw_only=True)
class ScoreCurve:
    """The scores of a run by length, and draws of what they could have been."""

    tokens: tuple[int, ...]
    """Different lengths, ascending: medians of measured prompts."""
    lengths: tuple[LengthScores, ...]
    confidence: float
    relative: bool
    draws: _Array
    """Of shape (draws, lengths)."""

    @classmethod
    def of(cls, scored: Sequence[LengthResult], *, confidence: float, relative: bool, draws: int) -> ScoreCurve:
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

    def fall_to(self, share: float) -> FallTo:
        """Where the curve falls to `share` of the full score, or of its value at the shortest length."""
        score = float(self._score(self._fitted, share)[0])
        first, last = self._fitted.crossings(score)
        at = float(0.5 * (first[0] + last[0]))
        lows, highs = self._drawn.crossings(self._score(self._drawn, share))
        low = min(float(np.quantile(lows, self._tail, method="lower")), at)
        high = max(float(np.quantile(highs, 1.0 - self._tail, method="higher")), at)
        return FallTo(score=score, at=at, low=low, high=high)

    def area(self) -> tuple[float, float, float]:
        """The area over log length, divided by the log of the range, and its interval; of at least two lengths."""
        value = float(self._areas(self._means)[0])
        drawn = self._areas(self.draws)
        # The pseudo-samples draw every length toward the middle, which adds up over the lengths.
        drawn = drawn - float(drawn.mean()) + value
        low, high = (float(end) for end in np.quantile(drawn, [self._tail, 1.0 - self._tail]))
        return value, max(0.0, min(low, value)), min(1.0, max(high, value))

    def _areas(self, means: _Array) -> _Array:
        return np.asarray(np.trapezoid(means, self.at, axis=1) / (self.at[-1] - self.at[0]), dtype=np.float64)

    def _score(self, falls: Falls, share: float) -> _Array:
        whole = falls.value_at(float(self.at[0])) if self.relative else np.ones_like(falls.top)
        return np.asarray(share * whole)

    @property
    def _tail(self) -> float:
        return expanded_tail(round(statistics.median(length.n for length in self.lengths)), self.confidence)

    @cached_property
    def _weights(self) -> _Array:
        """Inverse variance of each mean, by the score of a first fit, moved toward the middle by two samples."""
        n = np.array([float(length.n) for length in self.lengths])
        worth = n / np.array([length.design_effect for length in self.lengths])
        first = fit_falls(self.at, self._means, 4.0 * worth)
        fitted = np.array([first.value_at(float(at))[0] for at in self.at])
        moved = (n * fitted + 1.0) / (n + 2.0)
        return np.asarray(worth / (moved * (1.0 - moved)))


def _scores_of(results: Sequence[LengthResult]) -> LengthScores:
    """The scores of a length, by text where samples share one, here or at another length."""
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
