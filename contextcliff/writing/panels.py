"""What the figures of a run's prose share: panels in a grid, each an axis of context lengths, under one heading."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from contextcliff.findings import phrases
from contextcliff.findings.drawing import BLUE, SMALL, LengthAxis, blank, drawable, heading, lengths_on_x, or_nan
from contextcliff.records.report import Report
from contextcliff.writing.levels import level_of, shown_lengths
from contextcliff.writing.measures.measure import BY_NAME, CORE
from contextcliff.writing.phrases import title, way
from contextcliff.writing.prose_findings import CompositeLevel, MeasureLevel, Writing

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
_LEGEND = 0.3


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
    *,
    rows: int,
    columns: int,
    count: int | None = None,
    width: float = PANEL_WIDTH,
    heights: Sequence[float] = (),
    under: float = _UNDER,
    legend: bool = True,
) -> tuple[Figure, Axes, list[Axes]]:
    """A figure, its whole page without axes, and `rows` times `columns` panels from the upper left.

    Where there are `count` panels, the last row may have fewer. `width` is a panel's in inches, `heights` are those of
    the rows, `PANEL_HEIGHT` where none are given, and `under` is the room for a panel's x axis; with `legend` there is
    room for one under them all.
    """
    high = list(heights) or [PANEL_HEIGHT] * rows
    across = _LEFT + columns * width + (columns - 1) * _BETWEEN
    down = sum(high) + rows * (_OVER + under) + (_LEGEND if legend else 0.0)
    figure, page = blank(width=across, height=down)
    page.set_axis_off()
    panels: list[Axes] = []
    top = down
    for row in high:
        bottom = top - _OVER - row
        for column in range(columns if count is None else min(columns, count - len(panels))):
            left = _LEFT + column * (width + _BETWEEN)
            panels.append(figure.add_axes((left / across, bottom / down, width / across, row / down)))
        top = bottom - under
    return figure, page, panels


def context_axis(axes: Axes, writing: Writing) -> LengthAxis:
    """Make x the axis of a panel's context lengths."""
    lengths = [tier.context_tokens for tier in writing.tiers]
    axis = lengths_on_x(axes, lengths=lengths, shown=(), inches=PANEL_WIDTH, label=shown_lengths(writing).name)
    axes.xaxis.labelpad = 3
    return axis


def panel_title(axes: Axes, text: str) -> None:
    """A title at the panel's upper left."""
    axes.set_title(drawable(text), loc="left", fontsize=10, fontweight="bold", pad=6, parse_math=False)


def measure_panel(axes: Axes, writing: Writing, measure: str) -> LengthAxis:
    """A panel's axes and title, the original's line and the author's band; the caller draws what was measured."""
    axis = context_axis(axes, writing)
    worse = way(measure)
    panel_title(axes, f"{title(measure)} ({worse})" if worse else title(measure))
    known = BY_NAME.get(measure)
    axes.set_ylabel(known.unit if known else "", fontsize=9)
    quiet_axes(axes)
    tokens = [tier.context_tokens for tier in writing.tiers]
    levels = [level_of(tier, measure) for tier in writing.tiers]
    # From edge to edge: with a single length, line and band would have no width.
    places = [axis.low, *tokens, axis.high]
    originals = [or_nan(level.original) for level in levels]
    lows, highs = [], []
    for level in levels:
        known_author = level.author_mean is not None and level.author_std is not None
        lows.append((level.author_mean or 0.0) - (level.author_std or 0.0) if known_author else math.nan)
        highs.append((level.author_mean or 0.0) + (level.author_std or 0.0) if known_author else math.nan)
    axes.fill_between(
        places, _widened(lows), _widened(highs), color=GREEN, alpha=0.12, linewidth=0, label="author's mean ± sd"
    )
    axes.plot(
        places, _widened(originals), color=GREEN, linestyle="--", linewidth=1.4, label="the original's next words"
    )
    if all(level.mean is None for level in levels):
        nothing_here(axes)
    return axis


def mean_line(axes: Axes, writing: Writing, measure: str) -> None:
    """The means of a measure, joined, each with its bootstrap interval."""
    tokens = [tier.context_tokens for tier in writing.tiers]
    levels = [level_of(tier, measure) for tier in writing.tiers]
    interval_lines(
        axes,
        tokens=tokens,
        levels=levels,
        colour=BLUE,
        label=f"mean of the rounds with its {phrases.percent(writing.confidence)} interval",
    )


def interval_lines(
    axes: Axes,
    *,
    tokens: Sequence[int],
    levels: Sequence[MeasureLevel | CompositeLevel],
    colour: str,
    label: str,
    style: str = "o-",
) -> None:
    """Means joined by a line, gaps where there is none, with the ends of their intervals."""
    known = [
        (at, level.ci_low, level.ci_high)
        for at, level in zip(tokens, levels, strict=True)
        if level.mean is not None and level.ci_low is not None and level.ci_high is not None
    ]
    axes.vlines(
        [at for at, *_ in known], [low for _, low, _ in known], [high for *_, high in known], color=colour,
        linewidth=5, alpha=0.3,
    )  # fmt: skip
    axes.plot(
        tokens, [or_nan(level.mean) for level in levels], style, color=colour, markersize=5, linewidth=1.7, label=label
    )


def nothing_here(axes: Axes, text: str = "not measured") -> None:
    """Words in the middle of a panel that has nothing to show."""
    axes.set_yticks([])
    axes.text(0.5, 0.5, text, transform=axes.transAxes, ha="center", va="center", fontsize=10, color="0.45")


def settle(axes: Axes) -> None:
    """Keep the ticks of y that lie on the axis: ticks beyond its ends are not drawn, but take space."""
    low, high = axes.get_ylim()
    axes.set_yticks([tick for tick in axes.get_yticks() if low <= tick <= high])


def quiet_axes(axes: Axes) -> None:
    """Small figures and a light grid."""
    axes.tick_params(axis="y", labelsize=SMALL)
    axes.grid(axis="y", color="0.9", linewidth=0.8)
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)


def shared_legend(page: Axes, panels: Sequence[Axes]) -> None:
    """One legend under all panels, each name once."""
    handles: dict[str, Artist] = {}
    for panel in panels:
        for handle, label in zip(*panel.get_legend_handles_labels(), strict=True):
            handles.setdefault(label, handle)
    if handles:
        page.legend(
            list(handles.values()), list(handles), loc="lower left", bbox_to_anchor=(0.0, 0.0), borderaxespad=0.0,
            ncols=5, frameon=False, fontsize=SMALL, handlelength=1.8, columnspacing=1.6,
        )  # fmt: skip


def page_heading(page: Axes, report: Report, *, title: str, subtitle: str) -> None:
    """The figure's title with the model's name, over all panels."""
    figure = page.figure
    heading(page, title=f"{title}: {report.run.model}", subtitle=subtitle, inches=figure.get_figwidth(), above=4)  # type: ignore[union-attr]


def about(report: Report, writing: Writing) -> str:
    """What was continued and how often."""
    rounds = sorted({tier.n_rounds for tier in writing.tiers})
    counted = f"{rounds[0]:,}" if len(set(rounds)) == 1 else f"{rounds[0]:,} to {rounds[-1]:,}" if rounds else "no"
    return (
        f"{writing.document_id} from character {writing.continuation_point:,} on, {counted} rounds a length,"
        f" KV policy {report.run.kv_policy}{f', RoPE {report.run.rope}' if report.run.rope else ''}"
    )


def _widened(values: Sequence[float]) -> list[float]:
    return [values[0], *values, values[-1]] if values else [math.nan, math.nan]
