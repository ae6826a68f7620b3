"""Scores by length of several runs in one picture: equal curves stay visible, and a shared threshold is one line."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from contextcliff.findings import phrases
from contextcliff.findings.drawing import (
    MEASURED,
    RED,
    LengthAxis,
    drawable,
    lengths_on_x,
    line_across,
    or_nan,
    scores_on_y,
    told,
)
from contextcliff.findings.published import published_ends, published_lines, ticks_with
from contextcliff.records.published import PublishedCurve

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST_RUNS = 10
# Okabe and Ito's colours without their yellow, which is pale on white, and four dark ones: apart for the colour-blind.
_COLOURS = (
    *("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00"),
    *("#56B4E9", "#000000", "#882255", "#7A7A2A", "#666666"),
)
_MARKS = ("o", "s", "^", "D", "v", "P", "X", "<", ">", "*")
_STROKES = ("-", (0, (5, 2)), (0, (6, 2, 1.5, 2)), (0, (1.5, 1.5)))
_APART, _LEAST_APART = 0.07, 0.02
"""Inches between the points of two runs at one length, and where the lengths lie close."""
DODGED = "points and caps of the runs stand a hair apart, so that equal ones are seen"


@dataclass(frozen=True, kw_only=True, slots=True)
class RunPoint:
    """The score of one length or bin; `tokens` is its measured median. None: nothing was scored."""

    tokens: int
    mean: float | None
    low: float | None
    high: float | None


@dataclass(frozen=True, kw_only=True, slots=True)
class RunCurve:
    """A run in the picture; its threshold is a score."""

    name: str
    points: tuple[RunPoint, ...]
    cap_tokens: int | None
    threshold: float | None


def draw_overlay(
    axes: Axes,
    curves: Sequence[RunCurve],
    *,
    inches: float,
    height: float,
    published: Sequence[PublishedCurve] = (),
) -> LengthAxis:
    """Draw at most `MOST_RUNS` runs, each with points or none, over axes of `inches` by `height`.

    Where all have one threshold it is one line, and else each run's has the colour of its curve. `published` curves
    stand thin behind them.
    """
    lengths = sorted({point.tokens for curve in curves for point in curve.points})
    caps = [curve.cap_tokens for curve in curves if curve.cap_tokens is not None]
    axis = lengths_on_x(
        axes,
        lengths=ticks_with(lengths, published),
        shown=[*caps, *published_ends(published)],
        inches=inches,
        label=MEASURED,
    )
    scores_on_y(axes)
    thresholds = {curve.threshold for curve in curves}
    shared = next(iter(thresholds)) if len(thresholds) == 1 else None
    if shared is not None:
        line_across(axes, score=shared, text=f"threshold {shared:.2f}", colour=RED)
    published_lines(axes, published, height=height, taken=() if shared is None else (shared,))
    for position, curve in enumerate(curves):
        _draw(axes, curve, position=position, shift=_shift(curves, axis, position), is_shared=shared is not None)
    return axis


def _draw(axes: Axes, curve: RunCurve, *, position: int, shift: float, is_shared: bool) -> None:
    colour, mark = _COLOURS[position % len(_COLOURS)], _MARKS[position % len(_MARKS)]
    stroke = _STROKES[position % len(_STROKES)]
    points = sorted(curve.points, key=lambda point: point.tokens)
    places = [max(1, point.tokens) * shift for point in points]
    (line,) = axes.plot(
        places,
        [or_nan(point.mean) for point in points],
        linestyle=stroke,
        marker=mark,
        color=colour,
        markersize=5.5,
        markeredgecolor="white",
        markeredgewidth=0.5,
        linewidth=1.5,
        zorder=4,
        label=drawable(f"{curve.name} ({_words(curve, is_shared=is_shared)})"),
    )
    told(
        line,
        *(
            f"{curve.name}: {phrases.score(point.mean)} at {point.tokens:,} tokens,"
            f" interval {phrases.interval(point.low, point.high)}"
            for point in points
            if point.mean is not None
        ),
    )
    lows, highs = [or_nan(point.low) for point in points], [or_nan(point.high) for point in points]
    axes.vlines(places, lows, highs, color=colour, alpha=0.5, linewidth=1.3, zorder=3)
    if curve.cap_tokens is not None:
        axes.axvline(curve.cap_tokens * shift, color=colour, linewidth=1.2, linestyle=stroke, alpha=0.8, zorder=2)
    if curve.threshold is not None and not is_shared:
        axes.axhline(curve.threshold, color=colour, linewidth=1.0, linestyle=stroke, alpha=0.6, zorder=2)


def _words(curve: RunCurve, *, is_shared: bool) -> str:
    cap = "no cap" if curve.cap_tokens is None else f"cap {curve.cap_tokens:,}"
    return cap if is_shared or curve.threshold is None else f"{cap}, threshold {curve.threshold:.2f}"


def _shift(curves: Sequence[RunCurve], axis: LengthAxis, position: int) -> float:
    """The factor by which the lengths of a run are moved: all of them stay within half a gap between two lengths."""
    gaps = [
        axis.inches_at(max(1, later)) - axis.inches_at(max(1, earlier))
        for curve in curves
        for earlier, later in itertools.pairwise(sorted({point.tokens for point in curve.points}))
    ]
    apart = max(_LEAST_APART, min(_APART, 0.5 * min(gaps, default=_APART * len(curves)) / max(1, len(curves))))
    return float((axis.high / axis.low) ** ((position - (len(curves) - 1) / 2) * apart / axis.inches))
