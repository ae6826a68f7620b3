"""The cap rule `memory`, and which of three limits binds: what the model still does well, memory, or time.

The memory cap is the longest context whose KV cache fits beside the weights, one request at a time: of
`model.memory_gib`, or of nine tenths of what the device has, since computing takes memory too. The cache's size comes
from the model's metadata and the policy (`contextcliff/kv/architecture.py`).
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass
from statistics import median
from typing import Literal

from contextcliff.analysis.bins import Group
from contextcliff.analysis.latency_cap import computed_tokens, fresh_requests, latency_cap
from contextcliff.analysis.study import Study
from contextcliff.records.kv_cache import CacheFacts

USABLE = 0.9
"""Share of a device's memory that weights and cache may take; vLLM's own default."""
_LONGEST = 1 << 34
LimitName = Literal["quality", "memory", "latency"]


@dataclass(frozen=True, kw_only=True, slots=True)
class CacheAtLength:
    """The cache at one tested length."""

    context_tokens: int
    """As asked."""
    gib: float | None
    """None where the model's metadata are not at hand."""
    prefill_tokens_per_s: float | None = None
    """Median over the requests whose prompt the engine had to read: computed tokens by time to the first token."""
    decode_tokens_per_s: float | None = None
    """Median over answers of two tokens or more: tokens after the first by the time that they took."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Limits:
    """The three caps in tokens, and the smallest; None where a limit is not known or not set."""

    quality: int | None
    quality_is_censored: bool
    """Whether the safe cap is the longest test, so that quality may bind only beyond."""
    memory: int | None
    latency: int | None
    latency_is_set: bool
    """Whether a limit on latency was asked for; `latency` is then None where not even the shortest length keeps it."""
    tokens: int | None
    """The smallest; None where there is no safe cap, or no length within the limit on latency."""
    binding: LimitName | None
    window: int
    """The model's."""


@dataclass(frozen=True, kw_only=True, slots=True)
class KVCache:
    """The cache of a run, and the limits."""

    facts: CacheFacts
    lengths: tuple[CacheAtLength, ...]
    memory_gib: float | None
    """What weights and cache may take together."""
    limits: Limits


def kv_cache(study: Study) -> KVCache | None:
    """None in runs of early versions, which kept nothing of their cache."""
    facts = study.facts.cache
    if facts is None:
        return None
    memory = memory_of(facts)
    return KVCache(
        facts=facts,
        lengths=tuple(_at_length(group, facts) for group in study.groups),
        memory_gib=memory,
        limits=_limits(study, None if memory is None else memory_cap(facts, memory)),
    )


def _at_length(group: Group, facts: CacheFacts) -> CacheAtLength:
    read = [item.generation for item in fresh_requests(group.samples) if item.generation is not None]
    answered = [item.generation for item in group.samples if item.generation is not None and item.generation.streamed]
    return CacheAtLength(
        context_tokens=group.asked_tokens,
        gib=facts.gib(group.asked_tokens),
        prefill_tokens_per_s=_median_rate((computed_tokens(each), each.ttft_ms) for each in read),
        decode_tokens_per_s=_median_rate(
            (each.completion_tokens - 1, each.latency_ms - each.ttft_ms) for each in answered
        ),
    )


def _median_rate(timed: Iterable[tuple[int, float]]) -> float | None:
    """The median of tokens a second, over pairs of tokens and milliseconds above 0."""
    rates = [1_000.0 * tokens / ms for tokens, ms in timed if tokens > 0 and ms > 0.0]
    return median(rates) if rates else None


def memory_of(facts: CacheFacts) -> float | None:
    """GiB that weights and cache may take; None where neither the model's key nor a device tells."""
    if facts.device is None:
        return None
    return facts.device.gib * (USABLE if facts.device.name else 1.0)


def memory_cap(facts: CacheFacts, memory_gib: float) -> int | None:
    """Tokens whose cache fits beside the weights, 0 where none do; None where the sizes are not known."""
    if facts.weights_gib is None or not facts.layers:
        return None
    free = memory_gib - facts.weights_gib
    fitting = bisect_right(range(_LONGEST), free, key=lambda tokens: facts.gib(tokens) or 0.0)
    return None if fitting == _LONGEST else max(0, fitting - 1)


def _limits(study: Study, memory: int | None) -> Limits:
    cap, latency = study.safe_cap, latency_cap(study)
    quality = cap.tokens
    by_name: dict[LimitName, int | None] = {"quality": quality, "memory": memory}
    if latency is not None:
        by_name["latency"] = latency.tokens
    known = [(tokens, name) for name, tokens in by_name.items() if tokens is not None]
    binding = min(known)[1] if known else None
    if quality is None:
        binding = "quality"
    elif latency is not None and latency.tokens is None:
        binding = "latency"
    return Limits(
        quality=quality,
        quality_is_censored=cap.censored,
        memory=memory,
        latency=None if latency is None else latency.tokens,
        latency_is_set=latency is not None,
        tokens=None if binding is None else by_name[binding],
        binding=binding,
        window=study.facts.max_context_tokens,
    )
