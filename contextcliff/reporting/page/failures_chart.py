"""The failure tags by length, as shares of the planned samples."""

from __future__ import annotations

from collections.abc import Sequence

from contextcliff.records.analysis import Bin
from contextcliff.records.report import Report
from contextcliff.reporting import phrases
from contextcliff.reporting.page.chart import GRID, MUTED, PALETTE, Chart, in_chart

_OTHER = "other"


def failures_chart(report: Report) -> Chart:
    """Draw a report with a failure; the rarest tags beyond eight are `other`."""
    bins = sorted(report.analysis.bins, key=lambda a_bin: a_bin.median_tokens)
    tags = list(phrases.all_failures(report))
    shown, rest = tags[: len(PALETTE)], tags[len(PALETTE) :]
    named: list[tuple[str, tuple[str, ...], str]] = [
        (tag, (tag,), colour) for tag, colour in zip(shown, PALETTE, strict=False)
    ]
    if rest:
        named.append((_OTHER, tuple(rest), MUTED))
    return Chart(
        traces=tuple(
            {
                "type": "bar",
                "name": in_chart(name),
                "x": [f"{b.asked_tokens:,}" for b in bins],
                "y": [_count(b, members) / _planned(b) for b in bins],
                "marker": {"color": colour},
                "hoverinfo": "text",
                "hovertext": [_said(b, name, members) for b in bins],
                "textposition": "none",
            }
            for name, members, colour in named
        ),
        layout={
            "barmode": "stack",
            "xaxis": {"type": "category", "title": {"text": "prompt length, tokens"}, "automargin": True},
            "yaxis": {"title": {"text": "share of samples"}, "range": [0, 1], "gridcolor": GRID, "automargin": True},
        },
        height=320,
    )


def _count(b: Bin, members: Sequence[str]) -> int:
    return sum(b.failures.get(tag, 0) for tag in members)


def _planned(b: Bin) -> int:
    return max(1, b.n_samples + b.n_unscored)


def _said(b: Bin, name: str, members: Sequence[str]) -> str:
    return f"{in_chart(name)}: {_count(b, members):,} of {_planned(b):,} at {b.asked_tokens:,} tokens"
