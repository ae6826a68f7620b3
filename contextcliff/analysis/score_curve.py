"""The scores of a run as one curve over log length, fitted and drawn: the bootstrap of `fitted_length.py`."""

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
from contextcliff.statistics.clusters import Cluster, LengthScores, design_effect_of, drawn_means, expanded_tail
from contextcliff.statistics.curves import Falls, fit_falls

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
        """Where the curve falls to `share` of the full score, or of its value at the shortest length.

        It takes at least two lengths.
        """
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
