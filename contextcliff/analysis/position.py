"""Whether the score depends on where the evidence lies.

What is asked is whether late evidence is found more often than early evidence (`recency`), less often (`primacy`), or
the edges more often than the middle (`middle_collapse`: N. F. Liu et al., "Lost in the Middle", arXiv 2307.03172), by
the test of `depth_contrast.py`.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from contextcliff.analysis.bins import Group
from contextcliff.analysis.controls import ControlBook, ControlLevel, mean
from contextcliff.analysis.items import by_item, items_of
from contextcliff.records.analysis import DepthCell
from contextcliff.records.fact import Fact
from contextcliff.records.generation import ScoredSample
from contextcliff.statistics.descriptive import mean_of
from contextcliff.statistics.intervals import shown_interval
from contextcliff.statistics.ranks import is_significant, permutation_test, varying_strata

PatternName = Literal["stable", "middle_collapse", "recency", "primacy"]


@dataclass(frozen=True, kw_only=True, slots=True)
class PositionPattern:
    """How the score depends on depth: `stable`, `middle_collapse`, `recency` or `primacy`, by a test.

    `recency`: what stands late is found more often; `primacy`: what stands early. `stable` says that no dependence
    was shown. `pattern` and `p_value` are None where there is nothing to test, with the reason.
    """

    pattern: PatternName | None
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
    pattern: PatternName
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
    strata = varying_strata(placed)
    if not strata:
        return _untested("stable", n, EqualScores(thirds=_thirds(pairs)))
    linear, edges, p_value = permutation_test(strata)
    pattern = _largest(linear, edges) if is_significant(p_value, confidence) else "stable"
    return PositionPattern(
        pattern=pattern,
        p_value=p_value,
        n_samples=n,
        reason=PositionTested(thirds=_thirds(pairs), pattern=pattern, p_value=p_value, n_samples=n),
    )


def _placed(groups: Sequence[Group]) -> list[list[tuple[float, float]]]:
    """Depth and score of the items of each stratum, in an order that theirs does not matter for.

    The repeats of one question, or of one prompt at temperature 0, go together: exchanged singly they would look like
    so many samples that agree. A block of a search is a stratum: when a length is decided depends on the scores of its
    blocks, whatever their depths, so that exchanging them within a block leaves the search as it was (nearly so
    where samples are compared with a baseline's in pairs, and not where each third of the depths is decided).
    """
    strata: defaultdict[tuple[int, str, int], list[tuple[float, float]]] = defaultdict(list)
    for group in groups:
        for repeats in by_item(group.samples):
            sample, (item,) = repeats[0].sample, items_of(repeats)
            if sample.depth is not None and item.score is not None:
                block = -1 if sample.block is None else sample.block
                strata[group.asked_tokens, item.cluster, block].append((sample.depth, item.score))
    return [sorted(strata[key]) for key in sorted(strata)]


def _largest(linear: float, edges: float) -> PatternName:
    if edges > abs(linear):
        return "middle_collapse"
    return "recency" if linear > 0.0 else "primacy"


def _thirds(pairs: Sequence[tuple[float, float]]) -> tuple[Third, ...]:
    """Mean scores by third of the depths, where there are any."""
    bounds = {"first": (0.0, 1.0 / 3.0), "middle": (1.0 / 3.0, 2.0 / 3.0), "last": (2.0 / 3.0, 1.0)}
    thirds = []
    for name, (low, high) in bounds.items():
        scores = [score for depth, score in pairs if low <= depth and (depth < high or high == 1.0)]
        if scores:
            thirds.append(Third(name=name, mean=mean_of(scores), n_samples=len(scores)))
    return tuple(thirds)


def _untested(pattern: PatternName | None, n: int, reason: Fact) -> PositionPattern:
    return PositionPattern(pattern=pattern, p_value=None, n_samples=n, reason=reason)


def depth_cells(
    groups: Sequence[Group],
    controls: ControlBook,
    levels: Sequence[ControlLevel],
    *,
    threshold: float | None,
    confidence: float,
) -> tuple[DepthCell, ...]:
    """One cell for each length and depth that was planned, shortest and shallowest first.

    Only scored samples count; a cell where none was scored has the mean None. Samples without a depth
    are in no cell. A cell is not informative where its own controls show it (`controls.py`), or those of
    its whole length, `levels`, do.
    """
    void = {level.asked_tokens for level in levels if not level.informative}
    cells: list[DepthCell] = []
    for group in groups:
        by_depth: defaultdict[float, list[ScoredSample]] = defaultdict(list)
        for item in group.samples:
            if item.sample.depth is not None:
                by_depth[item.sample.depth].append(item)
        for depth in sorted(by_depth):
            scores = [item.score for item in by_depth[depth] if item.score is not None]
            own = controls.of(by_depth[depth])
            cells.append(
                DepthCell(
                    asked_tokens=group.asked_tokens,
                    depth=depth,
                    n_samples=len(scores),
                    mean=mean_of(scores) if scores else None,
                    ceiling=mean(own.ceiling),
                    floor=mean(own.floor),
                    informative=group.asked_tokens not in void and own.informative(threshold, confidence),
                )
            )
    return tuple(cells)


@dataclass(frozen=True, kw_only=True, slots=True)
class DepthPoint:
    """Mean score of one depth over all lengths, with its interval."""

    depth: float
    n_samples: int
    mean: float
    ci_low: float
    ci_high: float


def depth_profile(groups: Sequence[Group], confidence: float, *, binary: bool) -> tuple[DepthPoint, ...]:
    """One point for each depth (0 the start of the text, 1 its end) that was scored, shallowest first.

    Only scored samples with a depth count, repeats of one question as one. The interval is the two-sided one that is
    shown of lengths too. It is about the lengths as they were tested: where those of one depth were scored at shorter
    lengths than those of another, the profile shows that as well, and only
    the test of `position.py` tells the two apart.
    """
    scores: defaultdict[float, list[float]] = defaultdict(list)
    for group in groups:
        by_depth: defaultdict[float, list[ScoredSample]] = defaultdict(list)
        for sample in group.samples:
            if sample.sample.depth is not None:
                by_depth[sample.sample.depth].append(sample)
        for depth, samples in by_depth.items():
            scores[depth] += [item.score for item in items_of(samples) if item.score is not None]
    return tuple(
        _point(depth, tuple(sorted(scores[depth])), confidence, binary=binary)
        for depth in sorted(scores)
        if scores[depth]
    )


def _point(depth: float, scores: tuple[float, ...], confidence: float, *, binary: bool) -> DepthPoint:
    ci_low, ci_high = shown_interval(scores, confidence, binary=binary)
    return DepthPoint(depth=depth, n_samples=len(scores), mean=mean_of(scores), ci_low=ci_low, ci_high=ci_high)
