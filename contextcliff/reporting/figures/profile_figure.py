"""Score by depth over all lengths: whether the model minds where in the text the evidence stands."""

from __future__ import annotations

from typing import TYPE_CHECKING

from contextcliff.analysis.position import PositionProfile
from contextcliff.records.report import Report
from contextcliff.reporting import phrases
from contextcliff.reporting.figures.canvas import DIGIT, SMALL, blank, heading, legible
from contextcliff.reporting.figures.heatmap_figure import depth_labels
from contextcliff.reporting.figures.marks import BLUE, GREY, counts_above, interval_bars, scores_on_y
from contextcliff.reporting.words.english import say

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_WIDTH, _HEIGHT = 7.0, 3.2
_LOW, _HIGH = -0.04, 1.04
"""Ends of the axis of depths: room for a whole marker at either end of the text."""


def profile_figure(report: Report, finding: PositionProfile, *, pattern: str) -> Figure:
    """Draw two depths or more: x is depth (0 the text's start), y the mean score; `pattern` says what was found."""
    points = sorted(finding.profile, key=lambda point: point.depth)
    figure, axes = blank(width=_WIDTH, height=_HEIGHT)
    depths = [point.depth for point in points]
    inches = [_WIDTH * (depth - _LOW) / (_HIGH - _LOW) for depth in depths]
    axes.set_xlim(_LOW, _HIGH)
    scores_on_y(axes)
    labels = depth_labels(depths)
    kept = legible(inches, gap=DIGIT * (max(map(len, labels)) + 1))
    axes.set_xticks(depths, labels=[text if i in kept else "" for i, text in enumerate(labels)], fontsize=SMALL)
    axes.set_xlabel("depth of the evidence (0: the start of the text, 1: its end)", fontsize=9, labelpad=6)
    interval_bars(
        axes,
        places=depths,
        lows=[point.ci_low for point in points],
        highs=[point.ci_high for point in points],
        label="interval",
    )
    axes.plot(depths, [point.mean for point in points], "o-", color=BLUE, markersize=5, linewidth=1.6, zorder=4)
    above = counts_above(axes, places=depths, inches=inches, rows=[("n", [point.n_samples for point in points], GREY)])
    is_tested = finding.position.pattern is not None
    shown_pattern = f", {pattern}" if is_tested else ""
    untested = "" if is_tested else f"; no pattern was tested: {say(finding.position.reason)}"
    heading(
        axes,
        title=f"Score by depth{shown_pattern}: {report.run.model}",
        subtitle=f"{report.run.task}, KV policy {report.run.kv_policy}. Mean score over all lengths, with its"
        f" {phrases.percent(report.analysis.safe_cap.confidence)} interval{untested}",
        inches=_WIDTH,
        above=above + 4,
    )
    return figure
