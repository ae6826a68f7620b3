"""Mean score by depth over all lengths, for the figure of the position profile."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from contextcliff.analysis.bins import Group
from contextcliff.analysis.items import items_of
from contextcliff.records.generation import ScoredSample
from contextcliff.statistics.descriptive import mean_of
from contextcliff.statistics.intervals import shown_interval


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
