"""What the figures of a run's prose share: panels in a grid, each an axis of context lengths, under one heading."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from contextcliff.findings.drawing import SMALL, blank, drawable, heading, short, width_of
from contextcliff.writing.levels import level_of
from contextcliff.writing.measures.measure import BY_NAME, CORE
from contextcliff.writing.phrases import title
from contextcliff.writing.prose_findings import Writing

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


GREEN = "#2e7d4f"
PANEL_WIDTH, PANEL_HEIGHT = 5.2, 2.7
"""Of a panel's axes, in inches."""
_LEFT, _BETWEEN = 0.75, 0.95
"""Room for the labels of a y axis: of the first column, and between the columns."""
_OVER, _UNDER = 0.35, 0.8
"""Room for a panel's title, and for its x axis with labels that stand at 45 degrees."""
_LONGEST_NAME = 70


def core_measures(writing: Writing) -> tuple[str, ...]:
    """Context-Tester's four core measures; a measure that no length has is replaced by its stand-in."""
    return tuple(_stand_in(writing, name) or name for name in CORE)


def stand_in(writing: Writing) -> str:
    """A sentence for each core measure that is replaced; empty: none is."""
    instead = [(name, _stand_in(writing, name)) for name in CORE]
    return "".join(
        f". {title(name)} was not measured (no embeddings): {title(other)} stands in its place"
        for name, other in instead
        if other is not None
    )


def _stand_in(writing: Writing, measure: str) -> str | None:
    if any(level_of(tier, measure).mean is not None for tier in writing.tiers):
        return None
    return BY_NAME[measure].stand_in


def grid(
    count: int,
    *,
    columns: int,
    width: float = PANEL_WIDTH,
    heights: Sequence[float] = (PANEL_HEIGHT,),
    under: float = _UNDER,
) -> tuple[Figure, Axes, list[Axes]]:
    """A figure, its whole page without axes, and `count` panels from the upper left. In inches: a panel's `width`, the
    `heights` of the rows, or of all, and the room `under` a panel for its x axis."""
    rows = -(-count // columns)
    high = list(heights) * rows if len(heights) == 1 else heights
    across = _LEFT + columns * width + (columns - 1) * _BETWEEN
    down = sum(high) + rows * (_OVER + under)
    figure, page = blank(width=across, height=down)
    page.set_axis_off()
    panels: list[Axes] = []
    top = down
    for row in high:
        bottom = top - _OVER - row
        for column in range(min(columns, count - len(panels))):
            left = _LEFT + column * (width + _BETWEEN)
            panels.append(figure.add_axes((left / across, bottom / down, width / across, row / down)))
        top = bottom - under
    return figure, page, panels


def dress(page: Axes, panels: Iterable[Axes], *, title: str, subtitle: str) -> None:
    """The heading over all panels, and one legend under these, each name once."""
    handles: dict[str, Artist] = {}
    for panel in panels:
        for handle, label in zip(*panel.get_legend_handles_labels(), strict=True):
            handles.setdefault(short(label, _LONGEST_NAME).replace("$", r"\$"), handle)  # two would enclose a formula
    inches = page.figure.get_figwidth()  # type: ignore[union-attr]
    if handles:
        page.legend(
            list(handles.values()), list(handles), loc="upper left", bbox_to_anchor=(0.0, 0.0), borderaxespad=0.0,
            ncols=max(1, min(len(handles), int(inches / (max(map(width_of, handles)) + 0.7)))), frameon=False,
            fontsize=SMALL, handlelength=2.4, columnspacing=1.6,
        )  # fmt: skip
    heading(page, title=title, subtitle=subtitle, inches=inches, above=4)


def each_of(levels: Iterable[object], figure: str) -> NDArray[np.float64]:
    """A figure of each level; not a number where it is unknown."""
    return np.array([getattr(level, figure) for level in levels], dtype=float)


def panel_title(axes: Axes, text: str) -> None:
    axes.set_title(drawable(text), loc="left", fontsize=10, fontweight="bold", pad=6, parse_math=False)


def nothing_here(axes: Axes, text: str = "not measured") -> None:
    axes.set_yticks([])
    axes.text(0.5, 0.5, text, transform=axes.transAxes, ha="center", va="center", fontsize=10, color="0.45")


def quiet_axes(axes: Axes) -> None:
    axes.tick_params(axis="y", labelsize=SMALL)
    axes.grid(axis="y", color="0.9", linewidth=0.8)
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)
