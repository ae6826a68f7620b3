"""Whether the score depends on where the evidence lies, by a permutation test.

What is asked is whether late evidence is found more often than early evidence (`recency`), less often (`primacy`), or
the edges more often than the middle (`middle_collapse`: N. F. Liu et al., "Lost in the Middle", arXiv 2307.03172).
Within a stratum, the samples of one length and one cluster, a model that does not mind the depth would have given the
same scores in any order. So scores are permuted within strata only, and neither decay over length nor a harder text
can look like a position effect.

Two contrasts are standardised by their permutation variance, a linear and a quadratic one that is made uncorrelated
with it. The larger one is the statistic, and its own permutation distribution gives one p-value for the whole
question (P. H. Westfall and S. S. Young, "Resampling-Based Multiple Testing", 1993). The p-value counts the observed
order among the permutations, so that it is never too small (B. Phipson and G. K. Smyth, Stat. Appl. Genet. Mol. Biol.
9 (2010) 39).
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from contextcliff.analysis.groups import Group
from contextcliff.analysis.items import by_item, items_of
from contextcliff.analysis.profile import DepthPoint
from contextcliff.records.fact import Fact
from contextcliff.statistics.descriptive import mean_of


@dataclass(frozen=True, kw_only=True, slots=True)
class PositionPattern:
    """How the score depends on depth: `stable`, `middle_collapse`, `recency` or `primacy`, by a test.

    `recency`: what stands late is found more often; `primacy`: what stands early. `stable` says that no dependence
    was shown. `pattern` and `p_value` are None where there is nothing to test, with the reason.
    """

    pattern: str | None
    p_value: float | None
    n_samples: int
    reason: Fact


@dataclass(frozen=True, kw_only=True, slots=True)
class PositionProfile:
    """Whether the score depends on depth, and the mean score of each depth over all lengths."""

    position: PositionPattern
    profile: tuple[DepthPoint, ...] = ()


FEWEST_DEPTHS = 3
"""With two depths there is no middle."""

_PERMUTATIONS = 3_999
_SEED = 20_230_706
_CHUNK = 2_000_000
"""Scores that are permuted at once, so that memory stays flat."""
_TIE = 1e-9

_Array = NDArray[np.float64]
_Stratum = tuple[_Array, _Array]
"""Depths and scores, each centred."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Third:
    """The mean score of the evidence in one third of the text: `first`, `middle` or `last`."""

    name: str
    mean: float
    n_samples: int


@dataclass(frozen=True, kw_only=True, slots=True)
class TooFewDepths(Fact):
    """A pattern takes scores at `fewest` depths, and there are `depths`."""

    depths: int
    fewest: int


@dataclass(frozen=True, kw_only=True, slots=True)
class NoDepthsToCompare(Fact):
    """At no length does one text have scores at two depths."""


@dataclass(frozen=True, kw_only=True, slots=True)
class EqualScores(Fact):
    """At no length do scores differ, so that no depth can be told from another."""

    thirds: tuple[Third, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class PositionTested(Fact):
    """What the permutation test says, and the mean scores behind it."""

    thirds: tuple[Third, ...]
    pattern: str
    p_value: float
    n_samples: int


def position_pattern(groups: Sequence[Group], confidence: float) -> PositionPattern:
    """The pattern of score over depth, tested at 1 − `confidence`.

    Only scored samples with a depth count. Permutations are drawn from a fixed seed: the same samples, in any order,
    give the same p-value. `pattern` is None where fewer than three depths were scored, or none can be compared within
    a length; it is `stable` without a p-value where scores vary within no length.
    """
    placed = _placed(groups)
    pairs = sorted(pair for stratum in placed for pair in stratum)
    n = len(pairs)
    depths = {depth for depth, _ in pairs}
    if len(depths) < FEWEST_DEPTHS:
        return _untested(None, n, TooFewDepths(depths=len(depths), fewest=FEWEST_DEPTHS))
    if all(len({depth for depth, _ in stratum}) == 1 for stratum in placed):
        return _untested(None, n, NoDepthsToCompare())
    strata = _varying(placed)
    if not strata:
        return _untested("stable", n, EqualScores(thirds=_thirds(pairs)))
    linear, edges, p_value = _test(strata)
    pattern = _largest(linear, edges) if p_value <= 1.0 - confidence else "stable"
    return PositionPattern(
        pattern=pattern,
        p_value=p_value,
        n_samples=n,
        reason=PositionTested(thirds=_thirds(pairs), pattern=pattern, p_value=p_value, n_samples=n),
    )


def _placed(groups: Sequence[Group]) -> list[list[tuple[float, float]]]:
    """Depth and score of the items of each stratum, in an order that theirs does not matter for.

    The repeats of one question, or of one prompt at temperature 0, go together: exchanged singly they would look like
    so many samples that agree.
    """
    strata: defaultdict[tuple[int, str], list[tuple[float, float]]] = defaultdict(list)
    for group in groups:
        for repeats in by_item(group.samples):
            depth, (item,) = repeats[0].sample.depth, items_of(repeats)
            if depth is not None and item.score is not None:
                strata[group.asked_tokens, item.cluster].append((depth, item.score))
    return [sorted(strata[key]) for key in sorted(strata)]


def _varying(placed: Sequence[Sequence[tuple[float, float]]]) -> list[_Stratum]:
    """The strata in which depth and score both vary: no other one tells anything."""
    strata = []
    for pairs in placed:
        depths, scores = np.array(pairs).T
        if depths.min() < depths.max() and scores.min() < scores.max():
            strata.append((depths - depths.mean(), scores - scores.mean()))
    return strata


def _test(strata: Sequence[_Stratum]) -> tuple[float, float, float]:
    """Standardised linear and quadratic contrast, and the p-value of the larger."""
    contrasts, spread = _contrasts(strata)
    observed = sum((scores @ c for (_, scores), c in zip(strata, contrasts, strict=True)), np.zeros(2))
    permuted = np.zeros((_PERMUTATIONS, 2))
    rng = np.random.default_rng(_SEED)
    for (_, scores), c in zip(strata, contrasts, strict=True):
        rows = max(1, _CHUNK // scores.size)
        for start in range(0, _PERMUTATIONS, rows):
            some = permuted[start : start + rows]
            some += rng.permuted(np.tile(scores, (len(some), 1)), axis=1) @ c
    linear, edges = observed / spread
    largest = np.maximum(np.abs(permuted[:, 0]) / spread[0], permuted[:, 1] / spread[1])
    as_large = int((largest >= max(abs(linear), edges) - _TIE).sum())
    return float(linear), float(edges), (1 + as_large) / (1 + _PERMUTATIONS)


def _largest(linear: float, edges: float) -> str:
    if edges > abs(linear):
        return "middle_collapse"
    return "recency" if linear > 0.0 else "primacy"


def _contrasts(strata: Sequence[_Stratum]) -> tuple[list[_Array], _Array]:
    """For each stratum the weights of its scores (linear, quadratic), and the standard deviations of the two sums.

    A permuted sum Σ c·y of centred c and y has the variance Σc²·Σy² / (n − 1); the quadratic weights lose what the
    linear ones explain of them, weighted likewise, so that the two sums are uncorrelated.
    """
    linear = [depths for depths, _ in strata]
    square = [depths**2 - np.mean(depths**2) for depths in linear]
    variances = [float(scores @ scores) / (scores.size - 1) for _, scores in strata]
    shared = math.fsum(v * float(d @ q) for v, d, q in zip(variances, linear, square, strict=True))
    slope = shared / math.fsum(v * float(d @ d) for v, d in zip(variances, linear, strict=True))
    contrasts = [np.column_stack([d, q - slope * d]) for d, q in zip(linear, square, strict=True)]
    spread = np.sqrt(sum((v * (c**2).sum(axis=0) for v, c in zip(variances, contrasts, strict=True)), np.zeros(2)))
    # Where no stratum has three depths the quadratic contrast is nothing but rounding, and is never the larger one.
    return contrasts, np.where(spread > _TIE * spread[0], spread, np.inf)


def _thirds(pairs: Sequence[tuple[float, float]]) -> tuple[Third, ...]:
    """Mean scores by third of the depths, where there are any."""
    bounds = {"first": (0.0, 1.0 / 3.0), "middle": (1.0 / 3.0, 2.0 / 3.0), "last": (2.0 / 3.0, 1.0)}
    thirds = []
    for name, (low, high) in bounds.items():
        scores = [score for depth, score in pairs if low <= depth and (depth < high or high == 1.0)]
        if scores:
            thirds.append(Third(name=name, mean=mean_of(scores), n_samples=len(scores)))
    return tuple(thirds)


def _untested(pattern: str | None, n: int, reason: Fact) -> PositionPattern:
    return PositionPattern(pattern=pattern, p_value=None, n_samples=n, reason=reason)
