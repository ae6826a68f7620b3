"""Failures and latency by length."""

from __future__ import annotations

from collections.abc import Iterator

from contextcliff.records.report import Report
from contextcliff.reporting import phrases
from contextcliff.reporting.blocks import Block, Column, Image, Table, Text
from contextcliff.reporting.figures.failures_figure import failures_figure
from contextcliff.reporting.figures.latency_figure import has_latency, latency_figure
from contextcliff.reporting.section import FigureOf, Measurement, Section, from_report


class FailuresSection(Section[None]):
    """The failure tags by length."""

    key = "failures"
    title = "Failures by length"
    figures = (
        FigureOf(
            name="failures_by_length",
            caption="Failures by length",
            has_data=lambda report: bool(phrases.all_failures(report)),
            draw=from_report(failures_figure),
        ),
    )

    def full(self, report: Report) -> tuple[Block, ...]:
        tags, bins = tuple(phrases.all_failures(report)), report.analysis.bins
        if not tags:
            return (Text(text="None."),)
        rates = tuple(phrases.MISSING if b.failure_rate is None else phrases.percent(b.failure_rate) for b in bins)
        columns = (
            Column(title="asked tokens", cells=tuple(phrases.whole(b.asked_tokens) for b in bins)),
            Column(title="failure rate", cells=rates),
            *(Column(title=tag, cells=tuple(phrases.whole(b.failures.get(tag, 0)) for b in bins)) for tag in tags),
        )
        return (Table(columns=columns), Image(figure="failures_by_length"))

    def metrics(self, report: Report) -> Iterator[Measurement]:
        tags = sorted({tag for each in report.analysis.bins for tag in each.failures})
        for each in report.analysis.bins:
            yield Measurement(key="failure_rate", value=each.failure_rate, step=each.asked_tokens)
            for tag in tags:
                # A tag that this length doesn't have was counted as none here: without the zero, a chart
                # would draw a line over the length.
                yield Measurement(key=f"failure.{tag}", value=each.failures.get(tag, 0), step=each.asked_tokens)


class LatencySection(Section[None]):
    """The median times by length, where they were measured; the table of scores has their figures."""

    key = "latency"
    title = "Latency by length"
    figures = (
        FigureOf(
            name="latency_by_length",
            caption="Latency by length",
            has_data=has_latency,
            draw=from_report(latency_figure),
        ),
    )

    def full(self, report: Report) -> tuple[Block, ...]:
        return (Image(figure="latency_by_length"),) if has_latency(report) else ()

    def metrics(self, report: Report) -> Iterator[Measurement]:
        for each in report.analysis.bins:
            yield Measurement(key="ttft_ms_median", value=each.ttft_ms_median, step=each.asked_tokens)
            yield Measurement(key="latency_ms_median", value=each.latency_ms_median, step=each.asked_tokens)
