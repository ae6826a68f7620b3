"""Time to the first token and to the last, by length."""

from __future__ import annotations

from collections.abc import Iterator

from contextcliff.records.report import Report
from contextcliff.reporting.blocks import Block, Image
from contextcliff.reporting.figures.latency_figure import has_latency, latency_figure
from contextcliff.reporting.section import FigureOf, Measurement, Section, from_report


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
