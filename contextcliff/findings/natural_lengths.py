"""Documents of natural length: what each bin holds, and how its scores are spread."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from contextcliff.analysis.study import Study
from contextcliff.findings import phrases
from contextcliff.findings.drawing import SMALL, blank, heading, legend_under
from contextcliff.findings.finding import Block, Column, Finding, Image, Table, Text, columns
from contextcliff.records.analysis import Bin
from contextcliff.records.corpus import LengthAudit
from contextcliff.records.report import Report

if TYPE_CHECKING:
    from matplotlib.figure import Figure


class NaturalLengthsFinding(Finding[LengthAudit]):
    key = "audit"
    title = "Bins of documents"
    record = LengthAudit

    def find(self, study: Study) -> LengthAudit | None:
        return study.facts.audit

    def show(self, report: Report) -> tuple[Block, ...]:
        audit = self.of(report)
        meaning = (
            f"{len(audit.lengths):,} documents of natural length; {audit.too_short:,} were too short and"
            f" {audit.too_long:,} too long, and none was cut or padded."
        )
        if any(b.instability is not None for b in report.analysis.lengths):
            meaning += (
                " Instability is the share of questions whose score changes between their repeats, the variance in a"
                " question its mean size."
            )
        caption = "Documents by length"
        figure = Image(
            name="length_histogram", caption=caption,
            draw=lambda: audit_figure(audit, title=f"{caption}: {report.run.dataset}"),
        )  # fmt: skip
        return (Text(text=meaning), Table(columns=tuple(_columns(report.analysis.lengths))), figure)


def _columns(bins: tuple[Bin, ...]) -> Iterator[Column]:
    yield Column(title="bin", cells=tuple(str(position) for position, _ in enumerate(bins, start=1)))
    yield from columns(
        bins,
        ("prompt tokens", lambda b: f"{b.min_tokens:,}-{b.max_tokens:,}"),
        ("documents", lambda b: phrases.whole(b.n_documents)),
        ("questions", lambda b: phrases.whole(b.n_items)),
        ("sd", lambda b: phrases.score(b.std)),
    )
    if any(b.instability is not None for b in bins):
        yield from columns(
            bins,
            ("instability", lambda b: phrases.MISSING if b.instability is None else phrases.percent(b.instability)),
            ("variance in a question", lambda b: phrases.small(b.within_item_variance)),
        )
    yield from columns(bins, ("latency sd", lambda b: phrases.milliseconds(b.latency_ms_std)))


_CLASSES = 12
_WIDTH, _HEIGHT = 8.0, 3.0


def length_classes(lengths: Sequence[int]) -> list[tuple[int, int, int]]:
    """At most twelve classes of equal ratio over lengths in tokens, empty ones between them included."""
    if not lengths:
        return []
    low, high = max(1, min(lengths)), max(1, *lengths)
    count = min(_CLASSES, high - low + 1)
    ends = [*(math.floor(low * (high / low) ** (i / count)) for i in range(1, count)), high]
    starts = [low, *(end + 1 for end in ends)]
    counted = [sum(start <= max(1, n) <= end for n in lengths) for start, end in zip(starts, ends, strict=False)]
    return [each for each in zip(starts, ends, counted, strict=False) if each[0] <= each[1]]


def audit_figure(audit: LengthAudit, *, title: str) -> Figure:
    """Draw the histogram with the bins' edges; a document counts once, however many questions it has."""
    from matplotlib.ticker import MaxNLocator

    figure, axes = blank(width=_WIDTH, height=_HEIGHT)
    classes = length_classes(audit.lengths)
    lefts = [low for low, _, _ in classes]
    widths = [high + 1 - low for low, high, _ in classes]
    axes.bar(lefts, [n for _, _, n in classes], width=widths, align="edge", color="#8fb4d9", edgecolor="white")
    axes.set_xscale("log")
    edges = [*(part.min_tokens for part in audit.bins), *(part.max_tokens for part in audit.bins[-1:])]
    for edge in edges:
        axes.axvline(edge, color="#c2571a", linewidth=1.0, linestyle=":")
    if edges:
        axes.lines[-1].set_label("edges of the bins")
        legend_under(axes, drop=0.55 / _HEIGHT)
    ticks = [*lefts[:: max(1, len(lefts) // 6)], *(high for _, high, _ in classes[-1:])]
    axes.set_xticks(ticks, labels=[f"{tokens:,}" for tokens in ticks], fontsize=SMALL)
    axes.minorticks_off()
    axes.set_xlabel("length of the document in tokens", fontsize=9)
    axes.set_ylabel("documents", fontsize=9)
    axes.yaxis.set_major_locator(MaxNLocator(integer=True, min_n_ticks=1))
    axes.tick_params(axis="y", labelsize=SMALL)
    axes.spines[["top", "right"]].set_visible(False)
    left_out = f"left out: {audit.too_short:,} too short, {audit.too_long:,} too long"
    subtitle = f"{len(audit.lengths):,} documents, {len(audit.bins)} bins; {left_out}"
    heading(axes, title=title, subtitle=subtitle, inches=_WIDTH, above=10)
    return figure
