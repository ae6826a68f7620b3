"""What the figures share: a blank figure, text that a font can draw, and an axis of lengths.

Figures are built as objects, without pyplot: no global state, no window, safe in a thread. An axes
fills its whole figure, so that sizes in inches are known when labels are thinned; what stands around
it is taken in when the figure is saved with a tight bounding box.
"""

from __future__ import annotations

import math
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.axes import Axes
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
    """Whether the labels stand at 45 degrees and so reach further down."""

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


def drawable(text: str) -> str:
    """The text with a question mark for what the figure's font lacks (each would be a warning)."""
    from matplotlib.font_manager import FontProperties, findfont, get_font

    font = get_font(findfont(FontProperties()))
    return "".join(char if char.isprintable() and font.get_char_index(ord(char)) else "?" for char in text)


def width_of(text: str) -> float:
    """Width in inches of drawable text at `SMALL`."""
    from matplotlib.font_manager import FontProperties, findfont, get_font

    font = get_font(findfont(FontProperties()))
    font.set_size(SMALL, 72)
    font.set_text(text, 0)
    return float(font.get_width_height()[0]) / 64 / 72


def heading(axes: Axes, *, title: str, subtitle: str, inches: float, above: float) -> None:
    """Title and subtitle at the left, `above` points over the axes, wrapped to its width."""
    from matplotlib.text import Text

    lines: list[Text] = []
    for text, size, weight, colour in ((subtitle, 9, "normal", "0.35"), (title, 12, "bold", "black")):
        wrapped = textwrap.wrap(drawable(text), width=max(30, int(inches * 110 / size)), max_lines=3)
        lines.append(
            axes.annotate(
                "\n".join(wrapped),
                xy=(0, 1),
                xycoords="axes fraction",
                xytext=(0, above),
                textcoords="offset points",
                ha="left",
                va="bottom",
                fontsize=size,
                fontweight=weight,
                color=colour,
                parse_math=False,
            )
        )
        above += len(wrapped) * size * 1.35 + 3


def lengths_on_x(axes: Axes, *, lengths: Sequence[int], shown: Sequence[int], inches: float, label: str) -> LengthAxis:
    """Make x a log2 axis with a tick at each of `lengths`, reaching over `shown` as well; `label` says what they are.

    Every length has its tick; its label is left out where it would run into a neighbour's.
    """
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
    flat = legible(places, gap=DIGIT * (max(len(f"{tokens:,}") for tokens in ticks) + 1))
    if len(flat) == len(ticks):
        kept = flat
    else:
        kept, axis = legible(places, gap=TILTED_GAP), replace(axis, tilted=True)
    labels = [f"{tokens:,}" if i in kept else "" for i, tokens in enumerate(ticks)]
    axes.set_xticks(ticks, labels=labels, fontsize=SMALL)
    axes.xaxis.set_minor_locator(NullLocator())
    if axis.tilted:
        axes.tick_params(axis="x", rotation=45)
        for text in axes.get_xticklabels():
            text.set(ha="right", rotation_mode="anchor")
    axes.set_xlabel(label, fontsize=9, labelpad=6)
    return axis


def legend_below(axes: Axes, *, axis: LengthAxis, height: float, columns: int) -> None:
    """The legend under the axis of lengths, where no point can lie beneath it; `height` in inches."""
    drop = 0.95 if axis.tilted else 0.55
    axes.legend(
        loc="upper left",
        bbox_to_anchor=(0.0, -drop / height),
        borderaxespad=0.0,
        ncols=columns,
        frameon=False,
        fontsize=SMALL,
        handlelength=1.8,
        columnspacing=1.6,
    )


def legible(places: Sequence[float], *, gap: float) -> frozenset[int]:
    """Which of the labels at `places` (ascending, inches) can stand at least `gap` apart.

    The first and the last are kept: they say what range was tested.
    """
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
