"""The score at every length: means, intervals and tested bounds, zones, the threshold and the cap."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from contextcliff.findings import phrases
from contextcliff.findings.drawing import (
    BLUE,
    GREY,
    LINE,
    PURPLE,
    RED,
    LengthAxis,
    bin_bars,
    blank,
    counts_above,
    heading,
    legend_below,
    length_label,
    length_ticks,
    lengths_on_x,
    line_across,
    or_nan,
    scores_on_y,
    side_of,
    silent_points,
    write_above,
)
from contextcliff.findings.fitted_length import FittedLengths
from contextcliff.records.analysis import Bin, SafeCap
from contextcliff.records.report import Report
from contextcliff.reporting.figures.published_lines import published_ends, published_lines, ticks_with
from contextcliff.reporting.report_facts import Headline
from contextcliff.reporting.words.english import say

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_HEIGHT = 4.2
_FITTED = "#c2571a"
_ZONES = {"stable": "#2e9e4f", "transition": "#f0b429", "degraded": "#d64545"}


def score_figure(report: Report) -> Figure:
    """Draw a report that has bins.

    A length that was asked for is a point, and a line joins them. A bin of documents is a bar from its shortest prompt
    to its longest.
    """
    bins = sorted(report.analysis.bins, key=lambda a_bin: a_bin.median_tokens)
    width = min(13.0, max(8.0, 0.42 * len(bins)))
    figure, axes = blank(width=width, height=_HEIGHT)
    cap, answer = report.analysis.safe_cap.tokens, say(Headline(cap=report.analysis.safe_cap))
    axis = lengths_on_x(
        axes,
        lengths=ticks_with(length_ticks(bins), report.run.published),
        shown=[
            *(b.median_tokens for b in bins),
            *([] if cap is None else [cap]),
            *published_ends(report.run.published),
        ],
        inches=width,
        label=length_label(bins),
    )
    scores_on_y(axes)
    threshold = phrases.threshold_score(report)
    taken = () if threshold is None else (threshold,)
    published_lines(axes, report.run.published, height=_HEIGHT, taken=taken)
    _zones(axes, report, axis=axis)
    _points(axes, bins, cap=report.analysis.safe_cap)
    _threshold(axes, report)
    _fitted(axes, report, axis=axis)
    above = _counts(axes, bins, axis=axis)
    if cap is not None:
        _cap(axes, report, tokens=cap, axis=axis, above=above)
        above += LINE
    heading(
        axes,
        title=f"Score by length: {report.run.model}",
        subtitle=f"{report.run.task}, KV policy {report.run.kv_policy}. Safe cap: {answer}",
        inches=width,
        above=above + 4,
    )
    legend_below(axes, axis=axis, height=_HEIGHT, columns=4)
    return figure


def _zones(axes: Axes, report: Report, *, axis: LengthAxis) -> None:
    for zone in report.analysis.zones:
        low, high = max(zone.min_tokens, axis.low), min(zone.max_tokens, axis.high)
        if zone.name == "degraded" and not report.run.published:
            # It often starts at the longest test and would be a hair wide; past it, nothing gets better. Lines that
            # others have published go on for octaves there, and it is none of theirs.
            high = axis.high
        colour = _ZONES.get(zone.name, "0.5")
        if low < high:
            axes.axvspan(low, high, color=colour, alpha=0.12, linewidth=0, label=f"{zone.name} zone")
        elif low == high:
            # A zone of one length has no width; a line shows where it is.
            axes.axvline(low, color=colour, alpha=0.5, linewidth=4, label=f"{zone.name} zone")


def _points(axes: Axes, bins: Sequence[Bin], *, cap: SafeCap) -> None:
    """The points, joined; a length without a score breaks the line."""
    confidence = phrases.percent(cap.confidence)
    tokens = [max(1, b.median_tokens) for b in bins]
    means = [or_nan(b.mean) for b in bins]
    lows, highs = [or_nan(b.ci_low) for b in bins], [or_nan(b.ci_high) for b in bins]
    tested = [or_nan(b.tested_low) for b in bins]
    if any(math.isfinite(mean) for mean in means):
        is_natural = any(b.natural_lengths for b in bins)
        if is_natural:
            bin_bars(axes, bins, values=means, colour=BLUE, label="mean score, shortest to longest prompt")
        else:
            axes.fill_between(tokens, lows, highs, color=BLUE, alpha=0.15, linewidth=0)
        # The band has no width under a point with no scored neighbour; its own bar shows it.
        axes.vlines(
            tokens, lows, highs, color=BLUE, alpha=0.45, linewidth=2 if is_natural else 1,
            label=f"{confidence} interval",
        )  # fmt: skip
        style, label = ("o", "median prompt") if is_natural else ("o-", "mean score")
        axes.plot(tokens, means, style, color=BLUE, markersize=5, linewidth=1.6, label=label, zorder=4)
        if any(math.isfinite(bound) for bound in tested):
            axes.plot(
                tokens,
                tested,
                linestyle="none",
                marker="_",
                markersize=11,
                markeredgewidth=2,
                color="black",
                label=f"{phrases.bound_name(cap)} (one-sided, {confidence})",
                zorder=5,
            )
    silent_points(axes, places=[at for at, b in zip(tokens, bins, strict=True) if b.mean is None])


def _threshold(axes: Axes, report: Report) -> None:
    value = phrases.threshold_score(report)
    if value is None:
        return
    relative = report.analysis.safe_cap.relative_to_baseline
    basis = f"\n({phrases.percent(report.analysis.safe_cap.threshold)} of baseline)" if relative else ""
    line_across(axes, score=value, text=f"threshold {value:.2f}{basis}", colour=RED)


def _fitted(axes: Axes, report: Report, *, axis: LengthAxis) -> None:
    """Where the fitted curve falls to 80% and 50%, each with its interval, as far as the axis reaches."""
    fitted = report.analysis.finding(FittedLengths)
    lengths = () if fitted is None else (fitted.x80, fitted.x50)
    label = "fitted length and its interval"
    for length in lengths:
        if length.tokens is not None and length.score is not None:
            low = axis.low if length.ci_low is None else max(axis.low, length.ci_low)
            high = axis.high if length.ci_high is None else min(axis.high, length.ci_high)
            axes.hlines(length.score, low, high, color=_FITTED, linewidth=1.4, zorder=4)
            axes.plot(
                length.tokens, length.score, "D", color=_FITTED, markersize=5, linewidth=1.4, label=label, zorder=5
            )
            label = "_nolegend_"


def _counts(axes: Axes, bins: Sequence[Bin], *, axis: LengthAxis) -> float:
    """Rows of n, and of unscored samples if there are any, above the points; their height in points."""
    rows = [("n", [b.n_samples for b in bins], GREY)]
    if any(b.n_unscored for b in bins):
        rows.append(("unscored", [b.n_unscored for b in bins], RED))
    tokens = [max(1, b.median_tokens) for b in bins]
    return counts_above(axes, places=tokens, inches=[axis.inches_at(at) for at in tokens], rows=rows)


def _cap(axes: Axes, report: Report, *, tokens: int, axis: LengthAxis, above: float) -> None:
    axes.axvline(tokens, color=PURPLE, linewidth=1.8, zorder=3)
    beyond = " (no cliff up to the longest test)" if report.analysis.safe_cap.censored else ""
    align = side_of(axis.inches_at(max(1, tokens)) / axis.inches)
    write_above(axes, f"safe cap {tokens:,}{beyond}", x=tokens, above=above, align=align, colour=PURPLE, bold=True)
