"""Several runs' prose in one picture: the four core measures, and every measure that some run has."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from statistics import fmean
from typing import TYPE_CHECKING

from contextcliff.findings import phrases
from contextcliff.findings.drawing import LINES, SMALL, lengths_on_x
from contextcliff.writing import panels
from contextcliff.writing.contest import WritingSide
from contextcliff.writing.levels import level_of
from contextcliff.writing.measures.measure import BY_NAME, CORE
from contextcliff.writing.phrases import better, title

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


_SMALL_WIDTH, _SMALL_HEIGHT = 3.1, 1.7
_SMALL_UNDER = 0.55


def core_figure(runs: Sequence[WritingSide]) -> Figure:
    """Context-Tester's four core measures, a line a run. `runs` are at least one."""
    embedded = next((run.writing for run in runs if panels.core_measures(run.writing) == CORE), runs[0].writing)
    figure, page, parts = panels.grid(4, columns=2)
    for axes, measure in zip(parts, panels.core_measures(embedded), strict=True):
        _panel(axes, runs, measure, inches=panels.PANEL_WIDTH)
    name, about = f"Writing by context length: {len(runs)} runs", f"{_subtitle(runs)}{panels.stand_in(embedded)}"
    panels.dress(page, parts, title=name, subtitle=about)
    return figure


def measures_figure(runs: Sequence[WritingSide], *, measures: Sequence[str]) -> Figure:
    """A small panel for each of these measures and composites, by name."""
    figure, page, parts = panels.grid(
        len(measures), columns=4, width=_SMALL_WIDTH, heights=(_SMALL_HEIGHT,), under=_SMALL_UNDER
    )
    for axes, measure in zip(parts, measures, strict=True):
        _panel(axes, runs, measure, inches=_SMALL_WIDTH, small=True)
    name = f"Every measure by context length: {len(runs)} runs"
    panels.dress(page, parts, title=name, subtitle=_subtitle(runs))
    return figure


def _subtitle(runs: Sequence[WritingSide]) -> str:
    levels = " and ".join(dict.fromkeys(phrases.percent(run.writing.confidence) for run in runs))
    return f"Bands: {levels} bootstrap intervals of the means, where there are rounds"


def _panel(axes: Axes, runs: Sequence[WritingSide], measure: str, *, inches: float, small: bool = False) -> None:
    tiers = [tier for run in runs for tier in run.writing.tiers]
    lengths_on_x(
        axes,
        lengths=sorted({tier.context_tokens for tier in tiers}),
        shown=(),
        inches=inches,
        label="" if small else "context length in tokens, as asked",
    )
    axes.xaxis.labelpad = 3
    known = BY_NAME.get(measure)
    worse = known.worse if known else 1
    panels.panel_title(axes, title(measure) + (f" ({better(worse)})" if worse else ""))
    axes.title.set_fontsize(9 if small else 10)
    axes.set_ylabel(known.unit if known else "0-100", fontsize=SMALL if small else 9)
    panels.quiet_axes(axes)
    _originals(axes, runs, measure)
    for place, run in enumerate(runs):
        _line(axes, run, measure, colour=f"C{place % 10}", style=LINES[place % len(LINES)])
    mean = next((mean for tier in tiers if (mean := level_of(tier, measure).mean) is not None), None)
    if mean is None:
        panels.nothing_here(axes)
        return
    axes.ticklabel_format(axis="y", useOffset=False)
    low, high = axes.get_ylim()
    if high - low < 1e-6:  # one value everywhere: matplotlib would show its rounding
        around = 0.1 + 0.1 * abs(mean)
        axes.set_ylim(mean - around, mean + around)


def _line(axes: Axes, run: WritingSide, measure: str, *, colour: object, style: str) -> None:
    tokens = [tier.context_tokens for tier in run.writing.tiers]
    levels = [level_of(tier, measure) for tier in run.writing.tiers]
    lows, highs = panels.each_of(levels, "ci_low"), panels.each_of(levels, "ci_high")
    # A label that begins with an underscore would be left out of the legend.
    label = f" {run.name}" if run.name.startswith("_") else run.name
    axes.plot(tokens, panels.each_of(levels, "mean"), style, color=colour, markersize=4, linewidth=1.5, label=label)
    axes.fill_between(tokens, lows, highs, color=colour, alpha=0.13, linewidth=0)
    # A band of one length, or between two gaps, has no width.
    axes.vlines(tokens, lows, highs, color=colour, linewidth=1.2, alpha=0.45)


def _originals(axes: Axes, runs: Sequence[WritingSide], measure: str) -> None:
    """The author's own next words, where all runs go on from one known place of one text."""
    if len({(run.writing.document_id, run.writing.continuation_point) for run in runs}) > 1:
        return
    found: defaultdict[int, list[float]] = defaultdict(list)
    for tier in (tier for run in runs if run.writing.continuation_point for tier in run.writing.tiers):
        if (original := level_of(tier, measure).original) is not None:
            found[tier.context_tokens].append(original)
    lengths = sorted(found)
    label = "the original's next words" if found else None
    means = [fmean(found[tokens]) for tokens in lengths]
    axes.plot(lengths, means, "--", color=panels.GREEN, linewidth=1.3, label=label)
