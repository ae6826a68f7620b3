"""The score at every length: means with their interval, the threshold, the cap, and the cap at every depth."""

from __future__ import annotations

from collections.abc import Iterator

from contextcliff.records.analysis import Bin
from contextcliff.records.report import Report
from contextcliff.reporting import phrases
from contextcliff.reporting.figures.published_lines import published_ends
from contextcliff.reporting.page.chart import (
    BAND,
    BLUE,
    INK,
    MUTED,
    ORANGE,
    PURPLE,
    Chart,
    in_chart,
    length_axis,
    line_down,
    score_axis,
    threshold_line,
)
from contextcliff.reporting.page.published_traces import published_traces


def score_chart(report: Report) -> Chart:
    """Draw a report that has bins."""
    bins = sorted(report.analysis.bins, key=lambda a_bin: a_bin.median_tokens)
    shapes: list[dict[str, object]] = []
    notes: list[dict[str, object]] = []
    for row, (shape, note) in enumerate(_lines(report)):
        shapes.append(shape)
        notes.append({**note, "yshift": 2 + 15 * row})
    threshold = phrases.threshold_score(report)
    if threshold is not None:
        shape, note = threshold_line(threshold)
        shapes.append(shape)
        notes.append(note)
    return Chart(
        traces=(*published_traces(report.run.published), *_traces(report, bins)),
        layout={
            "xaxis": length_axis(
                [*(b.median_tokens for b in bins), *published_ends(report.run.published)],
                title="prompt length, tokens (median, measured)",
            ),
            "yaxis": score_axis(),
            "shapes": shapes,
            "annotations": notes,
            "margin": {"t": 12 + 16 * max(1, sum(1 for _ in _lines(report)))},
        },
    )


def _traces(report: Report, bins: list[Bin]) -> Iterator[dict[str, object]]:
    cap = report.analysis.safe_cap
    x = [max(1, b.median_tokens) for b in bins]
    edge = {"x": x, "mode": "lines", "line": {"width": 0}, "hoverinfo": "skip", "showlegend": False}
    yield {**edge, "y": [b.ci_low for b in bins]}
    yield {
        **edge,
        "y": [b.ci_high for b in bins],
        "fill": "tonexty",
        "fillcolor": BAND,
        "name": f"{phrases.percent(cap.confidence)} interval",
        "showlegend": True,
    }
    natural = any(b.natural_lengths for b in bins)
    across = {
        "type": "data",
        "symmetric": False,
        "array": [b.max_tokens - b.median_tokens for b in bins],
        "arrayminus": [b.median_tokens - b.min_tokens for b in bins],
        "color": MUTED,
        "thickness": 1.2,
    }
    yield {
        "x": x,
        "y": [b.mean for b in bins],
        "mode": "lines+markers",
        "name": "mean score",
        "line": {"color": BLUE, "width": 2},
        "marker": {"size": 8, "color": BLUE},
        **({"error_x": across} if natural else {}),
        "hoverinfo": "text",
        "hovertext": [_said(report, b) for b in bins],
    }
    if any(b.tested_low is not None for b in bins):
        yield {
            "x": x,
            "y": [b.tested_low for b in bins],
            "mode": "markers",
            "name": f"{phrases.bound_name(cap)} (one-sided, {phrases.percent(cap.confidence)})",
            "marker": {"symbol": "line-ew", "size": 13, "line": {"width": 2.5, "color": INK}},
            "hoverinfo": "skip",
        }
    silent = [at for at, b in zip(x, bins, strict=True) if b.mean is None]
    if silent:
        yield {
            "x": silent,
            "y": [0.0] * len(silent),
            "mode": "markers",
            "name": "nothing scored",
            "marker": {"symbol": "x", "size": 9, "color": MUTED},
            "hoverinfo": "skip",
        }


def _said(report: Report, b: Bin) -> str:
    lines = [
        f"<b>{phrases.score(b.mean)}</b> at {phrases.whole(b.median_tokens)} tokens",
        f"asked {phrases.whole(b.asked_tokens)}, measured {phrases.span(b.min_tokens, b.max_tokens, ',')}",
        f"interval {phrases.interval(b.ci_low, b.ci_high)}",
        f"{phrases.bound_name(report.analysis.safe_cap)} {phrases.bound(b.tested_low)}",
        f"n = {b.n_samples:,}" + (f", {b.n_unscored:,} unscored" if b.n_unscored else ""),
        f"commonest failure {in_chart(phrases.commonest_failure(b))}",
    ]
    return "<br>".join(lines)


def _lines(report: Report) -> Iterator[tuple[dict[str, object], ...]]:
    cap = report.analysis.safe_cap
    at_every_depth = report.analysis.caps.get("any_depth")
    if at_every_depth is not None and at_every_depth != cap.tokens:
        yield line_down(at_every_depth, text=f"at every depth {at_every_depth:,}", colour=ORANGE, dash="dot")
    if cap.tokens is not None:
        beyond = " (no cliff up to the longest test)" if cap.censored else ""
        same = " at every depth too" if at_every_depth == cap.tokens and not beyond else ""
        yield line_down(cap.tokens, text=f"safe cap {cap.tokens:,}{beyond}{same}", colour=PURPLE)
