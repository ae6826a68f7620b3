"""The KV cache of a run: its policy, and its size and speed by length."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from statistics import median
from typing import ClassVar

from contextcliff.analysis.bins import Group, computed_tokens, fresh_requests
from contextcliff.analysis.limits import USABLE, memory_cap, memory_of
from contextcliff.analysis.study import Study
from contextcliff.findings import phrases
from contextcliff.findings.finding import Block, Finding, Measurement, Pairs, Shown, Table, columns
from contextcliff.records.kv_cache import CacheFacts
from contextcliff.records.note import Note
from contextcliff.records.report import Report


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
class KVCache:
    """The cache of a run."""

    facts: CacheFacts
    lengths: tuple[CacheAtLength, ...]
    memory_gib: float | None
    """What weights and cache may take together."""


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
        lengths = tuple(_at_length(group, facts) for group in study.groups)
        return KVCache(facts=facts, lengths=lengths, memory_gib=memory_of(facts))

    def caps(self, finding: KVCache, study: Study) -> Mapping[str, int | None]:  # noqa: ARG002
        gib = finding.memory_gib
        return {"memory": None if gib is None else memory_cap(finding.facts, gib)}

    def show(self, report: Report) -> tuple[Block, ...]:
        finding = self.of(report)
        facts = finding.facts
        rows: list[tuple[str, Shown]] = [("Policy", policy_in_words(facts)), ("Size", _size(facts))]
        if finding.memory_gib is not None:
            rows.append(("Memory", _memory(finding.memory_gib, facts, report.analysis.caps.get("memory"))))
        table = columns(
            finding.lengths,
            ("asked", lambda each: f"{each.context_tokens:,}"),
            ("KV cache", lambda each: phrases.MISSING if each.gib is None else memory_words(each.gib)),
            ("prefill tokens/s", lambda each: rate(each.prefill_tokens_per_s)),
            ("decode tokens/s", lambda each: rate(each.decode_tokens_per_s)),
        )
        return (Pairs(rows=tuple(rows)), *((Table(columns=table),) if finding.lengths else ()))

    def metrics(self, report: Report) -> Iterator[Measurement]:
        yield Measurement(key="kv/bytes_per_token", value=self.of(report).facts.bytes_per_token)

    def tags(self, report: Report) -> Mapping[str, str]:
        facts = self.of(report).facts
        tags = {"sees_question": str(facts.sees_question).lower()} if facts.evicts else {}
        return {**tags, "kv_policy_declared": "true"} if facts.declared else tags


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
    if facts.as_started:
        return Note("as the server was started (not checked)")
    formats = Note("keys in {keys}, values in {values}", keys=facts.key_type, values=facts.value_type)
    if facts.key_type == facts.value_type:
        formats = Note("keys and values in {format}", format=facts.key_type)
    evicted: Note | str = ""
    if facts.evicts and facts.sees_question:
        evicted = Note("; keeps {budget:.0%} of the positions, chosen after the question is read", budget=facts.budget)
    elif facts.evicts:
        evicted = Note("; keeps {budget:.0%} of the positions, chosen before the question is read", budget=facts.budget)
    declared = Note("; declared, not checked") if facts.declared else ""
    return Note("{policy}: {formats}{evicted}{declared}", policy=facts.shown, formats=formats, evicted=evicted,
                declared=declared)  # fmt: skip


def _size(facts: CacheFacts) -> Note:
    computed, in_use = facts.bytes_per_token, facts.in_use
    if computed is None:
        size = Note("not known: the model's metadata are not here")
    elif facts.as_started:
        size = Note("{bytes:,.0f} bytes a token if it is in {format}", bytes=computed, format=facts.key_type)
    else:
        size = Note("{bytes:,.0f} bytes a token", bytes=computed)
    if in_use is None:
        return size
    measured = "" if in_use.bytes_per_token is None else Note(", measured {bytes:,.0f}", bytes=in_use.bytes_per_token)
    return Note("{size}{measured}; the engine has {keys} keys and {values} values", size=size, measured=measured,
                keys=in_use.key_type, values=in_use.value_type)  # fmt: skip


def _memory(gib: float, facts: CacheFacts, tokens: int | None) -> Note:
    device, size = facts.device, facts.weights_gib
    if device is None:
        return Note("not known")
    whose = Note("as given")
    if device.name:
        whose = Note("{share:.0%} of {gib:,.1f} GiB ({device})", share=USABLE, gib=device.gib, device=device.name)
    weights = Note("the weights' size is not known")
    if size is not None:
        weights = Note("{size} of it for the weights", size=memory_words(size))
    fits = "" if tokens is None else Note("; {tokens:,} tokens fit beside them", tokens=tokens)
    return Note("{memory}, {whose}, {weights}{fits}", memory=memory_words(gib), whose=whose, weights=weights, fits=fits)
