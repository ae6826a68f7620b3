"""The cap rule `latency`: up to which length requests are answered within `analysis.latency_slo_ms`.

It is the longest prompt of the last length, from the shortest up, at which the share of requests whose whole answer
came within the limit is shown to be above `analysis.latency_slo_share`, by the exact one-sided binomial bound at the
analysis' confidence. The order is fixed beforehand, so that no correction is needed. Where documents have their own
length it is the shortest prompt of that bin.

Counted are the requests of which the server read at least half of the prompt, each prompt once (`request_times.py`),
and as too late every sample without an answer. Fourteen requests, all in time, show a share of 0.8 at 95% confidence,
and 59 a share of 0.95.
"""

from __future__ import annotations

from dataclasses import dataclass

from contextcliff.analysis.request_times import fresh_requests
from contextcliff.analysis.study import Study
from contextcliff.records.generation import ScoredSample
from contextcliff.statistics.intervals import clopper_pearson_low


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
    """None where no limit is set."""
    limit, share = study.settings.latency_slo_ms, study.settings.latency_slo_share
    if limit is None:
        return None
    lengths = tuple(
        _within(group.asked_tokens, *_counts(group.samples, limit), share, study.confidence) for group in study.groups
    )
    cleared = next((place for place, each in enumerate(lengths) if not each.clears), len(lengths))
    tokens = None
    if cleared:
        last = study.bins[cleared - 1]
        tokens = last.max_tokens if study.facts.designed_lengths else last.min_tokens
    return LatencyCap(tokens=tokens, slo_ms=limit, share=share, lengths=lengths)


def _counts(samples: tuple[ScoredSample, ...], limit_ms: float) -> tuple[int, int]:
    """Requests in time, and all."""
    times = [item.generation.latency_ms for item in fresh_requests(samples) if item.generation is not None]
    unanswered = sum(item.generation is None for item in samples)
    return sum(time <= limit_ms for time in times), len(times) + unanswered


def _within(context_tokens: int, within: int, n: int, share: float, confidence: float) -> WithinLimit:
    low = clopper_pearson_low(within, n, confidence)
    return WithinLimit(context_tokens=context_tokens, n_requests=n, n_within=within, ci_low=low, clears=low > share)
