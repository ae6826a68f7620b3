"""What the figures share. They are built without pyplot: no global state, no window, safe in a thread. An axes fills
its whole figure, so that sizes in inches are known when labels are thinned; a tight bounding box takes in what stands
around it."""

from __future__ import annotations

import json
import math
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from contextcliff.findings import phrases
from contextcliff.records.analysis import Bin
from contextcliff.records.report import Report, RunRecord

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.colors import Colormap, Normalize
    from matplotlib.figure import Figure

SMALL = 8
"""Font size of labels, in points."""
DIGIT = 0.078
"""Width of a character at `SMALL`, in inches, with some air."""
TILTED_GAP = 0.24
"""Least distance of tick labels that stand at 45 degrees, in inches."""
BOTH = "prompt length in tokens (ticks: as asked; points: as measured, median)"
MEASURED = "prompt length in tokens, as measured (median of each length)"
ASKED = "prompt length in tokens, as asked"
BINS = "prompt length in tokens, as measured (ticks: shortest prompt of each bin, longest of all)"
"""What an axis of lengths shows."""


@dataclass(frozen=True, kw_only=True, slots=True)
class LengthAxis:
    """An axis of lengths, drawn `inches` wide from `low` to `high` tokens on a log2 scale."""

    low: float
    high: float
    inches: float
    tilted: bool
    """Whether the labels stand at 45 degrees."""

    @property
    def under(self) -> float:
        """Inches below the axes that its labels take."""
        return 0.95 if self.tilted else 0.55

    def inches_at(self, tokens: float) -> float:
        """Where a length lies, in inches from the left."""
        return self.inches * math.log2(tokens / self.low) / math.log2(self.high / self.low)


def blank(*, width: float, height: float) -> tuple[Figure, Axes]:
    """A figure whose single axes is `width` by `height` inches."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), facecolor="white")
    FigureCanvasAgg(figure)
    return figure, figure.add_axes((0.0, 0.0, 1.0, 1.0))


def _font() -> Any:
    from matplotlib.font_manager import FontProperties, findfont, get_font

    return get_font(findfont(FontProperties()))


def drawable(text: str) -> str:
    """The text with a question mark for what the figure's font lacks (each would be a warning)."""
    font = _font()
    return "".join(char if char.isprintable() and font.get_char_index(ord(char)) else "?" for char in text)


def short(text: str, longest: int) -> str:
    """Drawable text of at most so many characters, cut in its middle: the ends tell names apart."""
    shown, half = drawable(text), (longest - 3) // 2
    return shown if len(shown) <= longest else f"{shown[:half]}...{shown[-half:]}"


def width_of(text: str) -> float:
    """Width in inches of drawable text at `SMALL`."""
    font = _font()
    font.set_size(SMALL, 72)
    font.set_text(text, 0)
    return float(font.get_width_height()[0]) / 64 / 72


def heading(axes: Axes, *, title: str, subtitle: str, inches: float, above: float) -> None:
    """Title and subtitle at the left, `above` points over the axes, wrapped to its width."""
    for text, size, weight, colour in ((subtitle, 9, "normal", "0.35"), (title, 12, "bold", "black")):
        wrapped = textwrap.wrap(drawable(text), width=max(30, int(inches * 110 / size)), max_lines=3)
        axes.annotate(
            "\n".join(wrapped), xy=(0, 1), xycoords="axes fraction", xytext=(0, above), textcoords="offset points",
            ha="left", va="bottom", fontsize=size, fontweight=weight, color=colour, parse_math=False,
        )  # fmt: skip
        above += len(wrapped) * size * 1.35 + 3


def run_heading(axes: Axes, run: RunRecord, name: str, words: str, *, inches: float, above: float) -> None:
    """The heading of a figure of one run, with `words` behind its task and policy."""
    subtitle = f"{run.task}, KV policy {run.kv_policy}. {words}"
    heading(axes, title=f"{name}: {run.model}", subtitle=subtitle, inches=inches, above=above)


def lengths_on_x(axes: Axes, *, lengths: Sequence[int], shown: Sequence[int], inches: float, label: str) -> LengthAxis:
    """Make x a log2 axis with a tick at each of `lengths` that reaches over `shown` too; `label` says what they are."""
    from matplotlib.ticker import NullLocator

    ends = [max(1, tokens) for tokens in (*lengths, *shown)]
    octaves = math.log2(max(ends) / min(ends))
    # A single length, and the few tokens between asked and measured, must not fill the axis: an octave does.
    margin = max(0.05 * octaves, 0.5 * (1 - octaves))
    axis = LengthAxis(low=min(ends) / 2**margin, high=max(ends) * 2**margin, inches=inches, tilted=False)
    axes.set_xscale("log", base=2)
    axes.set_xlim(axis.low, axis.high)
    ticks = sorted({max(1, tokens) for tokens in lengths})
    places = [axis.inches_at(tokens) for tokens in ticks]
    kept = legible(places, gap=DIGIT * (max(len(f"{tokens:,}") for tokens in ticks) + 1))
    if len(kept) < len(ticks):
        kept, axis = legible(places, gap=TILTED_GAP), replace(axis, tilted=True)
    labels = [f"{tokens:,}" if i in kept else "" for i, tokens in enumerate(ticks)]
    axes.set_xticks(ticks, labels=labels, fontsize=SMALL)
    axes.xaxis.set_minor_locator(NullLocator())
    if axis.tilted:
        tilt(axes)
    axes.set_xlabel(label, fontsize=9, labelpad=6)
    return axis


def tilt(axes: Axes) -> None:
    """Have the labels of x stand at 45 degrees."""
    axes.tick_params(axis="x", rotation=45)
    for text in axes.get_xticklabels():
        text.set(ha="right", rotation_mode="anchor")


def over_lengths(
    bins: Sequence[Bin], *, height: float, shown: Sequence[int] = (), ticks: Sequence[int] | None = None
) -> tuple[Figure, Axes, LengthAxis]:
    """A figure as wide as so many lengths need, over them and what else is `shown`; ticks are those of the bins if none
    are given."""
    width = min(13.0, max(8.0, 0.42 * len(bins)))
    figure, axes = blank(width=width, height=height)
    label = BOTH if _as_asked(bins) else MEASURED
    if any(b.natural_lengths for b in bins):  # nobody asked for those of documents
        label = BINS
    lengths = length_ticks(bins) if ticks is None else ticks
    reached = [*(b.median_tokens for b in bins), *shown]
    return figure, axes, lengths_on_x(axes, lengths=lengths, shown=reached, inches=width, label=label)


def legend_under(axes: Axes, *, drop: float, **options: Any) -> None:
    """A legend without a frame, `drop` heights of the axes under them."""
    axes.legend(
        loc="upper left", bbox_to_anchor=(0.0, -drop), borderaxespad=0.0, frameon=False, fontsize=SMALL,
        handlelength=1.8, columnspacing=1.6, **options,
    )  # fmt: skip


def legible(places: Sequence[float], *, gap: float) -> frozenset[int]:
    """Which of the labels at `places` (ascending, inches) can stand at least `gap` apart."""
    kept: list[int] = []
    for i, place in enumerate(places):
        if not kept or place - places[kept[-1]] >= gap:
            kept.append(i)
    last = len(places) - 1
    if kept and kept[-1] != last:
        while len(kept) > 1 and places[last] - places[kept[-1]] < gap:
            kept.pop()
        if places[last] - places[kept[-1]] >= gap:
            kept.append(last)
    return frozenset(kept)


LINE = 14
"""Height of a row of words above the axes, in points."""
PAD_INCHES = 0.15
"""Around a figure that is saved."""
TOLD = "told:"
ON_DARK, ON_LIGHT = "#fefefe", "#010101"
"""White and black upon a colour that stays on a dark page, where white and black are exchanged."""


def told(artist: Artist, *texts: str) -> None:
    """Have a page say this where a reader points: one text for all of it, or one for each mark of a line that is no
    NaN."""
    artist.set_gid(TOLD + json.dumps(texts))


def told_bins(line: Artist, bins: Sequence[Bin]) -> None:
    """Have each mark of a line of mean scores say the numbers of its bin."""
    known = [b for b in bins if b.mean is not None]
    scores = (f"{phrases.score(b.mean)} at {b.median_tokens:,} tokens" for b in known)
    ends = (f"interval {phrases.interval(b.ci_low, b.ci_high)}, n = {b.n_samples:,}" for b in known)
    told(line, *map(", ".join, zip(scores, ends, strict=True)))


def hollow_points(axes: Axes, report: Report, bins: Sequence[Bin], *, size: float) -> None:
    """Make the points hollow of lengths that are neither shown to clear the threshold nor to be below it."""
    shown = [b for b in bins if b.mean is not None and not report.analysis.is_decided(b)]
    if shown:
        (points,) = axes.plot(
            [max(1, b.median_tokens) for b in shown], [or_nan(b.mean) for b in shown], "o", color=BLUE,
            markerfacecolor="white", markersize=size, label="not decided", zorder=4.5,
        )  # fmt: skip
        told_bins(points, shown)


BLUE, ORANGE, PURPLE, RED, GREY = "#1f5fa8", "#c2571a", "#4b1d8f", "#b3261e", "0.3"
LINES = ("o-", "s--", "^-.", "D:")
"""Marks and strokes of several lines in one picture: told apart without their colours."""
_NEAR = 0.05
"""Share of the length asked for by which a prompt may differ from it."""


def scores_on_y(axes: Axes) -> None:
    """Make y an axis of scores, 0-1, with room for a whole marker at either end."""
    axes.set_ylim(-0.04, 1.04)
    grid_on_y(axes, label="score")


def grid_on_y(axes: Axes, *, label: str) -> None:
    """Name y, with lines behind what is drawn."""
    axes.set_ylabel(label, fontsize=9)
    axes.tick_params(axis="y", labelsize=SMALL)
    axes.grid(axis="y", color="0.9", linewidth=0.8)
    axes.set_axisbelow(True)


def interval_bars(
    axes: Axes, *, places: Sequence[float], lows: Sequence[float | None], highs: Sequence[float | None], label: str
) -> None:
    """A bar from the lower to the upper end of each interval of scores; none where there is no interval."""
    ends = zip(places, lows, highs, strict=True)
    known = [(at, (low + high) / 2, (high - low) / 2) for at, low, high in ends if low is not None and high is not None]
    at, middle, spread = zip(*known, strict=True) if known else ((), (), ())
    axes.errorbar(at, middle, yerr=spread, fmt="none", ecolor=BLUE, elinewidth=1.2, capsize=3, alpha=0.6, label=label)


def silent_points(axes: Axes, *, places: Sequence[float]) -> None:
    """Crosses at score 0 where nothing was scored: a gap alone could be overlooked."""
    if places:
        axes.plot(places, [0.0] * len(places), "x", color="0.45", label="nothing scored", zorder=4)


def counts_above(
    axes: Axes, *, places: Sequence[float], inches: Sequence[float], rows: Sequence[tuple[str, Sequence[int], str]]
) -> float:
    """Rows of counts (name, a count a place, colour) above the points; returns their height in points."""
    digits = max(len(f"{n:,}") for _, row, _ in rows for n in row)
    kept = legible(inches, gap=DIGIT * (digits + 1))
    above = 4.0
    for name, row, colour in rows:
        write_above(axes, name, x=None, above=above, colour=colour)
        for i in sorted(kept):
            write_above(axes, f"{row[i]:,}", x=places[i], above=above, colour=colour if row[i] else GREY)
        above += LINE
    return above


def write_above(
    axes: Axes, text: str, *, x: float | None, above: float, colour: str, align: str = "center", bold: bool = False
) -> None:
    """Write over the axes at x, or left of them (None), `above` points higher than their upper edge."""
    axes.annotate(
        drawable(text), xy=(x or 0.0, 1), xycoords="axes fraction" if x is None else ("data", "axes fraction"),
        xytext=(-5 if x is None else 0, above), textcoords="offset points", ha="right" if x is None else align,
        va="bottom", fontsize=SMALL, fontweight="bold" if bold else "normal", color=colour, annotation_clip=False,
        parse_math=False,
    )  # fmt: skip


def line_across(axes: Axes, *, score: float, text: str, colour: str) -> None:
    """A dashed line at a score, named at its right end. A line break in `text` has to be the caller's own."""
    axes.axhline(score, color=colour, linestyle="--", linewidth=1.2)
    axes.annotate(
        text, xy=(1, score), xycoords=("axes fraction", "data"), xytext=(6, 0), textcoords="offset points", va="center",
        fontsize=SMALL, color=colour, annotation_clip=False,
    )  # fmt: skip


def length_ticks(bins: Sequence[Bin]) -> list[int]:
    """Where an axis has ticks: the lengths that were asked for, measured ones where those are others, of documents the
    ends of the bins."""
    if any(b.natural_lengths for b in bins):
        return sorted({*(b.min_tokens for b in bins), max(b.max_tokens for b in bins)})
    return [b.asked_tokens if _as_asked(bins) else b.median_tokens for b in bins]


def _as_asked(bins: Sequence[Bin]) -> bool:
    return all(abs(b.median_tokens - b.asked_tokens) <= _NEAR * b.asked_tokens for b in bins)


def bin_bars(axes: Axes, bins: Sequence[Bin], *, values: Sequence[float], colour: str, label: str = "") -> None:
    """A bar from the shortest to the longest prompt of each bin, at its value."""
    lows, highs = [max(1, b.min_tokens) for b in bins], [max(1, b.max_tokens) for b in bins]
    axes.hlines(values, lows, highs, color=colour, linewidth=3.5, alpha=0.75, label=label, zorder=3)
    # A bin of one length, or of nearly one, has no width; its ends are seen all the same.
    axes.plot([*lows, *highs], [*values, *values], linestyle="none", marker="|", color=colour, markersize=8, zorder=3)


def name_above(axes: Axes, text: str, *, axis: LengthAxis, tokens: float, above: float) -> None:
    """Write what a length is over the axes, aligned so that the words stay over them."""
    place = axis.inches_at(max(1, tokens)) / axis.inches
    align = "left" if place < 0.2 else "right" if place > 0.8 else "center"
    write_above(axes, text, x=tokens, above=above, align=align, colour=PURPLE, bold=True)


def or_nan(value: float | None) -> float:
    """What isn't there as matplotlib takes it: a gap."""
    return math.nan if value is None else value


@dataclass(frozen=True, kw_only=True, slots=True)
class ScoreColours:
    """A map of scores from 0 to 1 to colours; its two halves meet at the threshold, if there is one."""

    colormap: Colormap
    norm: Normalize

    def of(self, score: float) -> tuple[float, float, float]:
        """Red, green and blue of a score, 0-1 each."""
        red, green, blue, _ = self.colormap(float(self.norm(score)))
        return red, green, blue

    def ink(self, score: float) -> str:
        """Black or white, whichever has more contrast on the colour of a score."""
        light = luminance(self.of(score))
        return ON_DARK if 1.05 / (light + 0.05) > (light + 0.05) / 0.05 else ON_LIGHT


def score_colours(threshold: float | None) -> ScoreColours:
    """Orange below the threshold, purple at it and above; one scale from dark to light where there is no threshold."""
    import matplotlib as mpl
    import numpy as np
    from matplotlib.colors import ListedColormap, Normalize, TwoSlopeNorm

    if threshold is None:
        return ScoreColours(colormap=mpl.colormaps["cividis"], norm=Normalize(0, 1))
    # Without the map's middle a score just below differs from one just above; its ends are nearly black.
    sides = mpl.colormaps["PuOr"](np.concatenate((np.linspace(0.07, 0.36, 128), np.linspace(0.64, 0.93, 128))))
    centre = min(0.999, max(0.001, threshold))  # both sides have to be there
    norm = TwoSlopeNorm(vmin=0.0, vcenter=centre, vmax=1.0)
    return ScoreColours(colormap=ListedColormap(sides, name="score by threshold"), norm=norm)


def luminance(colour: tuple[float, float, float]) -> float:
    """Relative luminance of an sRGB colour, 0-1 (WCAG 2.2)."""
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in colour)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue
