"""The KV cache and the limits of the context, in Japanese."""

from __future__ import annotations

from contextcliff.analysis.kv_limits import USABLE, LimitName, Limits
from contextcliff.reporting.kv_facts import (
    CacheSize,
    EntropyInShort,
    LimitsInWords,
    MemoryInWords,
    PolicyInWords,
    memory_words,
)
from contextcliff.reporting.words.japanese_say import say

_BINDING: dict[LimitName, str] = {
    "quality": "回答の質が上限を決める",
    "memory": "メモリが上限を決める",
    "latency": "時間が上限を決める",
}


@say.register
def _policy(fact: PolicyInWords) -> str:
    facts = fact.facts
    formats = (
        f"キーと値は {facts.key_type}"
        if facts.key_type == facts.value_type
        else f"キーは {facts.key_type}、値は {facts.value_type}"
    )
    evicted = ""
    if facts.evicts:
        read = "読んだ後" if facts.sees_question else "読む前"
        evicted = f"。位置の {facts.budget:.0%} を残し、質問を{read}に選ぶ"
    return f"{facts.policy}: {formats}{evicted}{'。申告のみで未確認' if facts.declared else ''}"


@say.register
def _size(fact: CacheSize) -> str:
    computed, in_use = fact.facts.bytes_per_token, fact.facts.in_use
    size = "不明（モデルのメタデータがない）" if computed is None else f"1 トークンあたり {computed:,.0f} バイト"
    if in_use is None:
        return size
    measured = "" if in_use.bytes_per_token is None else f"、実測 {in_use.bytes_per_token:,.0f}"
    return f"{size}{measured}。エンジンのキャッシュはキー {in_use.key_type}、値 {in_use.value_type}"


@say.register
def _memory(fact: MemoryInWords) -> str:
    cache, facts = fact.cache, fact.cache.facts
    if cache.memory_gib is None or facts.device is None:
        return "不明"
    whose = (
        f"{facts.device.name} の {facts.device.gib:,.1f} GiB の {USABLE:.0%}" if facts.device.name else "指定された値"
    )
    weights = "重みの大きさは不明" if facts.weights_gib is None else f"うち重み {memory_words(facts.weights_gib)}"
    return f"{memory_words(cache.memory_gib)}（{whose}、{weights}）"


@say.register
def _limits(fact: LimitsInWords) -> str:
    limits = fact.limits
    more = "以上" if limits.quality_is_censored and limits.quality is not None else ""
    parts = [f"質 {_tokens(limits.quality)}{more}"]
    if limits.memory is not None:
        beyond = f"（ウィンドウは {limits.window:,}）" if limits.memory > limits.window else ""
        parts.append(f"メモリ {_tokens(limits.memory)}{beyond}")
    if limits.latency_is_set:
        parts.append(f"応答時間 {_tokens(limits.latency)}")
    return f"{'、'.join(parts)}。{_verdict(limits)}"


@say.register
def _entropy(fact: EntropyInShort) -> str:
    entropy, first, last = fact.entropy, fact.entropy.lengths[0], fact.entropy.lengths[-1]
    runs = f"{first.context_tokens:,} トークンで {first.mean:.2f}"
    if last is not first:
        runs = f"{runs}、{last.context_tokens:,} トークンで {last.mean:.2f}"
    if entropy.threshold is None:
        return f"{runs}。プロンプト 1 件ではしきい値を決められない"
    if entropy.crosses_tokens is None:
        return f"{runs}。しきい値 {entropy.threshold:.2f} を超えない"
    return f"{runs}。{entropy.crosses_tokens:,} トークンからしきい値 {entropy.threshold:.2f} を超える"


def _tokens(tokens: int | None) -> str:
    return "なし" if tokens is None else f"{tokens:,} トークン"


def _verdict(limits: Limits) -> str:
    if limits.quality is None:
        return "安全な上限がない"
    if limits.binding is None:
        return "上限は不明"
    if limits.binding == "quality" and limits.quality_is_censored:
        return "試験した範囲では上限に達しない"
    return _BINDING[limits.binding]
