"""The score at every length, and by length and depth: the tables, the curve with the cap, and the heatmap."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from contextcliff.findings import drawing, phrases
from contextcliff.findings.extrapolation import Extrapolation
from contextcliff.findings.finding import Block, Column, Finding, Image, Table, Text
from contextcliff.findings.fitted_length import FittedLengths
from contextcliff.findings.phrases import shown_interval
from contextcliff.findings.published import published_blocks, published_ends, published_lines, ticks_with
from contextcliff.records.amounts import Quantity, threshold_figure
from contextcliff.records.analysis import Bin, DepthCell
from contextcliff.records.note import Note
from contextcliff.records.report import Report

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.image import AxesImage

_HEIGHT = 4.2
_TITLES: Mapping[Quantity, str] = {"score": "Score by length", "healthy": "Healthy rounds by length"}
_ZONES = {"stable": "#2e9e4f", "transition": "#f0b429", "degraded": "#d64545"}
_CELL_WIDTH, _CELL_HEIGHT = 0.62, 0.42
_LEAST_WIDTH, _LEAST_HEIGHT = 4.6, 0.8
_UNMEASURED = "0.85"
_FRAME = (0, (2.2, 1.4))
_PALE = 0.85
"""How white the cell of a single sample is: its colour says little."""
_TICK = 0.16
"""Least distance of two labels of the scale, in inches."""
_MOST_ROWS = 12
"""Rows of a table on the console, which has 24 lines."""


class ScoreFinding(Finding[None]):
    """A row for each length: how many samples, their score, and the bound that the cap is tested with."""

    key = "score_by_length"
    title = "Score by length"

    def short(self, report: Report) -> tuple[Block, ...]:
        """Of writing, whose health is tested and not its score, the writing has the table."""
        return () if report.analysis.safe_cap.quantity == "healthy" else self._table(report)

    def show(self, report: Report) -> tuple[Block, ...]:
        table = () if report.analysis.safe_cap.quantity == "score" else self._table(report)
        published = published_blocks(report.run.published)
        analysis = report.analysis
        overall, scored = Note("no sample was scored"), sum(each.n_samples for each in analysis.bins)
        if analysis.mean is not None and scored:
            overall = Note("mean score {mean:.3f}; full score in {n:,} of {scored:,} samples", mean=analysis.mean,
                           n=analysis.successes, scored=scored)  # fmt: skip
        heatmap = Image(name="heatmap", caption="Score by depth and length", draw=lambda: heatmap_figure(report))
        return (*table, Text(label="Overall", text=overall), *((heatmap,) if analysis.cells else ()), *published)

    def _table(self, report: Report) -> tuple[Block, ...]:
        bins = report.analysis.lengths
        if not bins:
            return (Text(text=Note("No length was tested.")),)
        rows = _few(bins, cap=report.analysis.safe_cap.tokens)
        curve = Image(name="score_by_length", caption=self.title, draw=lambda: score_figure(report))
        return (curve, Table(columns=_columns(report), on_console=rows))


def _few(bins: Sequence[Bin], *, cap: int | None) -> tuple[int, ...]:
    """At most twelve lengths: the ends, the cap, the first one beyond it, and others evenly spread between them."""
    passed = sum(cap is not None and each.clears_up_to <= cap for each in bins)
    last = len(bins) - 1
    needed = {0, max(0, passed - 1), min(passed, last), last}
    shown = list(range(len(bins)))
    while len(shown) > _MOST_ROWS:
        inner = [at for at in range(1, len(shown) - 1) if shown[at] not in needed]
        del shown[min(inner, key=lambda at: bins[shown[at + 1]].median_tokens / bins[shown[at - 1]].median_tokens)]
    return tuple(shown)


def _columns(report: Report) -> tuple[Column, ...]:
    bins = report.analysis.lengths

    def column(title: str, cell: Callable[[Bin], str], *, spare: int = 0, words: bool = False) -> Column:
        return Column(title=title, cells=tuple(map(cell, bins)), spare=spare, words=words)

    asked = column("asked", lambda b: phrases.whole(b.asked_tokens))
    if natural := any(b.natural_lengths for b in bins):  # nobody asked for them, and they have a range
        asked = column("prompts", lambda b: f"{b.min_tokens:,} - {b.max_tokens:,}")
    # Where each sample is of a text of its own, their number would say nothing.
    shared, unscored = any(b.n_clusters is not None for b in bins), any(b.n_unscored for b in bins)
    bound = phrases.bound_name(report.analysis.safe_cap)
    return (
        asked,
        column("median" if natural else "measured", lambda b: phrases.whole(b.median_tokens), spare=2),
        column("n", lambda b: phrases.whole(b.n_samples)),
        *([column("texts", lambda b: phrases.whole(b.n_clusters), spare=9)] if shared else []),
        *([column("unscored", lambda b: phrases.whole(b.n_unscored), spare=1)] if unscored else []),
        column(phrases.score_title(report.analysis.safe_cap), lambda b: phrases.score(b.mean)),
        column("interval", lambda b: shown_interval(report, b.ci_low, b.ci_high), spare=3),
        column(bound, lambda b: phrases.bound(b.tested_low), spare=7),
        column("first token", lambda b: phrases.milliseconds(b.ttft_ms_median), spare=8),
        column("time", lambda b: phrases.milliseconds(b.latency_ms_median), spare=5),
        column("failure", phrases.commonest_failure, spare=4, words=True),
    )


def score_figure(report: Report) -> Figure:
    """Draws the scores of a report that has bins."""
    return curve_figure(report, report.analysis.lengths, what="score")


def curve_figure(report: Report, bins: Sequence[Bin], *, what: Quantity) -> Figure:
    """Draws at least one length; what the cap is tested on with zones, threshold and cap, and hollow points where it is
    not decided."""
    bins, run = sorted(bins, key=lambda a_bin: a_bin.median_tokens), report.run
    found, is_tested = report.analysis.safe_cap, what == report.analysis.safe_cap.quantity
    cap, published = (found.tokens, run.published) if is_tested else (None, ())
    figure, axes, axis = drawing.over_lengths(
        bins, height=_HEIGHT, shown=[*([] if cap is None else [cap]), *published_ends(published)],
        ticks=ticks_with(drawing.length_ticks(bins), published),
    )  # fmt: skip
    drawing.scores_on_y(axes)
    axes.set_ylabel(phrases.TESTED[what])
    threshold = phrases.tested_threshold(found) if is_tested else None
    taken = () if threshold is None else (threshold,)
    published_lines(axes, published, height=_HEIGHT, taken=taken)
    if is_tested:
        _zones(axes, report, axis=axis)
    _points(axes, report, bins, what=what)
    if threshold is not None:
        basis = f"\n({phrases.percent(found.threshold)} of baseline)" if found.relative_to_baseline else ""
        drawing.line_across(axes, score=threshold, text=f"threshold {threshold:.2f}{basis}", colour=drawing.RED)
    if what == "score":
        _fitted(axes, report, axis=axis)
    counts = [("n", [b.n_samples for b in bins], drawing.GREY)]
    if any(0 < b.n_items < b.n_samples for b in bins):  # a question that is put again is no further evidence
        counts.append(("questions", [b.n_items for b in bins], drawing.GREY))
    if any(b.n_unscored for b in bins):
        counts.append(("unscored", [b.n_unscored for b in bins], drawing.RED))
    tokens = [max(1, b.median_tokens) for b in bins]
    above = drawing.counts_above(axes, places=tokens, inches=[*map(axis.inches_at, tokens)], rows=counts)
    if cap is not None:
        axes.axvline(cap, color=drawing.PURPLE, linewidth=1.8, zorder=3)
        drawing.name_above(axes, f"safe cap: {found.in_short}", axis=axis, tokens=cap, above=above)
        above += drawing.LINE
    said = (
        str(phrases.headline(report)) if is_tested else f"The cap is by the {phrases.TESTED[found.quantity]}, not this"
    )
    drawing.run_heading(axes, run, _TITLES[what], said, inches=axis.inches, above=above + 4)
    drawing.legend_under(axes, drop=axis.under / _HEIGHT, ncols=4)
    return figure


def _zones(axes: Axes, report: Report, *, axis: drawing.LengthAxis) -> None:
    for zone in report.analysis.zones:
        low, high = max(zone.min_tokens, axis.low), min(zone.max_tokens, axis.high)
        if zone.name == "degraded" and not report.run.published:
            # It often starts at the longest test, and would be a hair wide. With published lines, which can reach
            # far beyond that test, it ends there, as it says nothing about them.
            high = axis.high
        colour = _ZONES.get(zone.name, "0.5")
        if low < high:
            axes.axvspan(low, high, color=colour, alpha=0.12, linewidth=0, label=f"{zone.name} zone")
        elif low == high:
            # A zone of one length has no width; a line shows where it is.
            axes.axvline(low, color=colour, alpha=0.5, linewidth=4, label=f"{zone.name} zone")
    positions = report.analysis.finding(Extrapolation)
    if positions is not None and positions.trained_tokens < axis.high:
        axes.axvspan(
            max(axis.low, positions.trained_tokens), axis.high, facecolor="none", edgecolor="0.75", hatch="//",
            linewidth=0, zorder=0, label=f"beyond the {positions.trained_tokens:,} trained positions",
        )  # fmt: skip


def _points(axes: Axes, report: Report, bins: Sequence[Bin], *, what: Quantity) -> None:
    cap = report.analysis.safe_cap
    confidence, name = phrases.percent(cap.confidence), phrases.MEANS[what]
    tokens = [max(1, b.median_tokens) for b in bins]
    means, lows, highs, tested = (
        [drawing.or_nan(getattr(b, name)) for b in bins] for name in ("mean", "ci_low", "ci_high", "tested_low")
    )
    if any(math.isfinite(mean) for mean in means):
        is_natural = any(b.natural_lengths for b in bins)
        if is_natural:
            label = f"{name}, shortest to longest prompt"
            drawing.bin_bars(axes, bins, values=means, colour=drawing.BLUE, label=label)
        else:
            axes.fill_between(tokens, lows, highs, color=drawing.BLUE, alpha=0.15, linewidth=0)
        # The band has no width under a point with no scored neighbour; its own bar shows it.
        axes.vlines(tokens, lows, highs, color=drawing.BLUE, alpha=0.45, linewidth=2 if is_natural else 1,
                    label=f"{confidence} interval")  # fmt: skip
        style, label = ("o", "median prompt") if is_natural else ("o-", name)
        (line,) = axes.plot(
            tokens, means, style, color=drawing.BLUE, markersize=5, linewidth=1.6, label=label, zorder=4
        )
        drawing.told_bins(line, bins)
        if what == cap.quantity:
            drawing.hollow_points(axes, report, bins, size=5)
        if any(math.isfinite(bound) for bound in tested):
            label = f"{phrases.bound_name(cap, what)} (one-sided, {confidence})"
            axes.plot(tokens, tested, linestyle="none", marker="_", markersize=11, markeredgewidth=2, color="black",
                      label=label, zorder=5)  # fmt: skip
    drawing.silent_points(axes, places=[at for at, b in zip(tokens, bins, strict=True) if b.mean is None])


def _fitted(axes: Axes, report: Report, *, axis: drawing.LengthAxis) -> None:
    fitted = report.analysis.finding(FittedLengths)
    label = "fitted length and its interval"
    for length in () if fitted is None else (fitted.x80, fitted.x50):
        if length.tokens is not None and length.score is not None:
            low = axis.low if length.ci_low is None else max(axis.low, length.ci_low)
            high = axis.high if length.ci_high is None else min(axis.high, length.ci_high)
            axes.hlines(length.score, low, high, color=drawing.ORANGE, linewidth=1.4, zorder=4)
            axes.plot(length.tokens, length.score, "D", color=drawing.ORANGE, markersize=5, label=label, zorder=5)
            label = "_nolegend_"


def heatmap_figure(report: Report) -> Figure:
    """Draws a report that has cells: depth downwards from the start of the text, length to the right."""
    import numpy as np
    from matplotlib.patches import Rectangle

    cells = report.analysis.cells
    lengths = sorted({cell.asked_tokens for cell in cells})
    depths = sorted({cell.depth for cell in cells})
    width = max(_LEAST_WIDTH, _CELL_WIDTH * len(lengths))
    height = max(_LEAST_HEIGHT, _CELL_HEIGHT * len(depths))
    grid = np.full((len(depths), len(lengths)), np.nan)
    for cell in cells:
        grid[depths.index(cell.depth), lengths.index(cell.asked_tokens)] = math.nan if cell.mean is None else cell.mean

    threshold = phrases.threshold_score(report)
    colours = drawing.score_colours(threshold)
    figure, axes = drawing.blank(width=width, height=height)
    axes.set_facecolor(_UNMEASURED)
    image = axes.imshow(np.ma.masked_invalid(grid), cmap=colours.colormap, norm=colours.norm, aspect="auto")
    axes.set_yticks(range(len(depths)), labels=[f"{depth:.3g}" for depth in depths], fontsize=drawing.SMALL)
    axes.set_ylabel("depth", fontsize=9)
    tilted = drawing.DIGIT * (len(f"{max(lengths):,}") + 1) > width / len(lengths)
    axes.set_xticks(range(len(lengths)), labels=[f"{tokens:,}" for tokens in lengths], fontsize=drawing.SMALL)
    if tilted:
        drawing.tilt(axes)
    axes.set_xlabel(drawing.ASKED, fontsize=9)
    axes.set_xticks([i + 0.5 for i in range(len(lengths) - 1)], minor=True)
    axes.set_yticks([i + 0.5 for i in range(len(depths) - 1)], minor=True)
    axes.grid(which="minor", color="white", linewidth=1.5)
    axes.tick_params(which="both", length=0)
    counts = {tokens: [cell.n_samples for cell in cells if cell.asked_tokens == tokens] for tokens in lengths}
    for column, tokens in enumerate(lengths):
        axes.annotate(
            f"n={sum(counts[tokens]):,}", xy=(column, 1), xycoords=("data", "axes fraction"), xytext=(0, 3),
            textcoords="offset points", ha="center", va="bottom", fontsize=7, color="0.35",
        )  # fmt: skip
    for cell in cells:
        column, row = lengths.index(cell.asked_tokens), depths.index(cell.depth)
        ink = "black" if cell.mean is None else colours.ink(cell.mean)
        if cell.n_samples == 1:
            ink = "black"  # on a dark page both are exchanged
            axes.add_patch(Rectangle((column - 0.5, row - 0.5), 1.0, 1.0, facecolor="white", alpha=_PALE,
                                     linewidth=0.0))  # fmt: skip
        if not cell.informative:
            axes.add_patch(Rectangle((column - 0.44, row - 0.43), 0.88, 0.86, fill=False, edgecolor=ink, linewidth=1.0,
                                     linestyle=_FRAME))  # fmt: skip
        words = phrases.score(cell.mean)
        if cell.n_samples > 1 and len(set(counts[cell.asked_tokens])) > 1:
            words += f"\nn={cell.n_samples:,}"
        axes.text(column, row, words, ha="center", va="center", fontsize=7, linespacing=1.15, color=ink)
    _scale(figure, image, threshold=threshold, width=width, height=height)
    drop = (0.95 if tilted else 0.55) / height
    _heatmap_legend(axes, cells, gaps=bool(np.isnan(grid).any()), full=colours.of(1.0), drop=drop)
    words = "Depth 0 is the start of the text; n over a column counts its samples"
    if threshold is not None:
        words += f"; orange is below the threshold {threshold_figure(threshold)}, purple at it or above"
    drawing.run_heading(axes, report.run, "Score by depth and length", words, inches=width, above=18)
    return figure


def _scale(figure: Figure, image: AxesImage, *, threshold: float | None, width: float, height: float) -> None:
    axes = figure.add_axes((1 + 0.15 / width, 0.0, 0.16 / width, 1.0))
    bar = figure.colorbar(image, cax=axes)
    # A norm of two slopes would give the scores above the threshold as much of the bar as all below it.
    axes.set_yscale("linear")
    ticks = (0.0, 1.0) if height < 1.2 else (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)
    labels = {tick: f"{tick:.1f}" for tick in ticks}
    if threshold is not None and 0.0 <= threshold <= 1.0:
        labels = {tick: text for tick, text in labels.items() if abs(tick - threshold) * height >= _TICK}
        labels[threshold] = f"{threshold_figure(threshold)} threshold"
        axes.axhline(threshold, color="black", linewidth=2.0)
    places = sorted(labels)
    bar.set_ticks(places, labels=[labels[place] for place in places])
    axes.tick_params(labelsize=drawing.SMALL)
    axes.set_title("score", fontsize=drawing.SMALL)


def _heatmap_legend(
    axes: Axes, cells: Sequence[DepthCell], *, gaps: bool, full: tuple[float, float, float], drop: float
) -> None:
    from matplotlib.patches import Patch

    handles = []
    if gaps:
        handles.append(Patch(facecolor=_UNMEASURED, edgecolor="0.6", label="no data"))
    if any(cell.n_samples == 1 for cell in cells):
        handles.append(Patch(facecolor=(*full, 1.0 - _PALE), edgecolor="0.6", label="faint: a single sample"))
    if not all(cell.informative for cell in cells):
        label = "can't show a cliff, by its controls\n(low ceiling or high floor)"
        handles.append(Patch(facecolor="none", edgecolor="black", linestyle=_FRAME, label=label))
    if handles:
        drawing.legend_under(axes, drop=drop, handles=handles, ncols=2)
