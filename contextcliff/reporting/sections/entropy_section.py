"""Attention entropy by length, beside the score."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from contextcliff.analysis.attention_entropy import AttentionEntropy, attention_entropy
from contextcliff.analysis.study import Study
from contextcliff.findings import phrases
from contextcliff.findings.drawing import ASKED, BLUE, blank, heading, legend_below, lengths_on_x, or_nan, scores_on_y
from contextcliff.findings.finding import (
    Block,
    Column,
    FigureOf,
    Finding,
    Image,
    Measurement,
    Shown,
    Table,
    Text,
    from_finding,
)
from contextcliff.records.report import Report
from contextcliff.reporting.kv_facts import EntropyInShort

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_MEANING = (
    "Attention entropy is how evenly the prompt's last tokens spread their attention: 0 all on one position, 1 evenly"
    " over all, averaged over heads and layers. A model that loses its hold on a long context spreads it. Above its"
    " threshold (analysis.entropy_threshold, or the shortest length's mean and two standard deviations) it is a sign;"
    " whether answers get worse, the scores say."
)
_HEIGHT, _WIDTH = 3.6, 8.0
_ORANGE = "#c2571a"


class EntropySection(Finding[AttentionEntropy]):
    """Where it was measured: `engine.attention_entropy` of the engine `transformers`."""

    key = "attention_entropy"
    title = "Attention entropy"
    folded = True
    record = AttentionEntropy
    figures = (
        FigureOf(
            name="attention_entropy",
            caption="Attention entropy and score by length",
            has_data=lambda report: report.analysis.finding(AttentionEntropy) is not None,
            draw=from_finding(AttentionEntropy, lambda report, finding: entropy_figure(report, finding)),
        ),
    )

    def find(self, study: Study) -> AttentionEntropy | None:
        return attention_entropy(study)

    def summary(self, report: Report) -> tuple[tuple[str, Shown], ...]:
        finding = self.of(report)
        return () if finding is None else ((self.title, EntropyInShort(entropy=finding)),)

    def show(self, report: Report) -> tuple[Block, ...]:
        finding = self.of(report)
        if finding is None:
            return ()
        rows = finding.lengths
        columns = (
            Column(title="asked tokens", cells=tuple(f"{row.context_tokens:,}" for row in rows)),
            Column(title="n", cells=tuple(f"{row.n:,}" for row in rows)),
            Column(title="entropy", cells=tuple(f"{row.mean:.3f}" for row in rows)),
            Column(
                title="interval",
                cells=tuple(
                    phrases.MISSING
                    if row.ci_low is None or row.ci_high is None
                    else f"{row.ci_low:.3f}-{row.ci_high:.3f}"
                    for row in rows
                ),
            ),
            Column(title="lowest layer", cells=tuple(_layer(row.by_layer, min) for row in rows)),
            Column(title="highest layer", cells=tuple(_layer(row.by_layer, max) for row in rows)),
        )
        short = EntropyInShort(entropy=finding)
        return (Text(text=short), Text(text=_MEANING), Table(columns=columns), Image(figure="attention_entropy"))

    def metrics(self, report: Report) -> Iterator[Measurement]:
        finding = self.of(report)
        if finding is None:
            return
        yield Measurement(key="attention/entropy_threshold", value=finding.threshold)
        yield Measurement(key="attention/crosses_tokens", value=finding.crosses_tokens)
        for row in finding.lengths:
            yield Measurement(key="by_length/attention_entropy", value=row.mean, step=row.context_tokens)
            for layer, value in enumerate(row.by_layer):
                yield Measurement(key=f"attention/layer_{layer:02}", value=value, step=row.context_tokens)


def _layer(values: tuple[float, ...], pick: object) -> str:
    """`0.31 (4)`: the value and the layer, counted from 0."""
    chosen = pick(values)  # type: ignore[operator]
    return f"{chosen:.2f} ({values.index(chosen)})"


def entropy_figure(report: Report, finding: AttentionEntropy) -> Figure:
    """Entropy and score share an axis from 0 to 1; thin lines are layers."""
    figure, axes = blank(width=_WIDTH, height=_HEIGHT)
    at = [row.context_tokens for row in finding.lengths]
    axis = lengths_on_x(axes, lengths=at, shown=at, inches=_WIDTH, label=ASKED)
    scores_on_y(axes)
    axes.set_ylabel("score and entropy", fontsize=9)
    for place, layer in enumerate(zip(*(row.by_layer for row in finding.lengths), strict=False)):
        axes.plot(at, layer, color="0.8", linewidth=0.6, zorder=1, label="entropy of a layer" if place == 0 else None)
    bins = {each.asked_tokens: each for each in report.analysis.bins}
    scores = [or_nan(bins[tokens].mean if tokens in bins else None) for tokens in at]
    axes.plot(at, scores, "o-", color=BLUE, linewidth=1.4, markersize=6, label="mean score", zorder=4)
    means = [row.mean for row in finding.lengths]
    spread = [
        [0.0 if row.ci_low is None else row.mean - row.ci_low for row in finding.lengths],
        [0.0 if row.ci_high is None else row.ci_high - row.mean for row in finding.lengths],
    ]
    axes.errorbar(at, means, yerr=spread, fmt="s-", color=_ORANGE, linewidth=1.8, markersize=6, capsize=3,
                  label="mean attention entropy", zorder=5)  # fmt: skip
    if finding.threshold is not None:
        axes.axhline(finding.threshold, color=_ORANGE, linewidth=1.0, linestyle=(0, (4, 2)), label="its threshold")
    heading(
        axes,
        title=f"Attention entropy: {report.run.model}",
        subtitle=f"{report.run.task}, KV policy {report.run.kv_policy}. 0: all on one position, 1: spread evenly",
        inches=_WIDTH,
        above=8,
    )
    legend_below(axes, axis=axis, height=_HEIGHT, columns=4)
    return figure
