"""Score by depth and length: where in the text the model loses the thread."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from contextcliff.records.analysis import DepthCell
from contextcliff.records.report import Report
from contextcliff.reporting.figures.canvas import DIGIT, SMALL, blank, heading
from contextcliff.reporting.figures.marks import depth_labels

if TYPE_CHECKING:
    from matplotlib.colors import Colormap
    from matplotlib.figure import Figure
    from matplotlib.patches import Rectangle

_CELL_WIDTH, _CELL_HEIGHT = 0.62, 0.42
_DULL = "0.85"


def heatmap_figure(report: Report) -> Figure:
    """Draw a report that has cells: depth downwards from the start of the text, length to the right.

    Cells are equally wide and high whatever their lengths and depths; one without data is grey, and one that
    its controls say can't show a cliff is hatched grey, with its figures.
    """
    import matplotlib as mpl
    import numpy as np

    lengths = sorted({cell.asked_tokens for cell in report.analysis.cells})
    depths = sorted({cell.depth for cell in report.analysis.cells})
    width = max(4.6, _CELL_WIDTH * len(lengths))
    height = max(0.8, _CELL_HEIGHT * len(depths))
    grid = np.full((len(depths), len(lengths)), np.nan)
    for cell in report.analysis.cells:
        grid[depths.index(cell.depth), lengths.index(cell.asked_tokens)] = math.nan if cell.mean is None else cell.mean

    colours = mpl.colormaps["RdYlGn"].with_extremes(bad=_DULL)
    figure, axes = blank(width=width, height=height)
    image = axes.imshow(np.ma.masked_invalid(grid), cmap=colours, vmin=0, vmax=1, aspect="auto")
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
    for cell in report.analysis.cells:
        column, row = lengths.index(cell.asked_tokens), depths.index(cell.depth)
        if not cell.informative:
            axes.add_patch(_hatching(column, row))
        axes.text(
            column,
            row,
            _words(cell),
            ha="center",
            va="center",
            fontsize=7,
            linespacing=1.15,
            color=_ink(cell.mean, colours=colours) if cell.informative else "black",
            # The strokes of the hatching would run through the figures.
            bbox=None if cell.informative else {"boxstyle": "round,pad=0.15", "facecolor": _DULL, "edgecolor": "none"},
        )
    scale = figure.add_axes((1 + 0.15 / width, 0.0, 0.16 / width, 1.0))
    figure.colorbar(image, cax=scale, ticks=[0, 1] if height < 1.2 else [0, 0.2, 0.4, 0.6, 0.8, 1])
    scale.tick_params(labelsize=SMALL)
    scale.set_title("score", fontsize=SMALL)
    blind = any(not cell.informative for cell in report.analysis.cells)
    hatched = "; hatched grey can't show a cliff, by its controls (low ceiling or high floor)" if blind else ""
    heading(
        axes,
        title=f"Score by depth and length: {report.run.model}",
        subtitle=f"{report.run.task}, KV policy {report.run.kv_policy}. Depth 0 is the start of the text; grey is no"
        f" data{hatched}",
        inches=width,
        above=18,
    )
    return figure


def _hatching(column: int, row: int) -> Rectangle:
    """Covers the colour of a cell that can't show a cliff, under the grid."""
    from matplotlib.patches import Rectangle

    return Rectangle((column - 0.5, row - 0.5), 1, 1, facecolor=_DULL, edgecolor="0.6", hatch="////", linewidth=0)


def _words(cell: DepthCell) -> str:
    mean = "-" if cell.mean is None else f"{cell.mean:.2f}"
    return f"{mean}\nn={cell.n_samples:,}"


def _ink(mean: float | None, *, colours: Colormap) -> str:
    """Black or white, whichever reads better on the colour of a score."""
    if mean is None:
        return "black"
    red, green, blue, _ = colours(mean)
    return "white" if 0.299 * red + 0.587 * green + 0.114 * blue < 0.45 else "black"
