"""Score by depth and length: where in the text the model loses the thread."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from contextcliff.findings import phrases
from contextcliff.findings.drawing import (
    ABOVE,
    BELOW,
    DIGIT,
    SMALL,
    ScoreColours,
    blank,
    depth_labels,
    heading,
    score_colours,
)
from contextcliff.records.analysis import DepthCell
from contextcliff.records.report import Report

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.image import AxesImage
    from matplotlib.patches import Rectangle

_CELL_WIDTH, _CELL_HEIGHT = 0.62, 0.42
_LEAST_WIDTH, _LEAST_HEIGHT = 4.6, 0.8
_UNMEASURED = "0.85"
_FRAME = (0, (2.2, 1.4))
_TICK = 0.16
"""Least distance of two labels of the scale, in inches."""


def heatmap_figure(report: Report) -> Figure:
    """Draw a report that has cells: depth downwards from the start of the text, length to the right.

    Cells are equally wide and high whatever their lengths and depths. The two sides of the threshold have hues of their
    own, and grey is kept for what was not measured: a cell that its controls say can't show a cliff is framed. How many
    samples a cell has stands over its column where all of the length have as many, else in the cell.
    """
    import numpy as np

    cells = report.analysis.cells
    lengths = sorted({cell.asked_tokens for cell in cells})
    depths = sorted({cell.depth for cell in cells})
    width = max(_LEAST_WIDTH, _CELL_WIDTH * len(lengths))
    height = max(_LEAST_HEIGHT, _CELL_HEIGHT * len(depths))
    grid = np.full((len(depths), len(lengths)), np.nan)
    for cell in cells:
        grid[depths.index(cell.depth), lengths.index(cell.asked_tokens)] = math.nan if cell.mean is None else cell.mean

    threshold = phrases.threshold_score(report)
    colours = score_colours(threshold)
    figure, axes = blank(width=width, height=height)
    axes.set_facecolor(_UNMEASURED)
    image = axes.imshow(np.ma.masked_invalid(grid), cmap=colours.colormap, norm=colours.norm, aspect="auto")
    axes.set_yticks(range(len(depths)), labels=depth_labels(depths), fontsize=SMALL)
    axes.set_ylabel("depth", fontsize=9)
    tilted = DIGIT * (len(f"{max(lengths):,}") + 1) > width / len(lengths)
    axes.set_xticks(range(len(lengths)), labels=[f"{tokens:,}" for tokens in lengths], fontsize=SMALL)
    if tilted:
        axes.tick_params(axis="x", rotation=45)
        for label in axes.get_xticklabels():
            label.set(ha="right", rotation_mode="anchor")
    axes.set_xlabel("prompt length asked for, in tokens", fontsize=9)
    axes.set_xticks([i + 0.5 for i in range(len(lengths) - 1)], minor=True)
    axes.set_yticks([i + 0.5 for i in range(len(depths) - 1)], minor=True)
    axes.grid(which="minor", color="white", linewidth=1.5)
    axes.tick_params(which="both", length=0)
    counts = _counts(cells)
    for tokens, count in counts.items():
        axes.annotate(
            f"n={count:,}", xy=(lengths.index(tokens), 1), xycoords=("data", "axes fraction"), xytext=(0, 3),
            textcoords="offset points", ha="center", va="bottom", fontsize=7, color="0.35",
        )  # fmt: skip
    for cell in cells:
        column, row = lengths.index(cell.asked_tokens), depths.index(cell.depth)
        ink = "black" if cell.mean is None else colours.ink(cell.mean)
        if not cell.informative:
            axes.add_patch(_frame(column, row, colour=ink))
        words = _words(cell, counted=cell.asked_tokens not in counts)
        axes.text(column, row, words, ha="center", va="center", fontsize=7, linespacing=1.15, color=ink)
    _scale(figure, image, threshold=threshold, width=width, height=height)
    _legend(
        axes,
        gaps=bool(np.isnan(grid).any()),
        blind=any(not cell.informative for cell in cells),
        drop=(0.95 if tilted else 0.55) / height,
    )
    heading(
        axes,
        title=f"Score by depth and length: {report.run.model}",
        subtitle=f"{report.run.task}, KV policy {report.run.kv_policy}. Depth 0 is the start of the text"
        f"{_sides(colours, threshold)}",
        inches=width,
        above=18,
    )
    return figure


def _sides(colours: ScoreColours, threshold: float | None) -> str:
    if threshold is None or not colours.is_split:
        return ""
    return f"; {BELOW} is below the threshold {phrases.threshold_figure(threshold)}, {ABOVE} at it or above"


def _scale(figure: Figure, image: AxesImage, *, threshold: float | None, width: float, height: float) -> None:
    """The colours beside the cells, scores evenly spaced, with a line and a label at the threshold."""
    axes = figure.add_axes((1 + 0.15 / width, 0.0, 0.16 / width, 1.0))
    bar = figure.colorbar(image, cax=axes)
    # A norm of two slopes would give the scores above the threshold as much of the bar as all below it.
    axes.set_yscale("linear")
    marked = threshold is not None and 0.0 <= threshold <= 1.0
    ticks = [
        tick
        for tick in ([0.0, 1.0] if height < 1.2 else [0.0, 0.2, 0.4, 0.6, 0.8, 1.0])
        if not marked or abs(tick - (threshold or 0.0)) * height >= _TICK
    ]
    labels = {tick: f"{tick:.1f}" for tick in ticks}
    if marked and threshold is not None:
        labels[threshold] = f"{phrases.threshold_figure(threshold)} threshold"
        axes.axhline(threshold, color="black", linewidth=2.0)
    places = sorted(labels)
    bar.set_ticks(places, labels=[labels[place] for place in places])
    axes.tick_params(labelsize=SMALL)
    axes.set_title("score", fontsize=SMALL)


def _legend(axes: Axes, *, gaps: bool, blind: bool, drop: float) -> None:
    """What grey and a frame mean, where there is any, under the axis of lengths."""
    from matplotlib.patches import Patch

    handles = []
    if gaps:
        handles.append(Patch(facecolor=_UNMEASURED, edgecolor="0.6", label="no data"))
    if blind:
        label = "can't show a cliff, by its controls\n(low ceiling or high floor)"
        handles.append(Patch(facecolor="none", edgecolor="black", linestyle=_FRAME, label=label))
    if handles:
        axes.legend(
            handles=handles, loc="upper left", bbox_to_anchor=(0.0, -drop), borderaxespad=0.0, ncols=2, frameon=False,
            fontsize=SMALL, handlelength=1.8, columnspacing=1.6,
        )  # fmt: skip


def _frame(column: int, row: int, *, colour: str) -> Rectangle:
    """Inside the edges of a cell that can't show a cliff; its colour and its figures stay."""
    from matplotlib.patches import Rectangle

    corner = (column - 0.44, row - 0.43)
    return Rectangle(corner, 0.88, 0.86, fill=False, edgecolor=colour, linestyle=_FRAME, linewidth=1.0)


def _counts(cells: Sequence[DepthCell]) -> Mapping[int, int]:
    """Samples a cell, of lengths whose cells have equally many: they are said once, over the column."""
    of_length: defaultdict[int, set[int]] = defaultdict(set)
    for cell in cells:
        of_length[cell.asked_tokens].add(cell.n_samples)
    return {tokens: min(counts) for tokens, counts in of_length.items() if len(counts) == 1}


def _words(cell: DepthCell, *, counted: bool) -> str:
    mean = phrases.MISSING if cell.mean is None else f"{cell.mean:.2f}"
    return f"{mean}\nn={cell.n_samples:,}" if counted else mean
