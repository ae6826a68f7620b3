"""Samples grouped by length, and the groups that are filled after a pilot.

Where a task designs its lengths, a designed length is a group. Where documents have their natural length, groups are
quantiles of the measured prompt length: about equally many samples in each, so that no group is too thin to show
anything, and samples of equal length never in two groups.

A pilot asks a few questions of every bin first. Their scores choose the bins and nothing else: the cap is tested on the
fresh samples alone, so that the choice does not affect its confidence."""

from __future__ import annotations

import statistics
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass, replace

from contextcliff.analysis.lengths import Item, LengthResult, clusters_of, instability_of, items_of, scores_of
from contextcliff.records.analysis import Bin
from contextcliff.records.generation import Generation, ScoredSample
from contextcliff.statistics.descriptive import (
    bimodality,
    counted,
    mean_of,
    median_of,
    quantile_classes,
    rolling_variances,
    standard_deviation,
)

_MOST_SAVED = 0.5
"""Share of a prompt that a cache may have saved of a request whose time counts."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Group:
    """The samples of one length, before anything is computed from them."""

    asked_tokens: int
    samples: tuple[ScoredSample, ...]
    natural_lengths: bool = False
    """Whether its prompts have lengths of their own, as documents have."""


def group(scored: Iterable[ScoredSample], *, designed_lengths: bool, bins: int) -> tuple[Group, ...]:
    """The samples by designed length, by the bin they were drawn for, or in `bins` quantile bins; shortest first."""
    samples = tuple(scored)
    if designed_lengths:
        designed = _by(samples, lambda item: item.sample.context_tokens)
        return tuple(Group(asked_tokens=tokens, samples=tuple(items)) for tokens, items in designed.items())
    if all(item.sample.bin is not None for item in samples):
        return tuple(map(_natural, _by(samples, lambda item: item.sample.bin or 0).values()))
    measured = _by(samples, lambda item: item.measured_tokens)
    classes = quantile_classes([item.measured_tokens for item in samples], bins)
    return tuple(_natural([item for length in lengths for item in measured[length]]) for lengths in classes)


def _by(samples: Iterable[ScoredSample], number: Callable[[ScoredSample], int]) -> dict[int, list[ScoredSample]]:
    """The samples of each number, ascending."""
    found: defaultdict[int, list[ScoredSample]] = defaultdict(list)
    for item in samples:
        found[number(item)].append(item)
    return {each: found[each] for each in sorted(found)}


def _natural(samples: Sequence[ScoredSample]) -> Group:
    return Group(asked_tokens=median_tokens(samples), samples=tuple(samples), natural_lengths=True)


def median_tokens(samples: Iterable[ScoredSample]) -> int:
    """Median of the measured prompt lengths of at least one sample, rounded to whole tokens."""
    return round(statistics.median(s.measured_tokens for s in samples))


def summarise(
    groups: Sequence[Group], confidence: float, *, binary: bool | None = None, draws_anew: bool = True
) -> tuple[LengthResult, ...]:
    """The result of each group, with intervals at `confidence`.

    `binary` is whether every item of the whole run is right or wrong; None decides it by these groups. Without
    `draws_anew` the repeats of a question are one draw, and how much they differ measures nothing of the model."""
    items = [items_of(group.samples) for group in groups]
    if binary is None:
        binary = all(item.is_right_or_wrong for of_length in items for item in of_length)
    results = [
        _length_result(group, of_length, binary=binary, confidence=confidence, draws_anew=draws_anew)
        for group, of_length in zip(groups, items, strict=True)
    ]
    rolling = rolling_variances([result.scores for result in results])
    return tuple(
        replace(result, bin=replace(result.bin, rolling_variance=variance))
        for result, variance in zip(results, rolling, strict=True)
    )


def _length_result(
    group: Group, items: tuple[Item, ...], *, binary: bool, confidence: float, draws_anew: bool
) -> LengthResult:
    lengths = [s.measured_tokens for s in group.samples]
    n_scored = sum(s.score is not None for s in group.samples)
    scores = scores_of(items)
    changes = instability_of(items) if draws_anew else None
    summary = Bin(
        asked_tokens=group.asked_tokens, min_tokens=min(lengths), median_tokens=median_tokens(group.samples),
        max_tokens=max(lengths), n_samples=n_scored, n_unscored=len(group.samples) - n_scored,
        mean=mean_of(scores) if scores else None, ci_low=None, ci_high=None, tested_low=None,
        std=standard_deviation(scores),
        failure_rate=sum(is_failure(s) for s in group.samples) / n_scored if n_scored else None,
        failures=counted(
            s.failure
            for s in group.samples
            if s.failure is not None and (s.score is None or s.score < 1.0 or s.graded)
        ),
        ttft_ms_median=median_of(each.ttft_ms for each in streamed_requests(group.samples)),
        latency_ms_median=median_of(s.generation.latency_ms for s in group.samples if s.generation is not None),
        n_clusters=len(clusters_of(items)) or None, n_items=len(items),
        n_documents=len({s.sample.document_id for s in group.samples}),
        instability=None if changes is None else changes.share,
        within_item_variance=None if changes is None else changes.variance,
        latency_ms_std=standard_deviation([s.generation.latency_ms for s in group.samples if s.generation is not None]),
        bimodality=bimodality(scores), natural_lengths=group.natural_lengths,
    )  # fmt: skip
    result = LengthResult(bin=summary, items=items, binary=binary)
    if not scores:
        return result
    low, high = result.evidence.shown(confidence)
    tested = result.if_unscored_wrong.lower(confidence)
    return replace(result, bin=replace(summary, ci_low=low, ci_high=high, tested_low=tested))


def is_failure(item: ScoredSample) -> bool:
    """A scored sample that is not wholly right, by any score below 1. Where scores are graded it is a sample with a
    failure tag: even a good one scores below 1."""
    if item.score is None:
        return False
    if item.graded:
        return item.failure is not None
    return item.score < 1.0


def computed_tokens(generation: Generation) -> int:
    """Tokens of the prompt that no cache saved; all of them where the server does not say."""
    return generation.prompt_tokens - (generation.cached_tokens or 0)


def fresh_requests(samples: Iterable[ScoredSample]) -> tuple[ScoredSample, ...]:
    """The answered requests whose prompt the server had to read, in a fixed order.

    A prompt that was sent before, or that begins like an earlier one, comes out of the server's cache in no time. Where
    the server says how many tokens its cache saved, a request is left out of which it saved more than half. Where it
    does not say, of requests with the same prompt or a shared text the slowest counts: no cache served that one."""
    slowest: dict[Hashable, ScoredSample] = {}
    for item in samples:
        generation = item.generation
        if generation is None or generation.prompt_tokens < 1:
            continue
        if computed_tokens(generation) < (1.0 - _MOST_SAVED) * generation.prompt_tokens:
            continue
        is_shared = generation.cached_tokens is None and item.sample.cluster
        key = ("text", item.sample.cluster) if is_shared else ("prompt", item.prompt_sha256)
        held = slowest.get(key)
        if held is None or _ttft_ms(held) < generation.ttft_ms:
            slowest[key] = item
    return tuple(sorted(slowest.values(), key=lambda item: (_ttft_ms(item), item.sample.sample_id)))


def _ttft_ms(item: ScoredSample) -> float:
    return 0.0 if item.generation is None else item.generation.ttft_ms


def streamed_requests(samples: Iterable[ScoredSample]) -> list[Generation]:
    """Those of them that streamed: of others the first token comes with the last."""
    found = (item.generation for item in fresh_requests(samples))
    return [each for each in found if each is not None and each.streamed]


def bins_to_fill(pilot: Iterable[ScoredSample], *, threshold: float, relative: bool) -> tuple[int, ...]:
    """The bins to fill, ascending: the last good one, the first bad one and the one after, and the baseline.

    A bin is good if its mean is at the threshold or above (`relative`: at this share of the shortest bin's mean), else
    bad. If no bin is bad, or the first one is, the bins at that end are filled."""
    by_bin = _by((item for item in pilot if item.sample.bin is not None), lambda item: item.sample.bin or 0)
    order = list(by_bin)
    if not order:
        return ()
    scores = [scores_of(items_of(samples)) for samples in by_bin.values()]
    means = [mean_of(each) if each else None for each in scores]
    limit = threshold * (means[0] or 0.0) if relative else threshold
    bad = next((rank for rank, mean in enumerate(means) if mean is None or mean < limit), len(order))
    wanted = {rank for rank in (bad - 1, bad, bad + 1) if 0 <= rank < len(order)}
    if bad == len(order):
        wanted.add(max(0, bad - 2))
    if relative:
        wanted.add(0)
    return tuple(order[rank] for rank in sorted(wanted))
