"""Attention entropy by length: how evenly a prompt's last tokens spread their attention over what is before them. It is
a sign, and no test: the scores say whether answers get worse."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from itertools import takewhile
from typing import TYPE_CHECKING

import numpy as np

from contextcliff.analysis.bins import Group
from contextcliff.analysis.study import Study
from contextcliff.findings import drawing, phrases
from contextcliff.findings.finding import Block, Finding, Image, Table, Text, columns
from contextcliff.records.note import Note
from contextcliff.records.report import Report
from contextcliff.statistics.intervals import t_quantile

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_MEANING = (
    "Attention entropy is how evenly the prompt's last tokens spread their attention: 0 all on one position, 1 evenly"
    " over all, averaged over heads and layers. A model that loses its hold on a long context spreads it. Above its"
    " threshold (analysis.entropy_threshold, or the shortest length's mean and two standard deviations) it is a sign;"
    " whether answers get worse, the scores say."
)
_HEIGHT, _WIDTH = 3.6, 8.0


@dataclass(frozen=True, kw_only=True, slots=True)
class EntropyAtLength:
    """The entropy at one length."""

    context_tokens: int
    """As asked."""
    n: int
    """How many prompts it was measured on."""
    mean: float
    """Over layers and prompts, 0–1."""
    ci_low: float | None
    """Student's interval over prompts, at the analysis' confidence; None for a single prompt."""
    ci_high: float | None
    std: float | None
    by_layer: tuple[float, ...]
    """The mean of each layer."""


@dataclass(frozen=True, kw_only=True, slots=True)
class AttentionEntropy:
    """The entropy by length, and where it rises above its threshold."""

    lengths: tuple[EntropyAtLength, ...]
    threshold: float | None
    """None if the shortest length has a single prompt and no threshold is set."""
    crosses_tokens: int | None
    """The shortest length from which on every mean is above the threshold; None if there is none."""


def _at_length(group: Group, confidence: float) -> EntropyAtLength | None:
    answered = (item.generation for item in group.samples if item.generation is not None)
    rows = [each.attention_entropy for each in answered if each.attention_entropy]
    if not rows:
        return None
    table = np.array(rows, dtype=float)
    each = table.mean(axis=1)
    mean, n = float(each.mean()), len(rows)
    std = float(each.std(ddof=1)) if n > 1 else None
    half = math.nan if std is None else t_quantile((1.0 + confidence) / 2.0, n - 1) * std / math.sqrt(n)
    low, high = (None, None) if std is None else (mean - half, mean + half)
    by_layer = tuple(table.mean(axis=0).tolist())
    return EntropyAtLength(
        context_tokens=group.asked_tokens, n=n, mean=mean, ci_low=low, ci_high=high, std=std, by_layer=by_layer
    )


class EntropyFinding(Finding[AttentionEntropy]):
    """The entropy by length, where `engine.attention_entropy` of the engine `transformers` measured it."""

    key = "attention_entropy"
    title = "Attention entropy"
    record = AttentionEntropy

    def find(self, study: Study) -> AttentionEntropy | None:
        measured = (_at_length(group, study.confidence) for group in study.groups)
        lengths = tuple(each for each in measured if each is not None)
        if not lengths:
            return None
        threshold = study.settings.entropy_threshold
        if threshold is None and lengths[0].std is not None:
            threshold = lengths[0].mean + 2.0 * lengths[0].std
        limit = math.inf if threshold is None else threshold
        above = list(takewhile(lambda each: each.mean > limit, reversed(lengths)))
        crossing = above[-1].context_tokens if above else None
        return AttentionEntropy(lengths=lengths, threshold=threshold, crosses_tokens=crossing)

    def show(self, report: Report) -> tuple[Block, ...]:
        finding = self.of(report)
        table = columns(
            finding.lengths,
            ("asked", lambda row: f"{row.context_tokens:,}"),
            ("n", lambda row: f"{row.n:,}"),
            ("entropy", lambda row: phrases.small(row.mean)),
            ("interval", lambda row: phrases.MISSING if row.ci_low is None else f"{row.ci_low:.3f}-{row.ci_high:.3f}"),
            ("lowest layer", lambda row: _layer(row.by_layer, min(row.by_layer))),
            ("highest layer", lambda row: _layer(row.by_layer, max(row.by_layer))),
        )
        caption = "Attention entropy and score by length"
        figure = Image(name="attention_entropy", caption=caption, draw=lambda: entropy_figure(report, finding))
        in_short = _in_short(finding, report.analysis.measured)
        return (Text(text=in_short), Text(text=_MEANING), Table(columns=table), figure)


def _in_short(entropy: AttentionEntropy, measured: Callable[[int], int]) -> Note:
    first, last = entropy.lengths[0], entropy.lengths[-1]
    runs = Note("{mean:.2f} at {tokens:,} tokens", mean=first.mean, tokens=measured(first.context_tokens))
    if last is not first:
        runs = Note(
            "{first}, {mean:.2f} at {tokens:,}", first=runs, mean=last.mean, tokens=measured(last.context_tokens)
        )
    if entropy.threshold is None:
        return Note("{runs}; a single prompt sets no threshold", runs=runs)
    if entropy.crosses_tokens is None:
        return Note("{runs}; above {threshold:.2f} nowhere", runs=runs, threshold=entropy.threshold)
    return Note("{runs}; above {threshold:.2f} from {tokens:,} tokens on", runs=runs, threshold=entropy.threshold,
                tokens=measured(entropy.crosses_tokens))  # fmt: skip


def _layer(values: tuple[float, ...], chosen: float) -> str:
    return f"{chosen:.2f} ({values.index(chosen)})"


def entropy_figure(report: Report, finding: AttentionEntropy) -> Figure:
    """Entropy and score share an axis from 0 to 1; thin lines are layers."""
    figure, axes = drawing.blank(width=_WIDTH, height=_HEIGHT)
    at = [row.context_tokens for row in finding.lengths]
    axis = drawing.lengths_on_x(axes, lengths=at, shown=at, inches=_WIDTH, label=drawing.ASKED)
    drawing.scores_on_y(axes)
    axes.set_ylabel("score and entropy", fontsize=9)
    for place, layer in enumerate(zip(*(row.by_layer for row in finding.lengths), strict=False)):
        axes.plot(at, layer, color="0.8", linewidth=0.6, zorder=1, label="entropy of a layer" if place == 0 else None)
    bins = {each.asked_tokens: each for each in report.analysis.lengths}
    scores = [drawing.or_nan(bins[tokens].mean if tokens in bins else None) for tokens in at]
    axes.plot(at, scores, "o-", color=drawing.BLUE, linewidth=1.4, markersize=6, label="mean score", zorder=4)
    means = [row.mean for row in finding.lengths]
    spread = [0.0 if row.ci_high is None else row.ci_high - row.mean for row in finding.lengths]
    axes.errorbar(at, means, yerr=spread, fmt="s-", color=drawing.ORANGE, linewidth=1.8, markersize=6, capsize=3,
                  label="mean attention entropy", zorder=5)  # fmt: skip
    if finding.threshold is not None:
        axes.axhline(
            finding.threshold, color=drawing.ORANGE, linewidth=1.0, linestyle=(0, (4, 2)), label="its threshold"
        )
    words = "0: all on one position, 1: spread evenly"
    drawing.run_heading(axes, report.run, "Attention entropy", words, inches=_WIDTH, above=8)
    drawing.legend_under(axes, drop=axis.under / _HEIGHT, ncols=4)
    return figure
