"""The shape of the scores over length: flat, falling in one step or gradually, below the threshold, or rising.

The shape is the curve that fits best (`statistics/curves.py`), and no test: it says how the scores run, and the
walk says what of that is shown. Where samples are unscored, a fall has to be there also if all of these were right.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from contextcliff.analysis.length_result import LengthResult
from contextcliff.analysis.threshold import LOW_BASELINE, Threshold
from contextcliff.records.analysis import ShapeName
from contextcliff.statistics.clusters import pooled_design_effect
from contextcliff.statistics.curves import KINDS, best_curves, dispersion_of

CLIFF_SHARE = 0.5
"""Share of the whole fall between two neighbouring lengths from which on a fall is a cliff, and not a slope."""
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
    """The shape of the scores by length, shortest first; None where nothing was scored.

    A single length is `flat` or `below`. So are all lengths `below` where each is shown to be.
    """
    scored = [result for result in results if result.scores]
    if not scored:
        return None
    limit = _limit(threshold)
    shape = _shape(scored, [result.scores for result in scored], limit)
    if all(map(threshold.is_shown_below, scored)):
        return Shape(name="below", tokens=shape.tokens, fitted=shape.fitted, n=shape.n)
    if shape.name in _FALLS and any(result.bin.n_unscored for result in scored):
        at_best = _shape(scored, [result.if_unscored_right.scores for result in scored], limit)
        return shape if at_best.name == shape.name else at_best
    return shape


def _limit(threshold: Threshold) -> float:
    """The score under which a length is below; a baseline that is hardly one is below itself."""
    if threshold.relative is None:
        return threshold.score or 0.0
    return max(threshold.score or 0.0, LOW_BASELINE)


def _shape(scored: Sequence[LengthResult], scores: Sequence[Sequence[float]], limit: float) -> Shape:
    right, n = [math.fsum(each) for each in scores], [len(each) for each in scores]
    shared = pooled_design_effect(result.evidence.clusters for result in scored)
    dispersion = shared if scored[0].binary else shared * dispersion_of(scores)
    best = best_curves(
        np.log([max(1, result.bin.median_tokens) for result in scored]),
        np.array([right], dtype=float),
        np.array([n], dtype=float),
        dispersion=np.array([dispersion]),
    )
    kind, place = KINDS[int(best.kind[0])], int(best.place[0])
    tokens = tuple(result.bin.median_tokens for result in scored)
    fitted = tuple(map(float, best.fitted[0]))
    # What a dip is below is level: it has the shape of a constant.
    name = name_of(fitted if kind != "dip" else (fitted[0],) * len(fitted), limit)
    return Shape(
        name=name,
        tokens=tokens,
        fitted=fitted,
        n=sum(n),
        step=_step(tokens, fitted) if name == "cliff" else None,
        dip=tokens[place] if kind == "dip" else None,
    )


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
    """The length after which the curve falls the most."""
    falls = [earlier - later for earlier, later in pairwise(fitted)]
    return falls.index(max(falls))


def _step(tokens: Sequence[int], fitted: Sequence[float]) -> tuple[int, int]:
    steepest = _steepest(fitted)
    return tokens[steepest], tokens[steepest + 1]
