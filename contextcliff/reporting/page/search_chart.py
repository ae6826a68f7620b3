"""The walk of a search: the evidence for and against each length, block by block."""

from __future__ import annotations

from collections.abc import Iterator

from contextcliff.records.report import Report
from contextcliff.records.search_record import Search, TestedLength
from contextcliff.reporting.page.chart import GRID, MUTED, PALETTE, RED, Chart

_LOWEST, _HIGHEST = 1e-3, 1e5
"""E-values beyond are drawn at the edge."""
_MARKS = {
    "passed": "circle", "below": "x", "unsettled": "square", "unscorable": "square-open", "open": "diamond",
    "baseline": "circle-open",
}  # fmt: skip


def search_chart(report: Report) -> Chart:
    """Draw a report whose search has blocks. Above: against "at most the threshold", below: against "at least"."""
    search = report.analysis.finding(Search)
    tested = () if search is None else tuple(each for each in search.tested if each.blocks)
    below_at = 1.0 / (1.0 - report.analysis.safe_cap.confidence)
    e_values = {"type": "log", "gridcolor": GRID, "range": [-3.2, 5.2], "exponentformat": "power", "automargin": True}
    return Chart(
        traces=tuple(trace for i, each in enumerate(tested) for trace in _of_length(each, PALETTE[i % len(PALETTE)])),
        layout={
            "xaxis": {"anchor": "y2", "title": {"text": "samples of the length so far"}, "gridcolor": GRID,
                      "rangemode": "tozero", "automargin": True},
            "yaxis": {**e_values, "domain": [0.54, 1.0], "title": {"text": "evidence: it passes"}},
            "yaxis2": {**e_values, "domain": [0.0, 0.46], "title": {"text": "evidence: it is below"}},
            "shapes": [
                *(_line(1.0 / alpha, "y", MUTED) for alpha in sorted({each.alpha for each in tested})),
                _line(below_at, "y2", RED),
            ],
        },
        height=480,
    )  # fmt: skip


def _of_length(tested: TestedLength, colour: str) -> Iterator[dict[str, object]]:
    name = f"{tested.context_tokens:,} tokens: {tested.decision}"
    samples = [0, *(look.n for look in tested.blocks)]
    for axis, values in (
        ("y", [1.0, *(look.e_above for look in tested.blocks)]),
        ("y2", [1.0, *(look.e_below for look in tested.blocks)]),
    ):
        yield {
            "x": samples,
            "y": [min(_HIGHEST, max(_LOWEST, value)) for value in values],
            "yaxis": axis,
            "mode": "lines+markers",
            "name": name,
            "legendgroup": name,
            "showlegend": axis == "y",
            "line": {"color": colour, "width": 1.6},
            "marker": {"size": [*([4] * (len(samples) - 1)), 11], "symbol": _MARKS[tested.decision]},
            "hoverinfo": "text",
            "hovertext": [
                f"{name}<br>{n:,} samples: e = {value:.3g}" for n, value in zip(samples, values, strict=True)
            ],
        }


def _line(value: float, axis: str, colour: str) -> dict[str, object]:
    return {"type": "line", "x0": 0, "x1": 1, "xref": "paper", "y0": value, "y1": value, "yref": axis,
            "line": {"color": colour, "width": 1.2, "dash": "dash"}}  # fmt: skip
