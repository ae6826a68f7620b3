"""The share of healthy rounds by length, with the threshold that the safe cap is tested against."""

from __future__ import annotations

from typing import TYPE_CHECKING

from contextcliff.findings import phrases
from contextcliff.findings.drawing import (
    BLUE,
    GREY,
    LINE,
    RED,
    blank,
    counts_above,
    heading,
    legend_below,
    lengths_on_x,
    line_across,
    or_nan,
    scores_on_y,
)
from contextcliff.records.report import Report
from contextcliff.reporting.report_facts import Headline
from contextcliff.reporting.words.english import say
from contextcliff.writing.prose_findings import Health, Writing
from contextcliff.writing.sections.shown_lengths import as_shown, shown_lengths

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_WIDTH, _HEIGHT = 8.0, 4.2


def health_figure(report: Report, writing: Writing) -> Figure:
    """Draw a finding that has health: shares with Wilson's interval and the bound that is tested."""
    writing = as_shown(writing)
    health = writing.health
    if health is None:
        raise ValueError("nobody judged whether these rounds are healthy")
    figure, axes = blank(width=_WIDTH, height=_HEIGHT)
    levels = health.levels
    tokens = [level.context_tokens for level in levels]
    axis = lengths_on_x(axes, lengths=tokens, shown=tokens, inches=_WIDTH, label=shown_lengths(writing).name)
    scores_on_y(axes)
    axes.set_ylabel("share of healthy rounds")
    lows, highs = [or_nan(level.ci_low) for level in levels], [or_nan(level.ci_high) for level in levels]
    confidence = phrases.percent(writing.confidence)
    axes.vlines(tokens, lows, highs, color=BLUE, alpha=0.45, linewidth=3, label=f"{confidence} interval")
    axes.plot(tokens, [or_nan(level.share) for level in levels], "o-", color=BLUE, label="healthy rounds", zorder=4)
    axes.plot(
        tokens, [or_nan(level.tested_low) for level in levels], linestyle="none", marker="_", markersize=11,
        markeredgewidth=2, color="black", label=f"tested bound (one-sided, {confidence})", zorder=5,
    )  # fmt: skip
    threshold = _threshold(health)
    if threshold is not None:
        line_across(axes, score=threshold, text=f"threshold {threshold:.2f}", colour=RED)
    rows = [("n", [level.n for level in levels], GREY)]
    above = counts_above(axes, places=tokens, inches=[axis.inches_at(at) for at in tokens], rows=rows)
    heading(
        axes,
        title=f"Healthy rounds by length: {report.run.model}",
        subtitle=f"{writing.document_id}. Safe cap: {say(Headline(cap=report.analysis.safe_cap))}",
        inches=_WIDTH,
        above=above + LINE,
    )
    legend_below(axes, axis=axis, height=_HEIGHT, columns=3)
    return figure


def _threshold(health: Health) -> float | None:
    if not health.relative:
        return health.threshold
    shortest = health.levels[0].share
    return None if shortest is None else health.threshold * shortest
