"""What the figures of scores share: the axis of scores, interval bars, and words over and beside the axes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from contextcliff.records.analysis import Bin
from contextcliff.reporting.figures.canvas import BINS, BOTH, DIGIT, MEASURED, SMALL, drawable, legible

if TYPE_CHECKING:
    from matplotlib.axes import Axes

LINE = 14
"""Height of a row of words above the axes, in points."""
BLUE, PURPLE, RED, GREY = "#1f5fa8", "#4b1d8f", "#b3261e", "0.3"
LINES = ("o-", "s--", "^-.", "D:")
"""Marks and strokes of several lines in one picture: told apart without their colours."""
_NEAR = 0.05
"""Share of the length asked for by which a prompt may differ from it."""


def scores_on_y(axes: Axes) -> None:
    """Make y an axis of scores, 0-1, with room for a whole marker at either end."""
    axes.set_ylim(-0.04, 1.04)
    axes.set_ylabel("score", fontsize=9)
    axes.tick_params(axis="y", labelsize=SMALL)
    axes.grid(axis="y", color="0.9", linewidth=0.8)
    axes.set_axisbelow(True)


def interval_bars(
    axes: Axes,
    *,
    places: Sequence[float],
    lows: Sequence[float | None],
    highs: Sequence[float | None],
    label: str,
) -> None:
    """A bar from the lower to the upper end of each interval of scores; none where there is no interval."""
    known = [
        (at, low, high)
        for at, low, high in zip(places, lows, highs, strict=True)
        if low is not None and high is not None
    ]
    axes.errorbar(
        [at for at, _, _ in known],
        [(low + high) / 2 for _, low, high in known],
        yerr=[(high - low) / 2 for _, low, high in known],
        fmt="none",
        ecolor=BLUE,
        elinewidth=1.2,
        capsize=3,
        alpha=0.6,
        label=label,
    )


def silent_points(axes: Axes, *, places: Sequence[float]) -> None:
    """Crosses at score 0 where nothing was scored: a gap alone could be overlooked."""
    if places:
        axes.plot(
            places,
            [0.0] * len(places),
            linestyle="none",
            marker="x",
            color="0.45",
            label="nothing scored",
            zorder=4,
        )


def counts_above(
    axes: Axes,
    *,
    places: Sequence[float],
    inches: Sequence[float],
    rows: Sequence[tuple[str, Sequence[int], str]],
) -> float:
    """Rows of counts (name, a count a place, colour) above the points; returns their height in points.

    `inches` are the places in inches from the left: a count is left out where it would run into its neighbour.
    """
    digits = max(len(f"{n:,}") for _, row, _ in rows for n in row)
    kept = legible(inches, gap=DIGIT * (digits + 1))
    above = 4.0
    for name, row, colour in rows:
        write_above(axes, name, x=0.0, above=above, align="right", colour=colour, left_of_axes=True)
        for i in sorted(kept):
            write_above(
                axes, f"{row[i]:,}", x=places[i], above=above, align="center", colour=colour if row[i] else GREY
            )
        above += LINE
    return above


def write_above(
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
    """Write over the axes at x, or left of it, `above` points higher than its upper edge."""
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
        parse_math=False,
    )


def line_across(axes: Axes, *, score: float, text: str, colour: str) -> None:
    """A dashed line at a score, named at its right end. A line break in `text` has to be the caller's own."""
    axes.axhline(score, color=colour, linestyle="--", linewidth=1.2)
    axes.annotate(
        text,
        xy=(1, score),
        xycoords=("axes fraction", "data"),
        xytext=(6, 0),
        textcoords="offset points",
        va="center",
        fontsize=SMALL,
        color=colour,
        annotation_clip=False,
    )


def length_label(bins: Sequence[Bin]) -> str:
    """What the lengths of such bins are: nobody asked for those of documents."""
    if any(b.natural_lengths for b in bins):
        return BINS
    return BOTH if _as_asked(bins) else MEASURED


def length_ticks(bins: Sequence[Bin]) -> list[int]:
    """Where an axis has ticks: the lengths that were asked for, or measured ones where those are others.

    Of documents the ends of the bins."""
    if any(b.natural_lengths for b in bins):
        return sorted({*(b.min_tokens for b in bins), max(b.max_tokens for b in bins)})
    return [b.asked_tokens if _as_asked(bins) else b.median_tokens for b in bins]


def _as_asked(bins: Sequence[Bin]) -> bool:
    """Whether prompts are about as long as was asked for. Where an answer counts in that length they are much shorter,
    and ticks at lengths without a point would be misread."""
    return all(abs(b.median_tokens - b.asked_tokens) <= _NEAR * b.asked_tokens for b in bins)


def bin_bars(axes: Axes, bins: Sequence[Bin], *, values: Sequence[float], colour: str, label: str = "") -> None:
    """A bar from the shortest to the longest prompt of each bin, at its value."""
    lows, highs = [max(1, b.min_tokens) for b in bins], [max(1, b.max_tokens) for b in bins]
    axes.hlines(values, lows, highs, color=colour, linewidth=3.5, alpha=0.75, label=label, zorder=3)
    # A bin of one length, or of nearly one, has no width; its ends are seen all the same.
    axes.plot([*lows, *highs], [*values, *values], linestyle="none", marker="|", color=colour, markersize=8, zorder=3)


def depth_labels(depths: Sequence[float]) -> list[str]:
    """Depths with as few decimals as tell them apart and lose nothing to see."""
    for decimals in range(1, 5):
        labels = [f"{depth:.{decimals}f}" for depth in depths]
        close = all(abs(float(text) - depth) < 0.006 for text, depth in zip(labels, depths, strict=True))
        if close and len(set(labels)) == len(labels):
            return labels
    return [f"{depth:g}" for depth in depths]


def side_of(place: float) -> str:
    """How words over a place (a fraction of the axes' width) are aligned, so that they stay over the axes."""
    return "left" if place < 0.2 else "right" if place > 0.8 else "center"


def or_nan(value: float | None) -> float:
    """What isn't there as matplotlib takes it: a gap."""
    return math.nan if value is None else value
