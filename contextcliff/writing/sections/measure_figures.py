"""The figures of the prose by length: core measures, rounds, and all against the original."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence
from typing import TYPE_CHECKING

from contextcliff.findings.drawing import DIGIT, RED, SMALL, blank
from contextcliff.records.generation import ScoredSample
from contextcliff.records.report import Report
from contextcliff.writing.analysis.draws import level_of
from contextcliff.writing.analysis.measured_lengths import Lengths
from contextcliff.writing.measures.measure import MEASURES
from contextcliff.writing.prose_findings import MeasureLevel, Writing
from contextcliff.writing.sections.panels import (
    about,
    core_measures,
    grid,
    mean_line,
    measure_panel,
    page_heading,
    settle,
    shared_legend,
    stand_in,
)
from contextcliff.writing.sections.shown_lengths import as_shown, shown_lengths
from contextcliff.writing.sections.writing_phrases import title, value

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def core_figure(report: Report, writing: Writing) -> Figure:
    """Means with bootstrap intervals beside the original's line and the author's band."""
    writing = as_shown(writing)
    figure, page, panels = grid(rows=2, columns=2)
    for axes, measure in zip(panels, core_measures(writing), strict=True):
        measure_panel(axes, writing, measure)
        mean_line(axes, writing, measure)
    _dress(page, panels, report, writing, title="Writing by length")
    return figure


def rounds_figure(report: Report, writing: Writing, *, scored: Sequence[ScoredSample]) -> Figure:
    """The same panels with a thin line for each round; a round that was not complete is crossed."""
    lengths = shown_lengths(writing).of_asked
    writing = as_shown(writing)
    figure, page, panels = grid(rows=2, columns=2)
    for axes, measure in zip(panels, core_measures(writing), strict=True):
        measure_panel(axes, writing, measure)
        _round_lines(axes, scored, measure, lengths=lengths)
        mean_line(axes, writing, measure)
    _dress(page, panels, report, writing, title="Writing round by round")
    return figure


def _round_lines(axes: Axes, scored: Sequence[ScoredSample], measure: str, *, lengths: Lengths) -> None:
    import matplotlib as mpl

    rounds: defaultdict[int, dict[int, float]] = defaultdict(dict)
    for item in scored:
        rounds[item.sample.trial][lengths[item.sample.context_tokens]] = item.details.get(measure, math.nan)
    colours = mpl.colormaps["viridis"].resampled(max(2, len(rounds)))
    for position, trial in enumerate(sorted(rounds)):
        values = dict(sorted(rounds[trial].items()))
        axes.plot(
            list(values), list(values.values()), ".-", color=colours(position), linewidth=0.8, markersize=4, alpha=0.65,
            # A line a round would drown the legend; their colours go from the first round to the last.
            label="a round (dark: the first)" if position == 0 else None,
        )  # fmt: skip
    failed = [
        (lengths[item.sample.context_tokens], item.details[measure])
        for item in scored
        if item.failure is not None and measure in item.details
    ]
    if failed:
        axes.plot(
            [at for at, _ in failed], [value for _, value in failed], "x", color=RED, markersize=6, zorder=5,
            label="a round that failed",
        )  # fmt: skip


def _dress(page: Axes, panels: Sequence[Axes], report: Report, writing: Writing, *, title: str) -> None:
    for axes in panels:
        settle(axes)
    shared_legend(page, panels)
    page_heading(page, report, title=title, subtitle=f"{about(report, writing)}{stand_in(writing)}")


_CELL_WIDTH, _CELL_HEIGHT = 0.66, 0.25
_LEAST_WIDTH = 6.0
_CLIP = 0.5
"""Colours are full at this share above or below the original."""
_FAR = 9.995
_UNMEASURED = "0.85"


def convergence_figure(report: Report, writing: Writing) -> Figure:
    """Draw a run that has tiers: (mean - original) / |original| in every cell; within 10% framed.

    Where the original has no figure, or 0, a share says nothing: the mean itself stands there. Grey is not measured.
    """
    import matplotlib as mpl
    import numpy as np
    from matplotlib.patches import Rectangle

    writing = as_shown(writing)
    tiers = writing.tiers
    width, height = max(_LEAST_WIDTH, _CELL_WIDTH * len(tiers)), _CELL_HEIGHT * len(MEASURES)
    figure, axes = blank(width=width, height=height)
    levels = [[level_of(tier, measure.name) for tier in tiers] for measure in MEASURES]
    shares = np.array([[np.nan if (d := difference(level)) is None else d for level in row] for row in levels])
    colours = mpl.colormaps["PuOr_r"].with_extremes(bad=_UNMEASURED)
    image = axes.imshow(np.ma.masked_invalid(shares), cmap=colours, vmin=-_CLIP, vmax=_CLIP, aspect="auto")
    for row, cells in enumerate(levels):
        for column, level in enumerate(cells):
            share = difference(level)
            corner = (column - 0.5, row - 0.5)
            if share is None:
                if level.mean is not None:
                    axes.add_patch(Rectangle(corner, 1, 1, facecolor="white", edgecolor="none"))
                    axes.text(column, row, value(level.mean), ha="center", va="center", fontsize=7, style="italic")
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
    tilted = DIGIT * (max(map(len, labels), default=0) + 1) > width / max(1, len(tiers))
    if tilted:
        axes.tick_params(axis="x", rotation=45)
        for label in axes.get_xticklabels():
            label.set(ha="right", rotation_mode="anchor")
    axes.tick_params(length=0)
    axes.set_xlabel(shown_lengths(writing).name, fontsize=9)
    scale = figure.add_axes((1 + 0.2 / width, 0.5, 0.16 / width, 0.5))
    bar = figure.colorbar(image, cax=scale, ticks=[-_CLIP, -0.1, 0.1, _CLIP])
    bar.ax.set_yticklabels(["50% below or more", "10% below", "10% above", "50% above or more"], fontsize=SMALL)
    page_heading(
        axes,
        report,
        title="Against the original's next words",
        subtitle=f"{about(report, writing)}. How far the mean of the rounds lies above or below the original's figure",
    )
    _convergence_key(axes, tilted=tilted, height=height)
    return figure


def _convergence_key(axes: Axes, *, tilted: bool, height: float) -> None:
    """What a frame, italics and grey mean, under the axis of lengths."""
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    handles: list[Artist] = [
        Patch(facecolor="none", edgecolor="0.1", label="within 10%"),
        Patch(facecolor=_UNMEASURED, edgecolor="0.6", label="not measured"),
        Line2D([], [], linestyle="none", label="italic: the mean itself, where the original has none or 0"),
    ]
    axes.legend(
        handles=handles, loc="upper left", bbox_to_anchor=(0.0, -(0.95 if tilted else 0.55) / height),
        borderaxespad=0.0, ncols=2, frameon=False, fontsize=SMALL,
    )  # fmt: skip


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
