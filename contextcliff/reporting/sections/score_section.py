"""The score at every length, and by length and depth."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

from contextcliff.analysis.fitted_length import FittedLengths
from contextcliff.records.analysis import Bin, SafeCap
from contextcliff.records.report import Report
from contextcliff.records.search_record import Search
from contextcliff.reporting import phrases
from contextcliff.reporting.blocks import Block, Column, Image, Table, Text
from contextcliff.reporting.figures.canvas import LengthAxis, blank, heading, legend_below, lengths_on_x
from contextcliff.reporting.figures.heatmap_figure import heatmap_figure
from contextcliff.reporting.figures.marks import (
    BLUE,
    GREY,
    LINE,
    PURPLE,
    RED,
    counts_above,
    line_across,
    or_nan,
    scores_on_y,
    side_of,
    silent_points,
    write_above,
)
from contextcliff.reporting.report_facts import Headline, Overall
from contextcliff.reporting.section import FigureOf, Measurement, Section
from contextcliff.reporting.stopped_data import shown_interval
from contextcliff.reporting.words.english import say

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


class ScoreSection(Section[None]):
    """A row a length: how many samples, their score, and the bound that the cap is tested with."""

    key = "score_by_length"
    title = "Score by length"
    title_note = "tokens"
    figures = (
        FigureOf(
            name="score_by_length",
            caption="Score by length",
            has_data=lambda report: bool(report.analysis.bins),
            draw=lambda report, _: score_figure(report),
        ),
        FigureOf(
            name="heatmap",
            caption="Score by depth and length",
            has_data=lambda report: bool(report.analysis.cells),
            draw=lambda report, _: heatmap_figure(report),
        ),
    )

    def short(self, report: Report) -> tuple[Block, ...]:
        overall = Text(label="Overall", text=_overall(report), strong=True)
        return (Table(columns=_few_columns(report)), overall) if report.analysis.bins else (overall,)

    def full(self, report: Report) -> tuple[Block, ...]:
        table = Table(columns=_all_columns(report)) if report.analysis.bins else Text(text="No length was tested.")
        overall = Text(label="Overall", text=_overall(report))
        return (table, *_footnote(report), overall, Image(figure="score_by_length"), Image(figure="heatmap"))

    def metrics(self, report: Report) -> Iterator[Measurement]:
        for each in report.analysis.bins:
            for key, value in _figures(each):
                yield Measurement(key=key, value=value, step=each.asked_tokens)
        yield Measurement(key="mean_score", value=report.analysis.mean)
        yield Measurement(key="successes", value=report.analysis.successes)


def _footnote(report: Report) -> tuple[Text, ...]:
    if report.analysis.finding(Search) is None:
        return ()
    bound = "" if report.analysis.safe_cap.relative_to_baseline else ", and so does the tested bound"
    return (
        Text(
            text="Each length was asked until it was decided. The intervals (confidence sequences) hold all the same"
            f"{bound}; the mean scores are estimates from stopped data, on average further from the threshold than the"
            " true ones."
        ),
    )


def _overall(report: Report) -> Overall:
    analysis = report.analysis
    scored = sum(each.n_samples for each in analysis.bins)
    return Overall(mean=analysis.mean, successes=analysis.successes, scored=scored)


def _figures(each: Bin) -> Iterator[tuple[str, float | None]]:
    yield "score", each.mean
    yield "score_ci_low", each.ci_low
    yield "score_ci_high", each.ci_high
    yield "score_tested_low", each.tested_low
    yield "std", each.std
    yield "n_samples", each.n_samples
    yield "n_unscored", each.n_unscored


def _few_columns(report: Report) -> tuple[Column, ...]:
    """The table for a console, whose least important columns give way."""
    bound = phrases.bound_name(report.analysis.safe_cap).replace(" ", "\n")
    column = _columns_of(report)
    return (
        column("asked", lambda b: phrases.whole(b.asked_tokens)),
        column("measured", lambda b: phrases.whole(b.median_tokens), spare=2),
        column("n", lambda b: phrases.whole(b.n_samples)),
        column("un-\nscored", lambda b: phrases.whole(b.n_unscored), spare=1),
        column("score", lambda b: phrases.score(b.mean)),
        column("interval", lambda b: shown_interval(report, b.ci_low, b.ci_high), spare=3),
        column(bound, lambda b: phrases.bound(b.tested_low)),
        column("commonest\nfailure", phrases.commonest_failure, spare=4, words=True),
        column("median\nTTFT", lambda b: phrases.milliseconds(b.ttft_ms_median), spare=6),
        column("median\nlatency", lambda b: phrases.milliseconds(b.latency_ms_median), spare=5),
    )


def _all_columns(report: Report) -> tuple[Column, ...]:
    # Only where samples share texts: elsewhere each is a text of its own, and the column would say nothing.
    shared = any(b.n_clusters is not None for b in report.analysis.bins)
    column = _columns_of(report)
    return (
        column("asked tokens", lambda b: phrases.whole(b.asked_tokens)),
        column("measured (median)", lambda b: phrases.whole(b.median_tokens)),
        column("n", lambda b: phrases.whole(b.n_samples)),
        *((column("shared texts", lambda b: phrases.whole(b.n_clusters)),) if shared else ()),
        column("unscored", lambda b: phrases.whole(b.n_unscored)),
        column("score", lambda b: phrases.score(b.mean)),
        column("interval", lambda b: shown_interval(report, b.ci_low, b.ci_high)),
        column(phrases.bound_name(report.analysis.safe_cap), lambda b: phrases.bound(b.tested_low)),
        column("commonest failure", phrases.commonest_failure),
        column("median TTFT", lambda b: phrases.milliseconds(b.ttft_ms_median)),
        column("median latency", lambda b: phrases.milliseconds(b.latency_ms_median)),
    )


def _columns_of(report: Report) -> Callable[..., Column]:
    bins = report.analysis.bins

    def column(title: str, cell: Callable[[Bin], str], *, spare: int = 0, words: bool = False) -> Column:
        return Column(title=title, cells=tuple(map(cell, bins)), spare=spare, words=words)

    return column


_HEIGHT = 4.2
_FITTED = "#c2571a"
_ZONES = {"stable": "#2e9e4f", "transition": "#f0b429", "degraded": "#d64545"}


def score_figure(report: Report) -> Figure:
    """Draw a report that has bins."""
    bins = sorted(report.analysis.bins, key=lambda a_bin: a_bin.median_tokens)
    width = min(13.0, max(8.0, 0.42 * len(bins)))
    figure, axes = blank(width=width, height=_HEIGHT)
    cap, answer = report.analysis.safe_cap.tokens, say(Headline(cap=report.analysis.safe_cap))
    axis = lengths_on_x(
        axes,
        lengths=[b.asked_tokens for b in bins],
        shown=[*(b.median_tokens for b in bins), *([] if cap is None else [cap])],
        inches=width,
    )
    scores_on_y(axes)
    _zones(axes, report, axis=axis)
    _points(axes, bins, cap=report.analysis.safe_cap)
    _threshold(axes, report)
    _fitted(axes, report, axis=axis)
    above = _counts(axes, bins, axis=axis)
    if cap is not None:
        _cap(axes, report, tokens=cap, axis=axis, above=above)
        above += LINE
    heading(
        axes,
        title=f"Score by length: {report.run.model}",
        subtitle=f"{report.run.task}, KV policy {report.run.kv_policy}. Safe cap: {answer}",
        inches=width,
        above=above + 4,
    )
    legend_below(axes, axis=axis, height=_HEIGHT, columns=4)
    return figure


def _zones(axes: Axes, report: Report, *, axis: LengthAxis) -> None:
    for zone in report.analysis.zones:
        low, high = max(zone.min_tokens, axis.low), min(zone.max_tokens, axis.high)
        if zone.name == "degraded":
            # It often starts at the longest test and would be a hair wide; past it, nothing gets better.
            high = axis.high
        colour = _ZONES.get(zone.name, "0.5")
        if low < high:
            axes.axvspan(low, high, color=colour, alpha=0.12, linewidth=0, label=f"{zone.name} zone")
        elif low == high:
            # A zone of one length has no width; a line shows where it is.
            axes.axvline(low, color=colour, alpha=0.5, linewidth=4, label=f"{zone.name} zone")


def _points(axes: Axes, bins: Sequence[Bin], *, cap: SafeCap) -> None:
    """The points, joined; a length without a score breaks the line."""
    confidence = phrases.percent(cap.confidence)
    tokens = [max(1, b.median_tokens) for b in bins]
    means = [or_nan(b.mean) for b in bins]
    lows, highs = [or_nan(b.ci_low) for b in bins], [or_nan(b.ci_high) for b in bins]
    tested = [or_nan(b.tested_low) for b in bins]
    if any(math.isfinite(mean) for mean in means):
        axes.fill_between(tokens, lows, highs, color=BLUE, alpha=0.15, linewidth=0)
        # The band has no width under a point with no scored neighbour; its own bar shows it.
        axes.vlines(tokens, lows, highs, color=BLUE, alpha=0.45, linewidth=1, label=f"{confidence} interval")
        axes.plot(tokens, means, "o-", color=BLUE, markersize=5, linewidth=1.6, label="mean score", zorder=4)
        if any(math.isfinite(bound) for bound in tested):
            axes.plot(
                tokens,
                tested,
                linestyle="none",
                marker="_",
                markersize=11,
                markeredgewidth=2,
                color="black",
                label=f"{phrases.bound_name(cap)} (one-sided, {confidence})",
                zorder=5,
            )
    silent_points(axes, places=[at for at, b in zip(tokens, bins, strict=True) if b.mean is None])


def _threshold(axes: Axes, report: Report) -> None:
    value = phrases.threshold_score(report)
    if value is None:
        return
    relative = report.analysis.safe_cap.relative_to_baseline
    basis = f"\n({phrases.percent(report.analysis.safe_cap.threshold)} of baseline)" if relative else ""
    line_across(axes, score=value, text=f"threshold {value:.2f}{basis}", colour=RED)


def _fitted(axes: Axes, report: Report, *, axis: LengthAxis) -> None:
    """Where the fitted curve falls to 80% and 50%, each with its interval, as far as the axis reaches."""
    fitted = report.analysis.finding(FittedLengths)
    lengths = () if fitted is None else (fitted.x80, fitted.x50)
    label = "fitted length and its interval"
    for length in lengths:
        if length.tokens is not None and length.score is not None:
            low = axis.low if length.ci_low is None else max(axis.low, length.ci_low)
            high = axis.high if length.ci_high is None else min(axis.high, length.ci_high)
            axes.hlines(length.score, low, high, color=_FITTED, linewidth=1.4, zorder=4)
            axes.plot(
                length.tokens, length.score, "D", color=_FITTED, markersize=5, linewidth=1.4, label=label, zorder=5
            )
            label = "_nolegend_"


def _counts(axes: Axes, bins: Sequence[Bin], *, axis: LengthAxis) -> float:
    """Rows of n, and of unscored samples if there are any, above the points; their height in points."""
    rows = [("n", [b.n_samples for b in bins], GREY)]
    if any(b.n_unscored for b in bins):
        rows.append(("unscored", [b.n_unscored for b in bins], RED))
    tokens = [max(1, b.median_tokens) for b in bins]
    return counts_above(axes, places=tokens, inches=[axis.inches_at(at) for at in tokens], rows=rows)


def _cap(axes: Axes, report: Report, *, tokens: int, axis: LengthAxis, above: float) -> None:
    axes.axvline(tokens, color=PURPLE, linewidth=1.8, zorder=3)
    beyond = " (no cliff up to the longest test)" if report.analysis.safe_cap.censored else ""
    align = side_of(axis.inches_at(max(1, tokens)) / axis.inches)
    write_above(axes, f"safe cap {tokens:,}{beyond}", x=tokens, above=above, align=align, colour=PURPLE, bold=True)
