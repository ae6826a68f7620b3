"""Mean score by depth over all lengths, for the figure of the position profile."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from contextcliff.analysis.bins import Group, mean_of
from contextcliff.analysis.intervals import shown_interval
from contextcliff.records import DepthPoint


def depth_profile(groups: Sequence[Group], confidence: float, *, binary: bool) -> tuple[DepthPoint, ...]:
    """One point for each depth (0 the start of the text, 1 its end) that was scored, shallowest first.

    Only scored samples with a depth count. The interval is the two-sided one that is shown of lengths too. It is
    about the lengths as they were tested: where those of one depth were scored at shorter lengths than those of
    another, the profile shows that as well, and `position.py` is what tells the two apart.
    """
    scores: defaultdict[float, list[float]] = defaultdict(list)
    for group in groups:
        for item in group.samples:
            if item.sample.depth is not None and item.score is not None:
                scores[item.sample.depth].append(item.score)
    return tuple(_point(depth, tuple(sorted(scores[depth])), confidence, binary=binary) for depth in sorted(scores))


def _point(depth: float, scores: tuple[float, ...], confidence: float, *, binary: bool) -> DepthPoint:
    ci_low, ci_high = shown_interval(scores, confidence, binary=binary)
    return DepthPoint(depth=depth, n_samples=len(scores), mean=mean_of(scores), ci_low=ci_low, ci_high=ci_high)
