"""The median times by length, with the spread of the whole answer's."""

from __future__ import annotations

from contextcliff.records.report import Report
from contextcliff.reporting import phrases
from contextcliff.reporting.page.chart import BLUE, GRID, ORANGE, Chart, length_axis


def latency_chart(report: Report) -> Chart:
    """Draw a report with times."""
    bins = sorted(
        (b for b in report.analysis.bins if b.ttft_ms_median is not None or b.latency_ms_median is not None),
        key=lambda a_bin: a_bin.median_tokens,
    )
    x = [max(1, b.median_tokens) for b in bins]
    whole = [b.latency_ms_median for b in bins]
    first = [b.ttft_ms_median for b in bins]
    spread = [b.latency_ms_std for b in bins]
    return Chart(
        traces=(
            {
                "x": x,
                "y": [_seconds(value) for value in whole],
                "mode": "lines+markers",
                "name": "whole answer (bar: standard deviation)",
                "line": {"color": ORANGE},
                "marker": {"symbol": "square", "size": 7},
                "error_y": {"type": "data", "array": [_seconds(value) for value in spread], "thickness": 1, "width": 3},
                "hoverinfo": "text",
                "hovertext": [
                    f"whole answer {phrases.milliseconds(value)} at {at:,} tokens, n = {b.n_samples:,}"
                    for value, at, b in zip(whole, x, bins, strict=True)
                ],
            },
            {
                "x": x,
                "y": [_seconds(value) for value in first],
                "mode": "lines+markers",
                "name": "time to first token",
                "line": {"color": BLUE},
                "marker": {"size": 7},
                "hoverinfo": "text",
                "hovertext": [
                    f"first token {phrases.milliseconds(value)} at {at:,} tokens"
                    for value, at in zip(first, x, strict=True)
                ],
            },
        ),
        layout={
            "xaxis": length_axis(x, title="prompt length, tokens (median, measured)"),
            "yaxis": {"title": {"text": "seconds"}, "rangemode": "tozero", "gridcolor": GRID, "automargin": True},
        },
        height=320,
    )


def _seconds(milliseconds: float | None) -> float | None:
    return None if milliseconds is None else milliseconds / 1000.0
