"""Several runs in one chart: their scores by length, the threshold that they share, and the cap of each."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from contextcliff.findings import phrases
from contextcliff.findings.published import published_ends
from contextcliff.records.published import PublishedCurve
from contextcliff.reporting.figures.curves_figure import Curve
from contextcliff.reporting.page.chart import (
    PALETTE,
    Chart,
    in_chart,
    interval_bars,
    length_axis,
    score_axis,
    threshold_line,
)
from contextcliff.reporting.page.published_traces import published_traces

_SYMBOLS = ("circle", "square", "diamond", "triangle-up", "x", "cross", "star", "triangle-down")


def curves_chart(curves: Sequence[Curve], *, published: Sequence[PublishedCurve] = ()) -> Chart:
    """Draw at least one run that has scores; `published` curves stand thin behind."""
    lengths = [
        *(b.median_tokens for curve in curves for b in curve.report.analysis.bins),
        *published_ends(published),
    ]
    thresholds = {phrases.threshold_score(curve.report) for curve in curves}
    shapes: list[dict[str, object]] = []
    for place, curve in enumerate(curves):
        cap = curve.report.analysis.safe_cap.tokens
        if cap is not None:
            shapes.append(
                {"type": "line", "x0": max(1, cap), "x1": max(1, cap), "y0": 0, "y1": 1, "yref": "paper",
                 "line": {"color": PALETTE[place % len(PALETTE)], "width": 1.5, "dash": "dot"}}
            )  # fmt: skip
    notes: list[dict[str, object]] = []
    if len(thresholds) == 1 and (threshold := thresholds.pop()) is not None:
        shape, note = threshold_line(threshold)
        shapes.append(shape)
        notes.append(note)
    return Chart(
        traces=(*published_traces(published), *_traces(curves)),
        layout={
            "xaxis": length_axis(lengths, title="prompt length, tokens (median, measured); dotted lines: safe caps"),
            "yaxis": score_axis(),
            "shapes": shapes,
            "annotations": notes,
        },
        height=420,
    )


def _traces(curves: Sequence[Curve]) -> Iterator[dict[str, object]]:
    for place, curve in enumerate(curves):
        bins = sorted(curve.report.analysis.bins, key=lambda a_bin: a_bin.median_tokens)
        cap = curve.report.analysis.safe_cap.tokens
        words = "no cap" if cap is None else f"cap {cap:,}"
        # Equal curves lie beside each other, and not upon.
        apart = 1.0 + 0.012 * (place - (len(curves) - 1) / 2.0)
        name = in_chart(f"{curve.name} ({words})")
        yield {
            "x": [max(1, b.median_tokens) * apart for b in bins],
            "y": [b.mean for b in bins],
            "error_y": interval_bars([b.mean for b in bins], [b.ci_low for b in bins], [b.ci_high for b in bins]),
            "mode": "lines+markers",
            "name": name,
            "line": {"color": PALETTE[place % len(PALETTE)], "width": 2},
            "marker": {"size": 8, "symbol": _SYMBOLS[place % len(_SYMBOLS)]},
            "hoverinfo": "text",
            "hovertext": [
                f"{name}<br><b>{phrases.score(b.mean)}</b> at {b.median_tokens:,} tokens, interval"
                f" {phrases.interval(b.ci_low, b.ci_high)}, n = {b.n_samples:,}"
                for b in bins
            ],
        }
