"""The four core measures of the prose by context length: their means, and round by round."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence
from typing import TYPE_CHECKING

from contextcliff.records.generation import ScoredSample
from contextcliff.records.report import Report
from contextcliff.reporting.figures.marks import RED
from contextcliff.writing.prose_findings import Writing
from contextcliff.writing.sections.panels import (
    about,
    core_measures,
    grid,
    mean_line,
    measure_panel,
    page_heading,
    settle,
    shared_legend,
    stand_in,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def core_figure(report: Report, writing: Writing) -> Figure:
    """Means with bootstrap intervals beside the original's line and the author's band."""
    figure, page, panels = grid(rows=2, columns=2)
    for axes, measure in zip(panels, core_measures(writing), strict=True):
        measure_panel(axes, writing, measure)
        mean_line(axes, writing, measure)
    _dress(page, panels, report, writing, title="Writing by context length")
    return figure


def rounds_figure(report: Report, writing: Writing, *, scored: Sequence[ScoredSample]) -> Figure:
    """The same panels with a thin line for each round; a round that was not complete is crossed."""
    figure, page, panels = grid(rows=2, columns=2)
    for axes, measure in zip(panels, core_measures(writing), strict=True):
        measure_panel(axes, writing, measure)
        _round_lines(axes, scored, measure)
        mean_line(axes, writing, measure)
    _dress(page, panels, report, writing, title="Writing round by round")
    return figure


def _round_lines(axes: Axes, scored: Sequence[ScoredSample], measure: str) -> None:
    import matplotlib as mpl

    rounds: defaultdict[int, dict[int, float]] = defaultdict(dict)
    for item in scored:
        rounds[item.sample.trial][item.sample.context_tokens] = item.details.get(measure, math.nan)
    colours = mpl.colormaps["viridis"].resampled(max(2, len(rounds)))
    for position, trial in enumerate(sorted(rounds)):
        values = dict(sorted(rounds[trial].items()))
        axes.plot(
            list(values), list(values.values()), ".-", color=colours(position), linewidth=0.8, markersize=4, alpha=0.65,
            # A line a round would drown the legend; their colours go from the first round to the last.
            label="a round (dark: the first)" if position == 0 else None,
        )  # fmt: skip
    failed = [
        (item.sample.context_tokens, item.details[measure])
        for item in scored
        if item.failure is not None and measure in item.details
    ]
    if failed:
        axes.plot(
            [at for at, _ in failed], [value for _, value in failed], "x", color=RED, markersize=6, zorder=5,
            label="a round that failed",
        )  # fmt: skip


def _dress(page: Axes, panels: Sequence[Axes], report: Report, writing: Writing, *, title: str) -> None:
    for axes in panels:
        settle(axes)
    shared_legend(page, panels)
    page_heading(page, report, title=title, subtitle=f"{about(report, writing)}{stand_in(writing)}")
