"""The mean over the tasks of a sweep by length, a line for each model and policy, published ones behind."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from contextcliff.analysis.task_means import TaskMeans
from contextcliff.findings.drawing import ASKED, blank, heading, legend_below
from contextcliff.records.published import PublishedCurve
from contextcliff.reporting.figures.overlay import DODGED, MOST_RUNS, RunCurve, RunPoint, draw_overlay

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_WIDTH, _HEIGHT = 7.5, 4.2


def task_means_figure(
    every: Sequence[TaskMeans], *, names: Sequence[str], published: Sequence[PublishedCurve] = ()
) -> Figure:
    """Draw at least one, and of many the first ten."""
    figure, axes = blank(width=_WIDTH, height=_HEIGHT)
    drawn = [_curve(means, name) for means, name in zip(every, names, strict=True)][:MOST_RUNS]
    axis = draw_overlay(axes, drawn, inches=_WIDTH, height=_HEIGHT, published=published)
    axes.set_xlabel(ASKED, fontsize=9, labelpad=6)
    legend_below(axes, axis=axis, height=_HEIGHT, columns=1)
    counts = sorted({len(means.tasks) for means in every})
    apart = f"; {DODGED}" if len(drawn) > 1 else ""
    heading(
        axes,
        title=f"Mean over {' or '.join(map(str, counts))} tasks, by length",
        subtitle=f"Bars: intervals of the mean; vertical lines: the last length whose interval is above{apart}",
        inches=_WIDTH,
        above=8,
    )
    return figure


def _curve(means: TaskMeans, name: str) -> RunCurve:
    return RunCurve(
        name=name,
        points=tuple(
            RunPoint(tokens=point.asked_tokens, mean=point.mean, low=point.low, high=point.high)
            for point in means.points
        ),
        cap_tokens=means.cap_tokens,
        threshold=means.threshold,
    )
