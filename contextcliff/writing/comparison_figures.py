"""Several runs' prose in one picture: the four core measures, and every measure that some run has."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from contextcliff.findings import phrases
from contextcliff.findings.drawing import LINES, SMALL, drawable, heading, lengths_on_x, or_nan, width_of
from contextcliff.writing.contest import WritingSide
from contextcliff.writing.levels import level_of
from contextcliff.writing.measures.measure import BY_NAME, CORE
from contextcliff.writing.panels import (
    GREEN,
    PANEL_WIDTH,
    core_measures,
    grid,
    nothing_here,
    panel_title,
    quiet_axes,
    stand_in,
)
from contextcliff.writing.phrases import better, title
from contextcliff.writing.prose_findings import Writing

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


_SMALL_WIDTH, _SMALL_HEIGHT = 3.1, 1.7
_SMALL_COLUMNS = 4
_SMALL_UNDER = 0.55
"""Inches under a panel for tilted x labels without the axis' name."""
_MOST_DOTTED = 3
"""Runs of different texts whose originals are drawn beside them; more would hide the runs."""
_LONGEST_NAME = 70


def core_figure(runs: Sequence[WritingSide]) -> Figure:
    """Context-Tester's four core measures, a line a run. `runs` are at least one."""
    writings = _writings(runs)
    embedded = next((one for one in writings if core_measures(one) == CORE), writings[0])
    figure, page, panels = grid(rows=2, columns=2, legend=False)
    for axes, measure in zip(panels, core_measures(embedded), strict=True):
        _panel(axes, runs, measure, inches=PANEL_WIDTH)
    _dress(
        page,
        panels,
        title=f"Writing by context length: {len(runs)} runs",
        subtitle=f"{_bands(writings)}{_dotted(writings)}{stand_in(embedded)}",
    )
    return figure


def measures_figure(runs: Sequence[WritingSide], *, measures: Sequence[str]) -> Figure:
    """A small panel for each of these measures and composites, by name."""
    rows, writings = math.ceil(len(measures) / _SMALL_COLUMNS), _writings(runs)
    figure, page, panels = grid(
        rows=rows,
        columns=_SMALL_COLUMNS,
        count=len(measures),
        width=_SMALL_WIDTH,
        heights=[_SMALL_HEIGHT] * rows,
        under=_SMALL_UNDER,
        legend=False,
    )
    for axes, measure in zip(panels, measures, strict=True):
        _panel(axes, runs, measure, inches=_SMALL_WIDTH, small=True)
    _dress(
        page,
        panels,
        title=f"Every measure by context length: {len(runs)} runs",
        subtitle=f"{_bands(writings)}{_dotted(writings)}",
    )
    return figure


def _writings(runs: Sequence[WritingSide]) -> list[Writing]:
    return [run.writing for run in runs]


def _bands(writings: Sequence[Writing]) -> str:
    levels = " and ".join(dict.fromkeys(phrases.percent(writing.confidence) for writing in writings))
    return f"Bands: {levels} bootstrap intervals of the means, where there are rounds"


def _panel(axes: Axes, runs: Sequence[WritingSide], measure: str, *, inches: float, small: bool = False) -> None:
    import matplotlib as mpl

    palette = mpl.colormaps["tab10"]
    writings = _writings(runs)
    lengths = sorted({tier.context_tokens for writing in writings for tier in writing.tiers})
    lengths_on_x(
        axes, lengths=lengths, shown=(), inches=inches, label="" if small else "context length in tokens, as asked"
    )
    axes.xaxis.labelpad = 3
    known = BY_NAME.get(measure)
    worse = known.worse if known else 1
    panel_title(axes, title(measure) + (f" ({better(worse)})" if worse else ""))
    axes.title.set_fontsize(9 if small else 10)
    axes.set_ylabel(known.unit if known else "0-100", fontsize=SMALL if small else 9)
    quiet_axes(axes)
    _originals(axes, writings, measure)
    for place, (run, writing) in enumerate(zip(runs, writings, strict=True)):
        colour, style = palette(place % palette.N), LINES[place % len(LINES)]
        _line(axes, writing, measure, name=run.name, colour=colour, style=style)
    means = [level_of(tier, measure).mean for writing in writings for tier in writing.tiers]
    known_means = [mean for mean in means if mean is not None]
    if not known_means:
        nothing_here(axes)
        return
    axes.ticklabel_format(axis="y", useOffset=False)
    low, high = axes.get_ylim()
    if high - low < 1e-6:  # one value everywhere: matplotlib would show its rounding
        axes.set_ylim(
            known_means[0] - 0.1 - 0.1 * abs(known_means[0]), known_means[0] + 0.1 + 0.1 * abs(known_means[0])
        )


def _line(axes: Axes, writing: Writing, measure: str, *, name: str, colour: object, style: str) -> None:
    tiers = sorted(writing.tiers, key=lambda tier: tier.context_tokens)
    tokens = [tier.context_tokens for tier in tiers]
    levels = [level_of(tier, measure) for tier in tiers]
    lows, highs = [or_nan(level.ci_low) for level in levels], [or_nan(level.ci_high) for level in levels]
    axes.plot(
        tokens,
        [or_nan(level.mean) for level in levels],
        style,
        color=colour,
        markersize=4,
        linewidth=1.5,
        label=_seen(name),
    )
    axes.fill_between(tokens, lows, highs, color=colour, alpha=0.13, linewidth=0)
    # A band of one length, or between two gaps, has no width.
    axes.vlines(tokens, lows, highs, color=colour, linewidth=1.2, alpha=0.45)


def _originals(axes: Axes, writings: Sequence[Writing], measure: str) -> None:
    """The author's own next words: one line where all runs go on from one place, else one a run while they are few."""
    import matplotlib as mpl

    palette = mpl.colormaps["tab10"]
    if _one_place(writings):
        originals: dict[int, list[float]] = {}
        for writing in writings:
            for tokens, value in _original(writing, measure):
                originals.setdefault(tokens, []).append(value)
        points = sorted(originals.items())
        axes.plot(
            [tokens for tokens, _ in points], [sum(values) / len(values) for _, values in points], "--", color=GREEN,
            linewidth=1.3, label="the original's next words" if points else None,
        )  # fmt: skip
    elif len(writings) <= _MOST_DOTTED:
        for place, writing in enumerate(writings):
            points_of_run = _original(writing, measure)
            axes.plot(
                [tokens for tokens, _ in points_of_run], [value for _, value in points_of_run], ":", linewidth=1.1,
                color=palette(place), alpha=0.8, label=None,
            )  # fmt: skip


def _one_place(writings: Sequence[Writing]) -> bool:
    """Whether all go on from one known place of one text."""
    places = {(writing.document_id, writing.continuation_point) for writing in writings}
    return len(places) == 1 and writings[0].continuation_point > 0


def _dotted(writings: Sequence[Writing]) -> str:
    known = any(level.original is not None for one in writings for tier in one.tiers for level in tier.measures)
    few = known and not _one_place(writings) and len(writings) <= _MOST_DOTTED
    return "; dotted: the original's next words beside each run" if few else ""


def _original(writing: Writing, measure: str) -> list[tuple[int, float]]:
    points = ((tier.context_tokens, level_of(tier, measure).original) for tier in writing.tiers)
    return [(tokens, value) for tokens, value in points if value is not None]


def _dress(page: Axes, panels: Sequence[Axes], *, title: str, subtitle: str) -> None:
    """The heading over all panels, and one legend under them."""
    handles: dict[str, Artist] = {}
    for panel in panels:
        for handle, label in zip(*panel.get_legend_handles_labels(), strict=True):
            handles.setdefault(_short(drawable(label)), handle)
    inches = page.figure.get_figwidth()  # type: ignore[union-attr]
    widest = max((width_of(name) for name in handles), default=1.0)
    page.legend(
        list(handles.values()), list(handles), loc="upper left", bbox_to_anchor=(0.0, 0.0), borderaxespad=0.0,
        ncols=max(1, min(len(handles), int(inches / (widest + 0.7)))), frameon=False, fontsize=SMALL,
        handlelength=2.4, columnspacing=1.6,
    )  # fmt: skip
    heading(page, title=title, subtitle=subtitle, inches=inches, above=4)


def _short(name: str) -> str:
    """A name cut in its middle: the ends tell runs apart."""
    half = (_LONGEST_NAME - 3) // 2
    # Two dollar signs would enclose a formula.
    text = name if len(name) <= _LONGEST_NAME else f"{name[:half]}...{name[-half:]}"
    return text.replace("$", r"\$")


def _seen(name: str) -> str:
    """A label that begins with an underscore would be left out of the legend."""
    return f" {name}" if name.startswith("_") else name
