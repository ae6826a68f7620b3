"""The bin of each group of samples: its mean score with interval and bound, failures, latency and spread."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from contextcliff.analysis.groups import Group, median_tokens
from contextcliff.analysis.item_evidence import clusters_of, scores_of
from contextcliff.analysis.items import instability_of, items_of
from contextcliff.analysis.length_result import LengthResult
from contextcliff.records.analysis import Bin
from contextcliff.records.generation import ScoredSample
from contextcliff.statistics.descriptive import (
    bimodality,
    counted,
    mean_of,
    median_of,
    rolling_variances,
    standard_deviation,
)


def summarise(groups: Sequence[Group], confidence: float, *, binary: bool | None = None) -> tuple[LengthResult, ...]:
    """The result of each group, with intervals at `confidence`.

    `binary` is whether every item of the whole run is right or wrong; None decides it by these groups.
    """
    if binary is None:
        binary = all(item.is_right_or_wrong for g in groups for item in items_of(g.samples))
    results = [_length_result(g, binary=binary, confidence=confidence) for g in groups]
    rolling = rolling_variances([result.scores for result in results])
    return tuple(
        replace(result, bin=replace(result.bin, rolling_variance=variance))
        for result, variance in zip(results, rolling, strict=True)
    )


def _length_result(group: Group, *, binary: bool, confidence: float) -> LengthResult:
    lengths = [s.measured_tokens for s in group.samples]
    n_scored = sum(s.score is not None for s in group.samples)
    items = items_of(group.samples)
    scores = scores_of(items)
    changes = instability_of(items)
    summary = Bin(
        asked_tokens=group.asked_tokens,
        min_tokens=min(lengths),
        median_tokens=median_tokens(group.samples),
        max_tokens=max(lengths),
        n_samples=n_scored,
        n_unscored=len(group.samples) - n_scored,
        mean=mean_of(scores) if scores else None,
        ci_low=None,
        ci_high=None,
        tested_low=None,
        std=standard_deviation(scores),
        failure_rate=sum(_is_failure(s) for s in group.samples) / n_scored if n_scored else None,
        failures=_failures(group.samples),
        ttft_ms_median=median_of(s.generation.ttft_ms for s in group.samples if s.generation is not None),
        latency_ms_median=median_of(s.generation.latency_ms for s in group.samples if s.generation is not None),
        n_clusters=len(clusters_of(items)) or None,
        n_items=len(items),
        n_documents=len({s.sample.document_id for s in group.samples}),
        instability=None if changes is None else changes.share,
        within_item_variance=None if changes is None else changes.variance,
        latency_ms_std=standard_deviation([s.generation.latency_ms for s in group.samples if s.generation is not None]),
        bimodality=bimodality(scores),
    )
    result = LengthResult(bin=summary, items=items, binary=binary)
    return _with_bounds(result, confidence) if scores else result


def _with_bounds(result: LengthResult, confidence: float) -> LengthResult:
    low, high = result.evidence.shown(confidence)
    tested = result.if_unscored_wrong.lower(confidence)
    return replace(result, bin=replace(result.bin, ci_low=low, ci_high=high, tested_low=tested))


def _is_failure(item: ScoredSample) -> bool:
    """A scored sample that is not wholly right: exact match 0 where that was measured, else any score below 1.

    Where scores are graded it is a sample with a failure tag: even a good one scores below 1.
    """
    if item.score is None:
        return False
    if item.graded:
        return item.failure is not None
    return item.details.get("em", item.score) < 1.0


def _failures(samples: Iterable[ScoredSample]) -> dict[str, int]:
    """How often each tag occurs among imperfect and unscored samples, most frequent first."""
    return counted(
        s.failure for s in samples if s.failure is not None and (s.score is None or s.score < 1.0 or s.graded)
    )
