"""Samples grouped by length.

Where a task designs its lengths, a designed length is a group. Where documents have their natural length, groups are
quantiles of the measured prompt length: about equally many samples in each, so that no group is too thin to show
anything, and samples of equal length never in two groups.
"""

from __future__ import annotations

import statistics
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

from contextcliff.records.generation import ScoredSample
from contextcliff.statistics.descriptive import quantile_classes


@dataclass(frozen=True, kw_only=True, slots=True)
class Group:
    """The samples of one length, before anything is computed from them."""

    asked_tokens: int
    samples: tuple[ScoredSample, ...]


def group(scored: Iterable[ScoredSample], *, designed_lengths: bool, bins: int) -> tuple[Group, ...]:
    """The samples by designed length, by the bin they were drawn for, or in `bins` quantile bins; shortest first."""
    samples = tuple(scored)
    if designed_lengths:
        return _by_design(samples)
    if all(item.sample.bin is not None for item in samples):
        return _by_draw(samples)
    return _by_quantile(samples, bins)


def _by_draw(scored: tuple[ScoredSample, ...]) -> tuple[Group, ...]:
    by_bin: defaultdict[int, list[ScoredSample]] = defaultdict(list)
    for item in scored:
        by_bin[item.sample.bin or 0].append(item)
    return tuple(Group(asked_tokens=median_tokens(by_bin[k]), samples=tuple(by_bin[k])) for k in sorted(by_bin))


def _by_design(scored: Iterable[ScoredSample]) -> tuple[Group, ...]:
    by_length: defaultdict[int, list[ScoredSample]] = defaultdict(list)
    for item in scored:
        by_length[item.sample.context_tokens].append(item)
    return tuple(Group(asked_tokens=k, samples=tuple(by_length[k])) for k in sorted(by_length))


def _by_quantile(scored: tuple[ScoredSample, ...], bins: int) -> tuple[Group, ...]:
    by_length: defaultdict[int, list[ScoredSample]] = defaultdict(list)
    for item in scored:
        by_length[item.measured_tokens].append(item)
    classes = quantile_classes([item.measured_tokens for item in scored], bins)
    groups = [[item for length in lengths for item in by_length[length]] for lengths in classes]
    return tuple(Group(asked_tokens=median_tokens(group), samples=tuple(group)) for group in groups)


def median_tokens(samples: Iterable[ScoredSample]) -> int:
    """Median of the measured prompt lengths of at least one sample, rounded to whole tokens."""
    return round(statistics.median(s.measured_tokens for s in samples))
