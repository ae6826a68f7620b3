"""Score by depth and length: where in the text the model loses the thread."""

from __future__ import annotations

from contextcliff.records.analysis import DepthCell
from contextcliff.records.report import Report
from contextcliff.reporting import phrases
from contextcliff.reporting.page.chart import INK, Chart

_LOW, _MIDDLE, _HIGH = "#b35806", "#f7f7f7", "#542788"
"""The ends of C. Brewer's PuOr, which the colour-blind tell apart."""
_ROW = 30
"""Pixels a depth."""


def heatmap_chart(report: Report) -> Chart:
    """Draw a report that has cells; scores under the threshold are orange, above it purple."""
    cells = {(cell.depth, cell.asked_tokens): cell for cell in report.analysis.cells}
    lengths = sorted({cell.asked_tokens for cell in report.analysis.cells})
    depths = sorted({cell.depth for cell in report.analysis.cells})
    rows = [[cells.get((depth, tokens)) for tokens in lengths] for depth in depths]
    threshold = phrases.threshold_score(report)
    middle = 0.5 if threshold is None else min(0.99, max(0.01, threshold))
    return Chart(
        traces=(
            {
                "type": "heatmap",
                "x": [f"{tokens:,}" for tokens in lengths],
                "y": [f"{depth:.3g}" for depth in depths],
                "z": [[None if cell is None else cell.mean for cell in row] for row in rows],
                "text": [[_mean(cell) for cell in row] for row in rows],
                "hovertext": [[_said(cell) for cell in row] for row in rows],
                "hoverinfo": "text",
                "texttemplate": "%{text}",
                "zmin": 0,
                "zmax": 1,
                "colorscale": [[0, _LOW], [middle, _MIDDLE], [1, _HIGH]],
                "colorbar": {
                    "title": {"text": "score"},
                    "tickvals": [0, middle, 1],
                    "ticktext": ["0", "0.5" if threshold is None else f"{threshold:.2f} threshold", "1"],
                    "thickness": 12,
                },
                "xgap": 2,
                "ygap": 2,
            },
        ),
        layout={
            "xaxis": {"type": "category", "title": {"text": "prompt length asked for, tokens"}, "showgrid": False,
                      "automargin": True},
            "yaxis": {"type": "category", "title": {"text": "depth (0: start of the text)"}, "autorange": "reversed",
                      "showgrid": False, "automargin": True},
            "font": {"color": INK},
        },
        height=170 + _ROW * len(depths),
    )  # fmt: skip


def _mean(cell: DepthCell | None) -> str:
    if cell is None or cell.mean is None:
        return ""
    return f"{cell.mean:.2f}{'' if cell.informative else '*'}"


def _said(cell: DepthCell | None) -> str:
    if cell is None:
        return "not measured"
    lines = [
        f"<b>{phrases.score(cell.mean)}</b> at depth {cell.depth:.3g}, {cell.asked_tokens:,} tokens",
        f"n = {cell.n_samples:,}",
        *([f"controls: ceiling {phrases.score(cell.ceiling)}"] if cell.ceiling is not None else []),
        *([f"floor {phrases.score(cell.floor)}"] if cell.floor is not None else []),
        *([] if cell.informative else ["* the controls say that a cliff can't be seen here"]),
    ]
    return "<br>".join(lines)
