"""Mean score by length and depth, for the heatmap."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from contextcliff.analysis.bins import Group
from contextcliff.analysis.controls import ControlBook, ControlLevel, mean
from contextcliff.records.analysis import DepthCell
from contextcliff.records.generation import ScoredSample
from contextcliff.statistics.descriptive import mean_of


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
