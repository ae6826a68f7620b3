"""The figures of a continuation run: core measures by length, and what gets worse."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from contextcliff.findings import drawing, phrases
from contextcliff.records.report import Report
from contextcliff.statistics.ranks import SLACK, is_significant
from contextcliff.writing import panels
from contextcliff.writing.levels import as_shown, level_of
from contextcliff.writing.measures.measure import BY_NAME, MEASURES
from contextcliff.writing.phrases import title, way
from contextcliff.writing.prose_findings import CompositeLevel, MeasureLevel, Writing, WritingTest

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


_LENGTHS = "prompt length in tokens, as measured"
_Level = MeasureLevel | CompositeLevel


def core_figure(report: Report, writing: Writing) -> Figure:
    """Means with bootstrap intervals beside the original's line and the author's band."""
    writing = as_shown(writing)
    figure, page, parts = panels.grid(4, columns=2)
    for axes, measure in zip(parts, panels.core_measures(writing), strict=True):
        _measure_panel(axes, writing, measure)
        _settle(axes)
    panels.dress(page, parts, title=f"Writing by length: {report.run.model}", subtitle=_about(report, writing))
    return figure


def _measure_panel(axes: Axes, writing: Writing, measure: str) -> None:
    worse, known = way(measure), BY_NAME.get(measure)
    axis = _panel(axes, writing, f"{title(measure)} ({worse})" if worse else title(measure))
    axes.set_ylabel(known.unit if known else "", fontsize=9)
    levels = [level_of(tier, measure) for tier in writing.tiers]
    # From edge to edge: with a single length, line and band would have no width.
    places = [axis.low, *_tokens(writing), axis.high]
    means, spreads, originals = (
        np.pad(panels.each_of(levels, name), 1, mode="edge") for name in ("author_mean", "author_std", "original")
    )
    band = (places, means - spreads, means + spreads)
    axes.fill_between(*band, color=panels.GREEN, alpha=0.12, linewidth=0, label="author's mean ± sd")
    axes.plot(places, originals, color=panels.GREEN, linestyle="--", linewidth=1.4, label="the original's next words")
    if all(level.mean is None for level in levels):
        panels.nothing_here(axes)
    label = f"mean of the rounds with its {phrases.percent(writing.confidence)} interval"
    _interval_lines(axes, writing, levels, colour=drawing.BLUE, label=label)


def _about(report: Report, writing: Writing) -> str:
    """What was continued, and how often."""
    run, rounds = report.run, sorted({tier.n_rounds for tier in writing.tiers})
    counted = " to ".join(f"{count:,}" for count in dict.fromkeys((*rounds[:1], *rounds[-1:]))) or "no"
    return (
        f"{writing.document_id} from character {writing.continuation_point:,} on, {counted} rounds a length,"
        f" KV policy {run.kv_policy}{f', RoPE {run.rope}' if run.rope else ''}{panels.stand_in(writing)}"
    )


def _interval_lines(
    axes: Axes, writing: Writing, levels: Sequence[_Level], *, colour: str, label: str, style: str = "o-"
) -> None:
    tokens = _tokens(writing)
    means, lows, highs = (panels.each_of(levels, figure) for figure in ("mean", "ci_low", "ci_high"))
    axes.vlines(tokens, lows, highs, color=colour, linewidth=5, alpha=0.3)
    axes.plot(tokens, means, style, color=colour, markersize=5, linewidth=1.7, label=label)


def _tokens(writing: Writing) -> list[int]:
    return [tier.context_tokens for tier in writing.tiers]


def _panel(axes: Axes, writing: Writing, heading: str) -> drawing.LengthAxis:
    lengths = _tokens(writing)
    axis = drawing.lengths_on_x(axes, lengths=lengths, shown=(), inches=panels.PANEL_WIDTH, label=_LENGTHS)
    axes.xaxis.labelpad = 3
    panels.quiet_axes(axes)
    panels.panel_title(axes, heading)
    return axis


def _settle(axes: Axes) -> None:
    # Ticks beyond the ends of the axis are not drawn, but take space.
    low, high = axes.get_ylim()
    axes.set_yticks([tick for tick in axes.get_yticks() if low <= tick <= high])


_UNDER = 1.4
"""Room for a panel's x axis and its legend, in inches."""
_APART = 0.09
"""Inches between the marks of two measures at one length."""
_ROW = 0.2
"""Height of a row of the map of tests, in inches."""
_SMALLER = (0.001, 0.01)
"""Corrected p-values below the level that have a colour of their own."""
_COLOURS = ("#7f1d1d", "#d64545", "#f3a683")
"""From the smallest p-values to those just at the level."""
_REST, _UNTESTED = "#f6f1e7", "0.8"
_CV_LIMIT = 0.15
"""Context-Tester's limit of consistency."""


def dashboard_figure(report: Report, writing: Writing) -> Figure:
    """Four panels on whether the prose gets worse: composite, spread between rounds, effect sizes, tests."""
    writing = as_shown(writing)
    tested = [m.name for m in MEASURES if any(t.measure == m.name and t.against == "shortest" for t in writing.tests)]
    heights = (panels.PANEL_HEIGHT, max(panels.PANEL_HEIGHT, _ROW * len(tested)))
    figure, page, parts = panels.grid(4, columns=2, heights=heights, under=_UNDER)
    _composites(parts[0], writing)
    _variation(parts[1], writing)
    _effects(parts[2], writing, height=heights[1])
    _tests(parts[3], writing, tested)
    panels.dress(page, (), title=f"Degradation of the writing: {report.run.model}", subtitle=_about(report, writing))
    return figure


def _composites(axes: Axes, writing: Writing) -> None:
    axis = _panel(axes, writing, "Composite, 0-100 (up is worse)")
    calibrated = [tier.composite for tier in writing.tiers]
    classic = [tier.composite_classic for tier in writing.tiers]
    _interval_lines(axes, writing, calibrated, colour=drawing.BLUE, label="calibrated")
    _interval_lines(axes, writing, classic, colour="0.45", label="classic", style="s--")
    if all(level.mean is None for level in (*calibrated, *classic)):
        panels.nothing_here(axes)
        return
    # Room for a whole mark at either end.
    axes.set_ylim(-3, 103)
    _settle(axes)
    drawing.legend_under(axes, drop=axis.under / panels.PANEL_HEIGHT, ncols=2)


def _variation(axes: Axes, writing: Writing) -> None:
    axis = _panel(axes, writing, "Spread between rounds: sd / mean")
    highest = _CV_LIMIT
    for measure, style in zip(panels.core_measures(writing), drawing.LINES, strict=True):
        values = panels.each_of([level_of(tier, measure) for tier in writing.tiers], "cv")
        if not np.isnan(values).all():
            highest = max(highest, np.nanmax(values))
            axes.plot(_tokens(writing), values, style, markersize=4, linewidth=1.4, label=title(measure))
    if not axes.lines:
        panels.nothing_here(axes, "fewer than two rounds, or not measured")
        return
    axes.axhline(_CV_LIMIT, color=drawing.RED, linestyle="--", linewidth=1.1, label=f"limit {_CV_LIMIT}")
    axes.set_ylim(0, highest * 1.08)
    _settle(axes)
    drawing.legend_under(axes, drop=axis.under / panels.PANEL_HEIGHT, ncols=3)


def _effects(axes: Axes, writing: Writing, *, height: float) -> None:
    axis = _panel(axes, writing, "Effect against the shortest length (1: every round is worse)")
    tests_by_place = _against_shortest(writing)
    for place, (measure, style) in enumerate(zip(panels.core_measures(writing), drawing.LINES, strict=True)):
        tests = [tests_by_place.get((length, measure)) for length in _tokens(writing)]
        if any(test is not None for test in tests):
            effects = [math.nan if test is None else test.effect for test in tests]
            # Several effects of 1 would lie on each other.
            apart = (axis.high / axis.low) ** (_APART * (place - 1.5) / axis.inches)
            places = [length * apart for length in _tokens(writing)]
            axes.plot(places, effects, style, markersize=5, linewidth=1.4, label=title(measure))
    if not axes.lines:
        panels.nothing_here(axes, "nothing was tested")
        return
    axes.axhline(0, color="0.4", linewidth=0.9)
    for limit, name in ((0.3, "medium"), (0.5, "large")):
        axes.axhline(limit, color=drawing.RED, linestyle=":", linewidth=1.1, label=f"{name} from {limit}")
    axes.set_ylim(-1.08, 1.08)
    axes.set_yticks([-1, -0.5, 0, 0.5, 1])
    drawing.legend_under(axes, drop=axis.under / height, ncols=3)


def _tests(axes: Axes, writing: Writing, tested: list[str]) -> None:
    from matplotlib.colors import ListedColormap
    from matplotlib.patches import Patch

    panels.panel_title(axes, "Tests against the shortest length, corrected p")
    lengths = _tokens(writing)
    if not tested:
        axes.set_xticks([])
        panels.nothing_here(axes, "nothing was tested")
        return
    tests_by_place = _against_shortest(writing)
    author = {(t.context_tokens, t.measure) for t in writing.tests if t.against == "author" and t.degraded}
    names = [title(name) for name in tested]
    inches = _make_room(axes, max(map(drawing.width_of, names)) + 0.1)
    limits = _limits(writing.confidence)
    shades = _COLOURS[-len(limits) :]
    colours = [_UNTESTED, *shades, _REST]
    cells = [[_class(tests_by_place.get((length, measure)), limits) for length in lengths] for measure in tested]
    axes.imshow(cells, cmap=ListedColormap(colours), vmin=-0.5, vmax=len(colours) - 0.5, aspect="auto")
    for row, measure in enumerate(tested):
        for column, length in enumerate(lengths):
            test = tests_by_place.get((length, measure))
            worse = test is not None and test.degraded
            marks = ("×" if worse else "") + ("a" if (length, measure) in author else "")
            dark = colours[cells[row][column]] in _COLOURS[:2]
            axes.text(
                column, row, marks, ha="center", va="center", fontsize=drawing.SMALL, fontweight="bold",
                color=drawing.ON_DARK if dark else drawing.ON_LIGHT,
            )  # fmt: skip
    axes.set_yticks(range(len(tested)), labels=names, fontsize=drawing.SMALL)
    _lengths(axes, lengths, inches=inches)
    handles = [Patch(facecolor=colour, edgecolor="0.6", label=name) for name, colour in _key(limits, shades)]
    axes.legend(
        handles=handles, loc="upper left", bbox_to_anchor=(1.01, 1.0), frameon=False, fontsize=drawing.SMALL,
        title="× worse\na worse than\nthe author's\nelsewhere", title_fontsize=drawing.SMALL, alignment="left",
    )  # fmt: skip


def _make_room(axes: Axes, inches: float) -> float:
    """Take so many inches of the panel's left; returns the width that it keeps."""
    box, kept = axes.get_position(), panels.PANEL_WIDTH - inches
    width = box.width * kept / panels.PANEL_WIDTH
    axes.set_position((box.x1 - width, box.y0, width, box.height))
    return kept


def _lengths(axes: Axes, lengths: list[int], *, inches: float) -> None:
    """A column a length, whatever its size."""
    axes.set_xticks(range(len(lengths)), labels=[f"{tokens:,}" for tokens in lengths], fontsize=drawing.SMALL)
    if drawing.DIGIT * (len(f"{max(lengths):,}") + 1) > inches / len(lengths):
        drawing.tilt(axes)
    axes.set_xlabel(_LENGTHS, fontsize=9, labelpad=3)
    axes.tick_params(length=0)


def _limits(confidence: float) -> tuple[float, ...]:
    """Where the classes of p end, each limit within its class; the last is the level."""
    level = 1.0 - confidence
    return (*(limit for limit in _SMALLER if limit < level - SLACK), level)


def _key(limits: Sequence[float], shades: Sequence[str]) -> list[tuple[str, str]]:
    named = [(f"p ≤ {limit:.3g}", shade) for limit, shade in zip(limits, shades, strict=True)]
    return [*named, (f"p > {limits[-1]:.3g}", _REST), ("not tested", _UNTESTED)]


def _class(test: WritingTest | None, limits: Sequence[float]) -> int:
    """0 not tested, then the classes of p from the smallest up."""
    if test is None:
        return 0
    at = (place for place, limit in enumerate(limits, start=1) if is_significant(test.p_holm, 1.0 - limit))
    return next(at, len(limits) + 1)


def _against_shortest(writing: Writing) -> dict[tuple[int, str], WritingTest]:
    return {(test.context_tokens, test.measure): test for test in writing.tests if test.against == "shortest"}
