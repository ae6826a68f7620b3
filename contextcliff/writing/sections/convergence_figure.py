"""How near the prose comes to the original's next words, measure by measure and length by length."""

from __future__ import annotations

from typing import TYPE_CHECKING

from contextcliff.records.report import Report
from contextcliff.reporting.figures.canvas import DIGIT, SMALL, blank
from contextcliff.writing.analysis.draws import level_of
from contextcliff.writing.measures.measure import MEASURES
from contextcliff.writing.prose_findings import MeasureLevel, Writing
from contextcliff.writing.sections.panels import about, page_heading
from contextcliff.writing.sections.writing_phrases import title

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_CELL_WIDTH, _CELL_HEIGHT = 0.66, 0.25
_LEAST_WIDTH = 6.0
_CLIP = 0.5
"""Colours are full at this share above or below the original."""
_FAR = 9.995


def convergence_figure(report: Report, writing: Writing) -> Figure:
    """Draw a run that has tiers: (mean - original) / |original| in every cell; within 10% framed, unknown hatched."""
    import matplotlib as mpl
    import numpy as np
    from matplotlib.patches import Rectangle

    tiers = writing.tiers
    width, height = max(_LEAST_WIDTH, _CELL_WIDTH * len(tiers)), _CELL_HEIGHT * len(MEASURES)
    figure, axes = blank(width=width, height=height)
    levels = [[level_of(tier, measure.name) for tier in tiers] for measure in MEASURES]
    shares = np.array([[np.nan if (d := difference(level)) is None else d for level in row] for row in levels])
    colours = mpl.colormaps["PuOr_r"].with_extremes(bad="0.92")
    image = axes.imshow(np.ma.masked_invalid(shares), cmap=colours, vmin=-_CLIP, vmax=_CLIP, aspect="auto")
    for row, cells in enumerate(levels):
        for column, level in enumerate(cells):
            share = difference(level)
            corner = (column - 0.5, row - 0.5)
            if share is None:
                axes.add_patch(Rectangle(corner, 1, 1, facecolor="0.92", edgecolor="0.75", hatch="////", linewidth=0))
                continue
            if level.converged:
                axes.add_patch(Rectangle((column - 0.44, row - 0.4), 0.88, 0.8, fill=False, edgecolor="0.1"))
            axes.text(
                column, row, _percent(share), ha="center", va="center", fontsize=7,
                color="white" if abs(share) > 0.7 * _CLIP else "black",
            )  # fmt: skip
    axes.set_yticks(range(len(MEASURES)), labels=[title(measure.name) for measure in MEASURES], fontsize=SMALL)
    labels = [f"{tier.context_tokens:,}" for tier in tiers]
    axes.set_xticks(range(len(tiers)), labels=labels, fontsize=SMALL)
    if DIGIT * (max(map(len, labels), default=0) + 1) > width / max(1, len(tiers)):
        axes.tick_params(axis="x", rotation=45)
        for label in axes.get_xticklabels():
            label.set(ha="right", rotation_mode="anchor")
    axes.tick_params(length=0)
    axes.set_xlabel("context length in tokens", fontsize=9)
    scale = figure.add_axes((1 + 0.2 / width, 0.5, 0.16 / width, 0.5))
    bar = figure.colorbar(image, cax=scale, ticks=[-_CLIP, -0.1, 0.1, _CLIP])
    bar.ax.set_yticklabels(["50% below or more", "10% below", "10% above", "50% above or more"], fontsize=SMALL)
    page_heading(
        axes,
        report,
        title="Against the original's next words",
        subtitle=f"{about(report, writing)}. How far the mean of the rounds lies above or below the original's figure;"
        " framed: within 10%; hatched: not measured, or 0 in the original",
    )
    return figure


def difference(level: MeasureLevel) -> float | None:
    """How far the mean lies from the original's figure, as a share of it; None where that is 0 or unknown."""
    if level.mean is None or level.original is None:
        return None
    if level.original == 0:
        return 0.0 if level.mean == 0 else None
    return (level.mean - level.original) / abs(level.original)


def _percent(share: float) -> str:
    if abs(share) < _FAR:
        return f"{whole:+}%" if (whole := round(100 * share)) else "0%"
    return "> 10×" if share > 0 else "< −10×"
