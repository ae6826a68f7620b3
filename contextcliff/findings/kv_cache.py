"""The KV cache: its policy and size by length, and which of three limits binds: quality, memory or time.

The memory cap is the longest context whose KV cache fits beside the weights, one request at a time: of
`model.memory_gib`, or of nine tenths of what the device has, since computing takes memory too. The cache's size comes
from the model's metadata and the policy (`contextcliff/kv/model_cache.py`).
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from statistics import median
from typing import ClassVar, Literal

from contextcliff.analysis.bins import Group
from contextcliff.analysis.study import Study
from contextcliff.findings import phrases
from contextcliff.findings.finding import Block, Finding, Line, Measurement, Pairs, Shown, Table, columns, measured
from contextcliff.findings.latency import computed_tokens, fresh_requests, latency_cap
from contextcliff.records.kv_cache import CacheFacts
from contextcliff.records.note import Note
from contextcliff.records.report import Report

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
    """None if the model's metadata are unknown."""
    prefill_tokens_per_s: float | None = None
    """Median over the requests whose prompt the engine had to read: computed tokens by time to the first token."""
    decode_tokens_per_s: float | None = None
    """Median over answers of two tokens or more: tokens after the first by the time that they took."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Limits:
    """The three caps in tokens, and the smallest; None if a limit is unknown or not set."""

    quality: int | None
    quality_is_censored: bool
    """Whether the safe cap is the longest test: the limit by quality may lie beyond it."""
    memory: int | None
    latency: int | None
    latency_is_set: bool
    """Whether a limit on latency was asked for; `latency` is then None if even the shortest length exceeds it."""
    tokens: int | None
    """The smallest; None if there is no safe cap, or no length within the limit on latency."""
    binding: LimitName | None
    window: int | None
    """Of the model, in tokens; None if unknown."""


@dataclass(frozen=True, kw_only=True, slots=True)
class KVCache:
    """The cache of a run, and the limits."""

    facts: CacheFacts
    lengths: tuple[CacheAtLength, ...]
    memory_gib: float | None
    """What weights and cache may take together."""
    limits: Limits


def _at_length(group: Group, facts: CacheFacts) -> CacheAtLength:
    read = [item.generation for item in fresh_requests(group.samples) if item.generation is not None]
    answered = [item.generation for item in group.samples if item.generation is not None and item.generation.streamed]
    decoded = ((each.completion_tokens - 1, each.latency_ms - each.ttft_ms) for each in answered)
    return CacheAtLength(
        context_tokens=group.asked_tokens, gib=facts.gib(group.asked_tokens),
        prefill_tokens_per_s=_median_rate((computed_tokens(each), each.ttft_ms) for each in read),
        decode_tokens_per_s=_median_rate(decoded),
    )  # fmt: skip


def _median_rate(timed: Iterable[tuple[int, float]]) -> float | None:
    rates = [1_000.0 * tokens / ms for tokens, ms in timed if tokens > 0 and ms > 0.0]
    return median(rates) if rates else None


def memory_of(facts: CacheFacts) -> float | None:
    """GiB that weights and cache may take; None if neither `model.memory_gib` nor a device says it."""
    if facts.device is None:
        return None
    return facts.device.gib * (USABLE if facts.device.name else 1.0)


def memory_cap(facts: CacheFacts, memory_gib: float) -> int | None:
    """Tokens whose cache fits beside the weights, 0 if none do; None if the sizes are unknown."""
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
        quality=quality, quality_is_censored=cap.censored, memory=memory,
        latency=None if latency is None else latency.tokens, latency_is_set=latency is not None,
        tokens=None if binding is None else by_name[binding], binding=binding, window=study.facts.max_context_tokens,
    )  # fmt: skip


class KVCacheFinding(Finding[KVCache]):
    key = "kv_cache"
    title = "KV cache"
    record = KVCache
    cap_rules: ClassVar[Mapping[str, str]] = {
        "memory": "tokens whose KV cache fits beside the weights in model.memory_gib, or in nine tenths of the"
        " device's memory, one request at a time"
    }

    def find(self, study: Study) -> KVCache | None:
        facts = study.facts.cache
        if facts is None:  # early versions kept nothing of it
            return None
        memory = memory_of(facts)
        return KVCache(
            facts=facts, lengths=tuple(_at_length(group, facts) for group in study.groups), memory_gib=memory,
            limits=_limits(study, None if memory is None else memory_cap(facts, memory)),
        )  # fmt: skip

    def caps(self, finding: KVCache, study: Study) -> Mapping[str, int | None]:  # noqa: ARG002
        return {"memory": finding.limits.memory}

    def look(self, report: Report) -> tuple[Line, ...]:
        limits = self.of(report).limits
        return (Line(label="Limits", text=limits_in_words(limits)),) if limits.binding in ("memory", "latency") else ()

    def show(self, report: Report) -> tuple[Block, ...]:
        finding = self.of(report)
        facts = finding.facts
        rows: list[tuple[str, Shown]] = [("Policy", policy_in_words(facts)), ("Size", _size(facts))]
        if finding.memory_gib is not None:
            rows.append(("Memory", _memory(finding.memory_gib, facts)))
        rows.append(("Limits", limits_in_words(finding.limits)))
        table = columns(
            finding.lengths,
            ("asked tokens", lambda each: f"{each.context_tokens:,}"),
            ("KV cache", lambda each: phrases.MISSING if each.gib is None else memory_words(each.gib)),
            ("prefill tokens/s", lambda each: rate(each.prefill_tokens_per_s)),
            ("decode tokens/s", lambda each: rate(each.decode_tokens_per_s)),
        )
        return (Pairs(rows=tuple(rows)), *((Table(columns=table),) if finding.lengths else ()))

    def metrics(self, report: Report) -> Iterator[Measurement]:
        finding = self.of(report)
        yield Measurement(key="kv/limit_tokens", value=finding.limits.tokens)
        yield Measurement(key="kv/bytes_per_token", value=finding.facts.bytes_per_token)
        in_use = finding.facts.in_use
        if in_use is not None:
            yield Measurement(key="kv/bytes_per_token_measured", value=in_use.bytes_per_token)
        for each in finding.lengths:
            yield Measurement(key="by_length/kv_gib", value=each.gib, step=each.context_tokens)
            names = ("prefill_tokens_per_s", "decode_tokens_per_s")
            yield from measured("by_length/", each, *names, step=each.context_tokens)

    def tags(self, report: Report) -> Mapping[str, str]:
        finding = self.of(report)
        tags: dict[str, str] = {}
        # Where no cliff was found, quality limits nothing yet.
        reached = finding.limits.binding != "quality" or not report.analysis.safe_cap.censored
        if finding.limits.binding is not None and reached:
            tags["binding_limit"] = finding.limits.binding
        if finding.facts.evicts:
            tags["sees_question"] = str(finding.facts.sees_question).lower()
        if finding.facts.declared:
            tags["kv_policy_declared"] = "true"
        return tags


def memory_words(gib: float) -> str:
    """`12.3 MiB`, `1.50 GiB`: three digits, in the unit that needs no zeros."""
    return f"{gib * 1024:,.3g} MiB" if gib < 1.0 else f"{gib:,.2f} GiB"


def rate(tokens_per_s: float | None) -> str:
    """Three digits below a hundred, whole numbers above."""
    if tokens_per_s is None:
        return phrases.MISSING
    return f"{tokens_per_s:,.0f}" if tokens_per_s >= 100.0 else f"{tokens_per_s:.3g}"


def policy_in_words(facts: CacheFacts) -> Note:
    """What the policy does to the cache."""
    formats = Note("keys in {keys}, values in {values}", keys=facts.key_type, values=facts.value_type)
    if facts.key_type == facts.value_type:
        formats = Note("keys and values in {format}", format=facts.key_type)
    evicted: Note | str = ""
    if facts.evicts and facts.sees_question:
        evicted = Note("; keeps {budget:.0%} of the positions, chosen after the question is read", budget=facts.budget)
    elif facts.evicts:
        evicted = Note("; keeps {budget:.0%} of the positions, chosen before the question is read", budget=facts.budget)
    declared = Note("; declared, not checked") if facts.declared else ""
    return Note("{policy}: {formats}{evicted}{declared}", policy=facts.policy, formats=formats, evicted=evicted,
                declared=declared)  # fmt: skip


def _size(facts: CacheFacts) -> Note:
    computed, in_use = facts.bytes_per_token, facts.in_use
    size = Note("not known: the model's metadata are not here")
    if computed is not None:
        size = Note("{bytes:,.0f} bytes a token", bytes=computed)
    if in_use is None:
        return size
    measured = "" if in_use.bytes_per_token is None else Note(", measured {bytes:,.0f}", bytes=in_use.bytes_per_token)
    return Note("{size}{measured}; the engine has {keys} keys and {values} values", size=size, measured=measured,
                keys=in_use.key_type, values=in_use.value_type)  # fmt: skip


def _memory(gib: float, facts: CacheFacts) -> Note:
    device, size = facts.device, facts.weights_gib
    if device is None:
        return Note("not known")
    whose = Note("as given")
    if device.name:
        whose = Note("{share:.0%} of {gib:,.1f} GiB ({device})", share=USABLE, gib=device.gib, device=device.name)
    weights = Note("the weights' size is not known")
    if size is not None:
        weights = Note("{size} of it for the weights", size=memory_words(size))
    return Note("{memory}, {whose}, {weights}", memory=memory_words(gib), whose=whose, weights=weights)


def limits_in_words(limits: Limits) -> Note:
    """The three caps and which of them binds."""
    more = Note(" or more") if limits.quality_is_censored and limits.quality is not None else ""
    parts = [Note("quality {tokens}{more}", tokens=_tokens(limits.quality), more=more)]
    if limits.memory is not None:
        is_beyond = limits.window is not None and limits.memory > limits.window
        beyond = Note(" (the window is {window:,})", window=limits.window) if is_beyond else ""
        parts.append(Note("memory {tokens}{beyond}", tokens=_tokens(limits.memory), beyond=beyond))
    if limits.latency_is_set:
        parts.append(Note("latency {tokens}", tokens=_tokens(limits.latency)))
    return Note("{limits}: {verdict}", limits=parts, verdict=_verdict(limits))


def _tokens(tokens: int | None) -> Note:
    return Note("none") if tokens is None else Note("{n:,} tokens", n=tokens)


def _verdict(limits: Limits) -> Note:
    if limits.quality is None:
        return Note("there is no safe cap")
    match limits.binding:
        case None:
            return Note("no limit is known")
        case "memory":
            return Note("memory sets the limit")
        case "latency":
            return Note("time sets the limit")
    if limits.quality_is_censored:
        return Note("no limit is reached in the tested range")
    return Note("the model's answers set the limit")
