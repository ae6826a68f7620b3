"""Latency by length: time to the first token and to the last, where they were measured."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from contextcliff.records.report import Report
from contextcliff.reporting.figures.canvas import SMALL, blank, heading, legend_below, lengths_on_x

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_HEIGHT = 3.2
_WIDEST_LINEAR = 30
"""From this ratio of the longest time to the shortest on, a linear axis flattens the short ones."""


def has_latency(report: Report) -> bool:
    """Whether any length has a time to draw."""
    return any(b.ttft_ms_median is not None or b.latency_ms_median is not None for b in report.analysis.bins)


def latency_figure(report: Report) -> Figure:
    """Draw a report for which `has_latency` holds."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    bins = sorted(
        (b for b in report.analysis.bins if b.ttft_ms_median is not None or b.latency_ms_median is not None),
        key=lambda a_bin: a_bin.median_tokens,
    )
    width = min(13.0, max(8.0, 0.42 * len(bins)))
    figure, axes = blank(width=width, height=_HEIGHT)
    tokens = [max(1, b.median_tokens) for b in bins]
    axis = lengths_on_x(axes, lengths=[b.asked_tokens for b in bins], shown=tokens, inches=width)
    first = [_seconds(b.ttft_ms_median) for b in bins]
    last = [_seconds(b.latency_ms_median) for b in bins]
    for times, style, colour, label in (
        (last, "s-", "#c2571a", "whole answer"),
        (first, "o-", "#1f5fa8", "time to first token"),
    ):
        if any(math.isfinite(time) for time in times):
            axes.plot(tokens, times, style, color=colour, markersize=5, linewidth=1.6, label=label)
    known = [time for time in (*first, *last) if math.isfinite(time)]
    if min(known) > 0 and max(known) / min(known) > _WIDEST_LINEAR:
        axes.set_yscale("log")
        axes.yaxis.set_major_locator(LogLocator(base=10, subs=(1, 2, 5)))
        axes.yaxis.set_minor_formatter(NullFormatter())
    else:
        axes.set_ylim(0, max(known) * 1.08 or 1)
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,g}"))
    axes.set_ylabel("seconds", fontsize=9)
    axes.tick_params(axis="y", labelsize=SMALL)
    axes.grid(axis="y", color="0.9", linewidth=0.8)
    axes.set_axisbelow(True)
    heading(
        axes,
        title=f"Latency by length: {report.run.model}",
        subtitle=f"{report.run.engine}, KV policy {report.run.kv_policy}. Medians; a prefix cache shortens them",
        inches=width,
        above=6,
    )
    legend_below(axes, axis=axis, height=_HEIGHT, columns=2)
    return figure


def _seconds(milliseconds: float | None) -> float:
    return math.nan if milliseconds is None else milliseconds / 1000
