"""Failures and latency by length."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING

from contextcliff.findings import drawing
from contextcliff.findings.finding import Block, Finding, Image, Measurement, Table, Text, columns
from contextcliff.findings.phrases import MISSING, all_failures, percent, whole
from contextcliff.records.analysis import Bin
from contextcliff.records.report import Report

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_MEANING = (
    "Every answer that is no exact match counts as a failure here, also one that is verbose and right; the tags are"
    " explained under Answers."
)
"""What is said where the report has measures of answers."""


class FailuresFinding(Finding[None]):
    """The failure tags by length."""

    key = "failures"
    title = "Failures by length"

    def show(self, report: Report) -> tuple[Block, ...]:
        tags, bins = tuple(all_failures(report)), report.analysis.lengths
        if not tags:
            return ()
        table = columns(
            bins,
            ("asked", lambda b: whole(b.asked_tokens)),
            ("failure rate", lambda b: MISSING if b.failure_rate is None else percent(b.failure_rate)),
            *((tag, lambda b, tag=tag: whole(b.failures.get(tag, 0))) for tag in tags),
        )
        meaning = (Text(text=_MEANING),) if _has_measures(report) else ()
        figure = Image(name="failures_by_length", caption=self.title, draw=lambda: failures_figure(report))
        return (*meaning, Table(columns=table), figure)

    def metrics(self, report: Report) -> Iterator[Measurement]:
        tags = sorted({tag for each in report.analysis.lengths for tag in each.failures})
        for each in report.analysis.lengths:
            for tag in tags:
                # Also 0 where this length has no such failure: else a chart would draw a line over the length.
                yield Measurement(key=f"failures/{tag}", value=each.failures.get(tag, 0), step=each.asked_tokens)


def _has_measures(report: Report) -> bool:
    return "answer_measures" in report.analysis.findings


_FAILURES_HEIGHT = 3.4
_MOST_TAGS = 9


def failures_figure(report: Report) -> Figure:
    """Draw a report with a failure: a stacked column a length, as shares of its planned samples."""
    import matplotlib as mpl

    bins = sorted(report.analysis.lengths, key=lambda a_bin: a_bin.median_tokens)
    width = min(13.0, max(8.0, 0.6 * len(bins)))
    figure, axes = drawing.blank(width=width, height=_FAILURES_HEIGHT)
    tags = list(all_failures(report))
    parts = [*([tag] for tag in tags[:_MOST_TAGS]), *filter(None, [tags[_MOST_TAGS:]])]
    colours = mpl.colormaps["tab10"]
    places = range(len(bins))
    planned = [b.n_samples + b.n_unscored for b in bins]
    bottoms = [0.0] * len(bins)
    for place, members in enumerate(parts):
        name, colour = (members[0], colours(place)) if place < _MOST_TAGS else ("other", "0.6")
        counts = [sum(b.failures.get(tag, 0) for tag in members) for b in bins]
        heights = [count / max(1, n) for count, n in zip(counts, planned, strict=True)]
        bars = axes.bar(
            places, heights, bottom=bottoms, width=0.72, color=colour, label=drawing.drawable(name), edgecolor="white",
            linewidth=0.5,
        )  # fmt: skip
        for bar, count, n in zip(bars, counts, planned, strict=True):
            drawing.told(bar, f"{name}: {count:,} of {n:,}")
        bottoms = [bottom + height for bottom, height in zip(bottoms, heights, strict=True)]
    is_natural = any(b.natural_lengths for b in bins)
    named = [f"{b.min_tokens:,}\n{b.max_tokens:,}" if is_natural else f"{b.asked_tokens:,}" for b in bins]
    labels = [f"{name}\nn={n:,}" for name, n in zip(named, planned, strict=True)]
    axes.set_xticks(list(places), labels=labels, fontsize=drawing.SMALL - 1)
    axes.set_ylim(0.0, 1.0)
    axes.set_xlabel("prompt length in tokens: shortest, longest" if is_natural else drawing.ASKED, fontsize=9)
    drawing.grid_on_y(axes, label="share of samples")
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(loc="upper left", bbox_to_anchor=(1.01, 1.0), frameon=False, fontsize=drawing.SMALL)
    words = f"The white rest of a column is {'exact matches' if _has_measures(report) else 'answered right'}"
    drawing.run_heading(axes, report.run, "Failures by length", words, inches=width, above=10)
    return figure


def _timed(report: Report) -> list[Bin]:
    timed = (b for b in report.analysis.lengths if b.ttft_ms_median is not None or b.latency_ms_median is not None)
    return sorted(timed, key=lambda a_bin: a_bin.median_tokens)


class LatencyFinding(Finding[None]):
    """The median times by length, where they were measured; the table of scores has their figures."""

    key = "latency"
    title = "Latency by length"

    def show(self, report: Report) -> tuple[Block, ...]:
        if not _timed(report):
            return ()
        return (Image(name="latency_by_length", caption=self.title, draw=lambda: latency_figure(report)),)


_LATENCY_HEIGHT = 3.2
_WIDEST_LINEAR = 30
"""From this ratio of the longest time to the shortest on, a linear axis flattens the short ones."""


def latency_figure(report: Report) -> Figure:
    """Draw a report with a median time: seconds to the first token and to the last over measured length."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    bins = _timed(report)
    tokens = [max(1, b.median_tokens) for b in bins]
    figure, axes, axis = drawing.over_lengths(bins, height=_LATENCY_HEIGHT)
    is_natural = any(b.natural_lengths for b in bins)
    first = [drawing.or_nan(b.ttft_ms_median) / 1000 for b in bins]
    last = [drawing.or_nan(b.latency_ms_median) / 1000 for b in bins]
    looks = (("s", drawing.ORANGE, "whole answer"), ("o", drawing.BLUE, "time to first token"))
    for times, (mark, colour, label) in zip((last, first), looks, strict=True):
        if any(math.isfinite(time) for time in times):
            if is_natural:
                drawing.bin_bars(axes, bins, values=times, colour=colour)
            shape = mark if is_natural else f"{mark}-"
            axes.plot(tokens, times, shape, color=colour, markersize=5, linewidth=1.6, label=label)
    known = [time for time in (*first, *last) if math.isfinite(time)]
    if min(known) > 0 and max(known) / min(known) > _WIDEST_LINEAR:
        axes.set_yscale("log")
        axes.yaxis.set_major_locator(LogLocator(base=10, subs=(1, 2, 5)))
        axes.yaxis.set_minor_formatter(NullFormatter())
    else:
        axes.set_ylim(0, max(known) * 1.08 or 1)
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,g}"))
    drawing.grid_on_y(axes, label="seconds")
    words = "Medians; to the first token: of prompts that the server had to read"
    words += ". A bar reaches from the shortest to the longest prompt of a bin" if is_natural else ""
    subtitle = f"{report.run.engine}, KV policy {report.run.kv_policy}. {words}"
    title = f"Latency by length: {report.run.model}"
    drawing.heading(axes, title=title, subtitle=subtitle, inches=axis.inches, above=6)
    drawing.legend_under(axes, drop=axis.under / _LATENCY_HEIGHT, ncols=2)
    return figure
