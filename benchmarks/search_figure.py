"""Draws the costs that `search_simulated.py` found: tokens and octaves lost by law, now, before and by forty a length.

The search before is no longer in the product; `BEFORE` holds 2,000 runs a law of it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from search_simulated import LENGTHS, Costs, Model, octaves

from contextcliff.reporting.figures import write_figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Cost = tuple[float, float]
"""Mean of the prompt tokens in millions, and median of the octaves lost."""
BEFORE: Mapping[str, Cost] = {
    "perfect": (5.68, 0.0), "flat_98": (7.25, 0.0), "flat_95": (11.52, 0.0), "flat_90": (7.02, 5.0),
    "cliff_6k": (0.97, 0.03), "cliff_20k": (3.44, 0.04), "cliff_100k": (12.76, 0.02),
    "low_cliff_6k": (1.36, 0.03), "low_cliff_20k": (4.73, 0.04), "low_cliff_100k": (17.50, 0.02),
}  # fmt: skip
"""Blocks of eleven depths and bisection, by the commit before "Search sample by sample"."""
FORTY_TOKENS = 40 * sum(LENGTHS) / 1e6
LOOKS = (("search, now", "#D55E00"), ("search, before", "#E5B58C"), ("40 samples at every length", "#7F7F7F"))
MOST_OCTAVES = 3.0
"""Longer bars are cut, and say how long they are."""
DPI = 120


@dataclass(frozen=True, kw_only=True)
class Row:
    """A law, and what it costs by each design of `LOOKS`."""

    title: str
    costs: tuple[Cost, ...]


def draw_costs(found: Sequence[Costs], *, path: Path) -> None:
    """Write the figure of the laws that have figures of before."""
    write_figure(figure_of([row_of(each) for each in found if each.model.name in BEFORE]), path=path, dpi=DPI)


def row_of(costs: Costs) -> Row:
    model = costs.model
    now = float(np.mean([run.tokens for run in costs.found]) / 1e6), median(model, [run.cap for run in costs.found])
    fixed = FORTY_TOKENS, median(model, costs.forty)
    return Row(title=title_of(model), costs=(now, BEFORE[model.name], fixed))


def title_of(model: Model) -> str:
    if model.crossing is None:
        return model.title
    high, low = (f"{model.mean(model.crossing - back):.2f}".lstrip("0") for back in (1, 0))
    return f"cliff at {model.crossing / 1000:.0f}K, {high} to {low}"


def median(model: Model, caps: Sequence[int | None]) -> float:
    return float(np.median([octaves(model, cap) for cap in caps]))


def figure_of(rows: Sequence[Row]) -> Figure:
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure
    from matplotlib.patches import Patch

    figure = Figure(figsize=(9.0, 0.55 * len(rows) + 1.0), facecolor="white")
    figure.set_layout_engine("constrained", w_pad=0.1)
    FigureCanvasAgg(figure)
    left, right = figure.subplots(1, 2, sharey=True, width_ratios=(3, 2))
    draw_bars(left, [[tokens for tokens, _ in row.costs] for row in rows], most=20.0)
    draw_bars(right, [[lost for _, lost in row.costs] for row in rows], most=MOST_OCTAVES)
    left.set_yticks(range(len(rows)), labels=[row.title for row in rows])
    left.set_ylim(len(rows) - 0.5, -0.5)
    left.set_title("million prompt tokens, mean", loc="left", fontsize=11)
    right.set_title("octaves of the cap lost, median", loc="left", fontsize=11)
    names = [name for name, _ in LOOKS]
    handles = [Patch(color=colour) for _, colour in LOOKS]
    figure.legend(handles, names, loc="outside upper left", ncols=len(names), frameon=False, fontsize=11)
    return figure


def draw_bars(axes: Axes, rows: Sequence[Sequence[float]], *, most: float) -> None:
    """The bars of each row, each with its figure."""
    for row, values in enumerate(rows):
        for place, (value, (_, colour)) in enumerate(zip(values, LOOKS, strict=True)):
            at, is_cut = row + 0.28 * (place - 1), value > most
            length = 0.78 * most if is_cut else value
            figure = "no cap" if math.isinf(value) else f"{value:.2f}" if value < 10 else f"{value:.1f}"
            axes.barh(at, length, 0.25, color=colour)
            axes.annotate(
                f"… {figure}" if is_cut else figure, (length, at), xytext=(3, -0.5), textcoords="offset points",
                va="center", fontsize=9,
            )  # fmt: skip
    axes.set_xlim(0.0, most)
    axes.tick_params(labelsize=10.5, left=False)
    axes.tick_params(axis="x", labelsize=9)
    axes.locator_params(axis="x", nbins=6)
    axes.grid(axis="x", alpha=0.25)
    axes.set_axisbelow(True)
    axes.spines[["top", "right", "bottom"]].set_visible(False)
