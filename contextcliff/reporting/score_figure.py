"""Score by length: the points, what they are sure of, the threshold and the cap."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from contextcliff.records import Bin, Report, SafeCap
from contextcliff.reporting import phrases
from contextcliff.reporting.canvas import (
    DIGIT,
    SMALL,
    LengthAxis,
    blank,
    drawable,
    heading,
    legend_below,
    legible,
    lengths_on_x,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_HEIGHT = 4.2
_LINE = 14
"""Height of a row of figures above the axes, in points."""
_BLUE, _CAP, _WARN, _GREY = "#1f5fa8", "#4b1d8f", "#b3261e", "0.3"
_ZONES = {"stable": "#2e9e4f", "transition": "#f0b429", "degraded": "#d64545"}


def score_figure(report: Report) -> Figure:
    """Draw a report that has bins."""
    bins = sorted(report.bins, key=lambda a_bin: a_bin.median_tokens)
    width = min(13.0, max(8.0, 0.42 * len(bins)))
    figure, axes = blank(width=width, height=_HEIGHT)
    cap = report.safe_cap.tokens
    axis = lengths_on_x(
        axes,
        lengths=[b.asked_tokens for b in bins],
        shown=[*(b.median_tokens for b in bins), *([] if cap is None else [cap])],
        inches=width,
    )
    axes.set_ylim(-0.04, 1.04)
    axes.set_ylabel("score", fontsize=9)
    axes.tick_params(axis="y", labelsize=SMALL)
    axes.grid(axis="y", color="0.9", linewidth=0.8)
    axes.set_axisbelow(True)

    _zones(axes, report, axis=axis)
    _points(axes, bins, cap=report.safe_cap)
    _threshold(axes, report)
    above = _counts(axes, bins, axis=axis)
    if cap is not None:
        _cap(axes, report, tokens=cap, axis=axis, above=above)
        above += _LINE
    heading(
        axes,
        title=f"Score by length: {report.model}",
        subtitle=f"{report.task}, KV policy {report.kv_policy}. Safe cap: {phrases.headline(report)}",
        inches=width,
        above=above + 4,
    )
    legend_below(axes, axis=axis, height=_HEIGHT, columns=4)
    return figure


def _zones(axes: Axes, report: Report, *, axis: LengthAxis) -> None:
    for zone in report.zones:
        low, high = max(zone.min_tokens, axis.low), min(zone.max_tokens, axis.high)
        if zone.name == "degraded":
            # It often starts at the longest test and would be a hair wide; past it, nothing gets better.
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
    means = [_or_nan(b.mean) for b in bins]
    lows, highs = [_or_nan(b.ci_low) for b in bins], [_or_nan(b.ci_high) for b in bins]
    tested = [_or_nan(b.tested_low) for b in bins]
    if any(math.isfinite(mean) for mean in means):
        axes.fill_between(tokens, lows, highs, color=_BLUE, alpha=0.15, linewidth=0)
        # The band has no width under a point with no scored neighbour; its own bar shows it.
        axes.vlines(tokens, lows, highs, color=_BLUE, alpha=0.45, linewidth=1, label=f"{confidence} interval")
        axes.plot(tokens, means, "o-", color=_BLUE, markersize=5, linewidth=1.6, label="mean score", zorder=4)
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
    silent = [at for at, b in zip(tokens, bins, strict=True) if b.mean is None]
    if silent:
        axes.plot(
            silent,
            [0.0] * len(silent),
            linestyle="none",
            marker="x",
            color="0.45",
            label="nothing scored",
            zorder=4,
        )


def _threshold(axes: Axes, report: Report) -> None:
    value = phrases.threshold_score(report)
    if value is None:
        return
    axes.axhline(value, color=_WARN, linestyle="--", linewidth=1.2)
    relative = report.safe_cap.relative_to_baseline
    basis = f"\n({phrases.percent(report.safe_cap.threshold)} of baseline)" if relative else ""
    axes.annotate(
        f"threshold {value:.2f}{basis}",
        xy=(1, value),
        xycoords=("axes fraction", "data"),
        xytext=(6, 0),
        textcoords="offset points",
        va="center",
        fontsize=SMALL,
        color=_WARN,
        annotation_clip=False,
    )


def _counts(axes: Axes, bins: Sequence[Bin], *, axis: LengthAxis) -> float:
    """Rows of n, and of unscored samples if there are any, above the points; their height in points."""
    rows = [("n", [b.n_samples for b in bins], _GREY)]
    if any(b.n_unscored for b in bins):
        rows.append(("unscored", [b.n_unscored for b in bins], _WARN))
    tokens = [max(1, b.median_tokens) for b in bins]
    digits = max(len(f"{n:,}") for _, row, _ in rows for n in row)
    kept = legible([axis.inches_at(at) for at in tokens], gap=DIGIT * (digits + 1))
    above = 4.0
    for name, row, colour in rows:
        _over(axes, name, x=0.0, above=above, align="right", colour=colour, left_of_axes=True)
        for i in sorted(kept):
            _over(
                axes,
                f"{row[i]:,}",
                x=tokens[i],
                above=above,
                align="center",
                colour=colour if row[i] else _GREY,
            )
        above += _LINE
    return above


def _cap(axes: Axes, report: Report, *, tokens: int, axis: LengthAxis, above: float) -> None:
    axes.axvline(tokens, color=_CAP, linewidth=1.8, zorder=3)
    beyond = " (no cliff up to the longest test)" if report.safe_cap.censored else ""
    place = axis.inches_at(max(1, tokens)) / axis.inches
    align = "left" if place < 0.2 else "right" if place > 0.8 else "center"
    _over(axes, f"safe cap {tokens:,}{beyond}", x=tokens, above=above, align=align, colour=_CAP, bold=True)


def _over(
    axes: Axes,
    text: str,
    *,
    x: float,
    above: float,
    align: str,
    colour: str,
    bold: bool = False,
    left_of_axes: bool = False,
) -> None:
    """Write over the axes at a length, or left of it, `above` points higher than its upper edge."""
    axes.annotate(
        drawable(text),
        xy=(x, 1),
        xycoords="axes fraction" if left_of_axes else ("data", "axes fraction"),
        xytext=(-5 if left_of_axes else 0, above),
        textcoords="offset points",
        ha=align,
        va="bottom",
        fontsize=SMALL,
        fontweight="bold" if bold else "normal",
        color=colour,
        annotation_clip=False,
    )


def _or_nan(value: float | None) -> float:
    return math.nan if value is None else value
