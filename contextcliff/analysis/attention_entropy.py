"""Attention entropy by length: how evenly a prompt's last tokens spread their attention over what is before them.

0 is all the weight on one position, 1 an even spread over all of them, averaged over heads, layers and the last tokens
of the prompt (`engine.attention_entropy`). A model that loses its hold on a long context spreads its attention; the
threshold is `analysis.entropy_threshold`, or the shortest length's mean and two of its standard deviations. It is a
sign, and no test: the scores say whether answers get worse.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from contextcliff.analysis.bins import Group
from contextcliff.analysis.study import Study
from contextcliff.statistics.intervals import t_quantile

_DEVIATIONS = 2.0
_FEWEST = 2


@dataclass(frozen=True, kw_only=True, slots=True)
class EntropyAtLength:
    """The entropy at one length."""

    context_tokens: int
    """As asked."""
    n: int
    """Prompts that it was measured of."""
    mean: float
    """Over layers and prompts, 0–1."""
    ci_low: float | None
    """Student's interval over prompts, at the analysis' confidence; None of a single one."""
    ci_high: float | None
    std: float | None
    by_layer: tuple[float, ...]
    """The mean of each layer."""


@dataclass(frozen=True, kw_only=True, slots=True)
class AttentionEntropy:
    """The entropy by length, and where it rises above its threshold."""

    lengths: tuple[EntropyAtLength, ...]
    threshold: float | None
    """None where the shortest length has a single prompt and no threshold is set."""
    crosses_tokens: int | None
    """The shortest length whose mean, and those of all longer ones, are above it; None: there is none."""


def attention_entropy(study: Study) -> AttentionEntropy | None:
    """None where nothing was measured."""
    measured = (_at_length(group, study.confidence) for group in study.groups)
    lengths = tuple(each for each in measured if each is not None)
    if not lengths:
        return None
    threshold = study.settings.entropy_threshold
    if threshold is None and lengths[0].std is not None:
        threshold = lengths[0].mean + _DEVIATIONS * lengths[0].std
    return AttentionEntropy(
        lengths=lengths,
        threshold=threshold,
        crosses_tokens=None if threshold is None else _crossing(lengths, threshold),
    )


def _at_length(group: Group, confidence: float) -> EntropyAtLength | None:
    rows = [
        item.generation.attention_entropy
        for item in group.samples
        if item.generation is not None and item.generation.attention_entropy
    ]
    if not rows:
        return None
    table = np.array(rows, dtype=float)
    each = table.mean(axis=1)
    mean, n = float(each.mean()), len(rows)
    std = float(each.std(ddof=1)) if n >= _FEWEST else None
    half = None if std is None else t_quantile((1.0 + confidence) / 2.0, n - 1) * std / math.sqrt(n)
    return EntropyAtLength(
        context_tokens=group.asked_tokens,
        n=n,
        mean=mean,
        ci_low=None if half is None else mean - half,
        ci_high=None if half is None else mean + half,
        std=std,
        by_layer=tuple(float(value) for value in table.mean(axis=0)),
    )


def _crossing(lengths: Sequence[EntropyAtLength], threshold: float) -> int | None:
    above = None
    for each in reversed(lengths):
        if each.mean <= threshold:
            break
        above = each.context_tokens
    return above
