"""Mean score by length and depth, for the heatmap."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from contextcliff.analysis.bins import Group, mean_of
from contextcliff.records import DepthCell


def depth_cells(groups: Sequence[Group]) -> tuple[DepthCell, ...]:
    """One cell for each length and depth that was planned, shortest and shallowest first.

    Only scored samples count; a cell where none was scored has the mean None. Samples without a depth
    are in no cell.
    """
    scores: defaultdict[tuple[int, float], list[float]] = defaultdict(list)
    for group in groups:
        for item in group.samples:
            if item.sample.depth is not None:
                cell = scores[group.asked_tokens, item.sample.depth]
                if item.score is not None:
                    cell.append(item.score)
    return tuple(
        DepthCell(
            asked_tokens=asked,
            depth=depth,
            n_samples=len(scores[asked, depth]),
            mean=mean_of(scores[asked, depth]) if scores[asked, depth] else None,
        )
        for asked, depth in sorted(scores)
    )
