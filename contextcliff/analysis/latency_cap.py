"""The requests whose times say how long a prompt takes, and the cap rule `latency`, which counts them.

A prompt that was sent before, or that begins like an earlier one, comes out of the server's cache in no time, so such
requests are left out. Where the server says how many tokens its cache saved, those are left out of which it saved more
than half. Where it does not say, only the slowest of the requests counts that have the same prompt or share a text: the
cache can't have served that one.

The cap is the longest prompt of the last length, from the shortest up, at which the share of requests whose whole
answer came within `analysis.latency_slo_ms` is shown to be above `analysis.latency_slo_share`, by the exact one-sided
binomial bound at the analysis' confidence. The order is fixed beforehand, so that no correction is needed. Where
documents have their own length it is the shortest prompt of that bin. A sample without an answer counts as too late.
Fourteen requests, all in time, show a share of 0.8 at 95% confidence, and 59 a share of 0.95.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass

from contextcliff.analysis.study import Study
from contextcliff.records.generation import Generation, ScoredSample
from contextcliff.statistics.intervals import clopper_pearson_low

_MOST_SAVED = 0.5


@dataclass(frozen=True, kw_only=True, slots=True)
class WithinLimit:
    """The requests of one length that were answered in time."""

    context_tokens: int
    """As asked."""
    n_requests: int
    n_within: int
    ci_low: float
    """One-sided lower bound of the share, at the analysis' confidence."""
    clears: bool


@dataclass(frozen=True, kw_only=True, slots=True)
class LatencyCap:
    """The cap by latency; `tokens` is None where not even the shortest length clears."""

    tokens: int | None
    slo_ms: float
    share: float
    lengths: tuple[WithinLimit, ...]


def latency_cap(study: Study) -> LatencyCap | None:
    """The cap, or None where no limit is set."""
    limit, share = study.settings.latency_slo_ms, study.settings.latency_slo_share
    if limit is None:
        return None
    lengths = []
    for group in study.groups:
        times = [item.generation.latency_ms for item in fresh_requests(group.samples) if item.generation is not None]
        n = len(times) + sum(item.generation is None for item in group.samples)
        within = sum(time <= limit for time in times)
        low = clopper_pearson_low(within, n, study.confidence)
        lengths.append(
            WithinLimit(
                context_tokens=group.asked_tokens, n_requests=n, n_within=within, ci_low=low, clears=low > share
            )
        )
    cleared = next((place for place, each in enumerate(lengths) if not each.clears), len(lengths))
    tokens = None
    if cleared:
        last = study.bins[cleared - 1]
        tokens = last.max_tokens if study.facts.designed_lengths else last.min_tokens
    return LatencyCap(tokens=tokens, slo_ms=limit, share=share, lengths=tuple(lengths))


def computed_tokens(generation: Generation) -> int:
    """Tokens of the prompt that no cache saved; all of them where the server does not say."""
    return generation.prompt_tokens - (generation.cached_tokens or 0)


def fresh_requests(samples: Iterable[ScoredSample]) -> tuple[ScoredSample, ...]:
    """The answered requests of which the server read at least half of the prompt, a prompt once; in a fixed order."""
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
