"""The KV cache and the limits of the context, in English."""

from __future__ import annotations

from contextcliff.analysis.kv_limits import USABLE, LimitName, Limits
from contextcliff.records.kv_cache import CacheFacts
from contextcliff.reporting.kv_facts import (
    CacheSize,
    EntropyInShort,
    LimitsInWords,
    MemoryInWords,
    PolicyInWords,
    memory_words,
)
from contextcliff.reporting.words.english_say import say

_BINDING: dict[LimitName, str] = {
    "quality": "the model's answers set the limit",
    "memory": "memory sets the limit",
    "latency": "time sets the limit",
}


@say.register
def _policy(fact: PolicyInWords) -> str:
    facts = fact.facts
    formats = (
        f"keys and values in {facts.key_type}"
        if facts.key_type == facts.value_type
        else f"keys in {facts.key_type}, values in {facts.value_type}"
    )
    evicted = ""
    if facts.evicts:
        read = "after" if facts.sees_question else "before"
        evicted = f"; keeps {facts.budget:.0%} of the positions, chosen {read} the question is read"
    return f"{facts.policy}: {formats}{evicted}{'; declared, not checked' if facts.declared else ''}"


@say.register
def _size(fact: CacheSize) -> str:
    computed, in_use = fact.facts.bytes_per_token, fact.facts.in_use
    size = "not known: the model's metadata are not here" if computed is None else f"{computed:,.0f} bytes a token"
    if in_use is None:
        return size
    measured = "" if in_use.bytes_per_token is None else f", measured {in_use.bytes_per_token:,.0f}"
    return f"{size}{measured}; the engine has {in_use.key_type} keys and {in_use.value_type} values"


@say.register
def _memory(fact: MemoryInWords) -> str:
    cache, facts = fact.cache, fact.cache.facts
    if cache.memory_gib is None or facts.device is None:
        return "not known"
    whose = f"{USABLE:.0%} of {facts.device.gib:,.1f} GiB ({facts.device.name})" if facts.device.name else "as given"
    weights = "the weights' size is not known" if facts.weights_gib is None else _weights(facts)
    return f"{memory_words(cache.memory_gib)}, {whose}, {weights}"


def _weights(facts: CacheFacts) -> str:
    return f"{memory_words(facts.weights_gib or 0.0)} of it for the weights"


@say.register
def _limits(fact: LimitsInWords) -> str:
    limits = fact.limits
    more = " or more" if limits.quality_is_censored else ""
    parts = [f"quality {_tokens(limits.quality)}{more if limits.quality is not None else ''}"]
    if limits.memory is not None:
        beyond = f" (the window is {limits.window:,})" if limits.memory > limits.window else ""
        parts.append(f"memory {_tokens(limits.memory)}{beyond}")
    if limits.latency_is_set:
        parts.append(f"latency {_tokens(limits.latency)}")
    return f"{', '.join(parts)}: {_verdict(limits)}"


@say.register
def _entropy(fact: EntropyInShort) -> str:
    entropy, first, last = fact.entropy, fact.entropy.lengths[0], fact.entropy.lengths[-1]
    runs = f"{first.mean:.2f} at {first.context_tokens:,} tokens"
    if last is not first:
        runs = f"{runs}, {last.mean:.2f} at {last.context_tokens:,}"
    if entropy.threshold is None:
        return f"{runs}; a single prompt sets no threshold"
    where = "nowhere" if entropy.crosses_tokens is None else f"from {entropy.crosses_tokens:,} tokens on"
    return f"{runs}; above {entropy.threshold:.2f} {where}"


def _tokens(tokens: int | None) -> str:
    return "none" if tokens is None else f"{tokens:,} tokens"


def _verdict(limits: Limits) -> str:
    if limits.quality is None:
        return "there is no safe cap"
    if limits.binding is None:
        return "no limit is known"
    if limits.binding == "quality" and limits.quality_is_censored:
        return "no limit is reached in the tested range"
    return _BINDING[limits.binding]
