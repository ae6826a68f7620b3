"""The jobs of a sweep in two pictures: their safe caps in a row each, and their scores by length over each other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from contextcliff.findings.drawing import MEASURED, SMALL, blank, drawable, heading, legend_below, lengths_on_x
from contextcliff.records.sweep import SweepRow
from contextcliff.reporting.figures.overlay import DODGED, MOST_RUNS, RunCurve, RunPoint, draw_overlay

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_WIDTH, _ROW, _EDGE, _HEIGHT = 7.5, 0.3, 0.3, 4.2
_CAP, _NONE, _LINE = "#1f5fa8", "#b3261e", "0.6"


def caps_figure(rows: Sequence[SweepRow], *, names: Mapping[int, str]) -> Figure:
    """Draw at least one job that has scores: its cap, where its score is shown to cross, and how far it was tested."""
    labels = [f"{row.task} · {names[row.job]}" for row in rows]
    height = _ROW * len(rows) + 2 * _EDGE
    figure, axes = blank(width=_WIDTH, height=height)
    tested = sorted({point.tokens for row in rows for point in row.curve})
    caps = sorted({row.cap_tokens for row in rows if row.cap_tokens is not None})
    axis = lengths_on_x(axes, lengths=tested, shown=caps, inches=_WIDTH, label=MEASURED)
    for place, row in enumerate(rows):
        lengths = [point.tokens for point in row.curve]
        axes.plot(
            [min(lengths), max(lengths)], [place, place], color="0.85", linewidth=5, solid_capstyle="butt", zorder=1
        )
        if row.crossing_low is not None and row.crossing_high is not None:
            ends = (row.crossing_low, row.crossing_high)
            axes.plot(ends, [place, place], color=_LINE, linewidth=2, marker="|", markersize=9, zorder=2)
        if row.cap_tokens is None:
            axes.plot([min(lengths)], [place], "x", color=_NONE, markersize=8, zorder=3)
        else:
            mark = ">" if row.censored else "o"
            axes.plot([row.cap_tokens], [place], mark, color=_CAP, markersize=8, zorder=3)
    axes.set_ylim(len(rows) - 0.5 + _EDGE / _ROW, -0.5 - _EDGE / _ROW)
    axes.set_yticks(range(len(rows)), [drawable(label) for label in labels], fontsize=SMALL)
    axes.grid(visible=True, axis="x", color="0.9", linewidth=0.7)
    axes.set_axisbelow(True)
    _explain(axes)
    legend_below(axes, axis=axis, height=height, columns=5)
    heading(axes, title="Safe caps", subtitle="in tokens, at each job's threshold", inches=_WIDTH, above=8)
    return figure


def sweep_curves_figure(rows: Sequence[SweepRow], *, names: Mapping[int, str]) -> Figure:
    """Draw the scores by length of jobs of one task, at most ten, each with its interval, threshold and cap."""
    figure, axes = blank(width=_WIDTH, height=_HEIGHT)
    drawn = rows[:MOST_RUNS]
    axis = draw_overlay(axes, [_run_curve(row, name=names[row.job]) for row in drawn], inches=_WIDTH, height=_HEIGHT)
    legend_below(axes, axis=axis, height=_HEIGHT, columns=1)
    left = len(rows) - len(drawn)
    more = f"; the first {MOST_RUNS}, {left} more in the table" if left else ""
    heading(
        axes,
        title=f"{rows[0].task}: score by length",
        subtitle=f"Bars: intervals; vertical lines: safe caps; {DODGED}{more}",
        inches=_WIDTH,
        above=8,
    )
    return figure


def _run_curve(row: SweepRow, *, name: str) -> RunCurve:
    return RunCurve(
        name=name,
        points=tuple(RunPoint(tokens=p.tokens, mean=p.mean, low=p.low, high=p.high) for p in row.curve),
        cap_tokens=row.cap_tokens,
        threshold=row.threshold_score,
    )


def _explain(axes: Axes) -> None:
    """Entries of the legend; what they stand for is drawn many times."""
    axes.plot([], [], "o", color=_CAP, label="safe cap")
    axes.plot([], [], ">", color=_CAP, label="no cliff up to here")
    axes.plot([], [], "x", color=_NONE, label="no cap")
    axes.plot([], [], color=_LINE, marker="|", linewidth=2, label="the score crosses in here")
    axes.plot([], [], color="0.85", linewidth=5, label="tested lengths")
