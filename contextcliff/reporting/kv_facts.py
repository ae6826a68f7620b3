"""What a report says of the KV cache, as facts."""

from __future__ import annotations

from dataclasses import dataclass

from contextcliff.analysis.attention_entropy import AttentionEntropy
from contextcliff.analysis.kv_limits import KVCache, Limits
from contextcliff.findings import phrases
from contextcliff.records.fact import Fact
from contextcliff.records.kv_cache import CacheFacts


@dataclass(frozen=True, kw_only=True, slots=True)
class PolicyInWords(Fact):
    """What the policy does to the cache."""

    facts: CacheFacts


@dataclass(frozen=True, kw_only=True, slots=True)
class LimitsInWords(Fact):
    """The three caps and which of them binds."""

    limits: Limits


@dataclass(frozen=True, kw_only=True, slots=True)
class CacheSize(Fact):
    """Bytes a token by the model's metadata, and as the engine has it."""

    facts: CacheFacts


@dataclass(frozen=True, kw_only=True, slots=True)
class MemoryInWords(Fact):
    """What weights and cache may take, and what they take."""

    cache: KVCache


@dataclass(frozen=True, kw_only=True, slots=True)
class EntropyInShort(Fact):
    """From where on attention entropy is above its threshold."""

    entropy: AttentionEntropy


def memory_words(gib: float) -> str:
    """`12.3 MiB`, `1.50 GiB`: three figures, in the unit that needs no zeros."""
    return f"{gib * 1024:,.3g} MiB" if gib < 1.0 else f"{gib:,.2f} GiB"


def rate(tokens_per_s: float | None) -> str:
    """Three figures from a hundred down, whole numbers above."""
    if tokens_per_s is None:
        return phrases.MISSING
    return f"{tokens_per_s:,.0f}" if tokens_per_s >= 100.0 else f"{tokens_per_s:.3g}"
