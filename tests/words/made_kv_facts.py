"""What a report says of the KV cache, and the English sentence of each."""

from __future__ import annotations

from dataclasses import replace

from contextcliff.analysis.attention_entropy import AttentionEntropy, EntropyAtLength
from contextcliff.analysis.kv_limits import CacheAtLength, KVCache, Limits
from contextcliff.records.fact import Fact
from contextcliff.records.kv_cache import CachedLayers, CacheFacts, CacheInUse, DeviceMemory
from contextcliff.reporting.kv_facts import CacheSize, EntropyInShort, LimitsInWords, MemoryInWords, PolicyInWords

FACTS = CacheFacts(
    policy="k8v4",
    option="k8v4",
    key_type="q8_0",
    value_type="q4_0",
    declared=True,
    layers=(CachedLayers(n_layers=30, bytes_per_token=312.0, window=4096),),
    weights_gib=0.09,
    device=DeviceMemory(name="a GPU", gib=80.0),
    in_use=CacheInUse(key_type="q8_0", value_type="q4_0", bytes_per_token=9_360.0, tokens=1),
)
LIMITS = Limits(
    quality=4_095,
    quality_is_censored=False,
    memory=1_500,
    latency=2_048,
    latency_is_set=True,
    tokens=1_500,
    binding="memory",
    window=8_192,
)
CACHE = KVCache(facts=FACTS, lengths=(CacheAtLength(context_tokens=4_096, gib=0.0357),), memory_gib=72.0, limits=LIMITS)
_EVICTING = replace(FACTS, policy="snapkv-0.5", key_type="f16", value_type="f16", evicts=True, budget=0.5)

ENTROPY = AttentionEntropy(
    lengths=(
        EntropyAtLength(context_tokens=512, n=3, mean=0.31, ci_low=0.29, ci_high=0.33, std=0.01, by_layer=(0.2, 0.42)),
        EntropyAtLength(
            context_tokens=1_024, n=3, mean=0.41, ci_low=0.39, ci_high=0.43, std=0.01, by_layer=(0.3, 0.52)
        ),
    ),
    threshold=0.33,
    crosses_tokens=1_024,
)
KV_SENTENCES: tuple[tuple[Fact, str], ...] = (
    (PolicyInWords(facts=FACTS), "k8v4: keys in q8_0, values in q4_0; declared, not checked"),
    (
        PolicyInWords(facts=replace(_EVICTING, declared=False)),
        "snapkv-0.5: keys and values in f16; keeps 50% of the positions, chosen before the question is read",
    ),
    (
        PolicyInWords(facts=replace(_EVICTING, declared=False, sees_question=True)),
        "snapkv-0.5: keys and values in f16; keeps 50% of the positions, chosen after the question is read",
    ),
    (
        EntropyInShort(entropy=ENTROPY),
        "0.31 at 512 tokens, 0.41 at 1,024; above 0.33 from 1,024 tokens on",
    ),
    (
        EntropyInShort(entropy=replace(ENTROPY, crosses_tokens=None)),
        "0.31 at 512 tokens, 0.41 at 1,024; above 0.33 nowhere",
    ),
    (
        EntropyInShort(entropy=replace(ENTROPY, lengths=ENTROPY.lengths[:1], threshold=None, crosses_tokens=None)),
        "0.31 at 512 tokens; a single prompt sets no threshold",
    ),
    (CacheSize(facts=FACTS), "9,360 bytes a token, measured 9,360; the engine has q8_0 keys and q4_0 values"),
    (CacheSize(facts=replace(FACTS, in_use=None)), "9,360 bytes a token"),
    (CacheSize(facts=replace(FACTS, in_use=None, layers=())), "not known: the model's metadata are not here"),
    (MemoryInWords(cache=CACHE), "72.00 GiB, 90% of 80.0 GiB (a GPU), 92.2 MiB of it for the weights"),
    (
        MemoryInWords(
            cache=replace(CACHE, facts=replace(FACTS, weights_gib=None, device=DeviceMemory(name="", gib=72.0)))
        ),
        "72.00 GiB, as given, the weights' size is not known",
    ),
    (
        LimitsInWords(limits=LIMITS),
        "quality 4,095 tokens, memory 1,500 tokens, latency 2,048 tokens: memory sets the limit",
    ),
    (
        LimitsInWords(
            limits=replace(LIMITS, quality_is_censored=True, memory=90_000, latency_is_set=False, binding="quality")
        ),
        "quality 4,095 tokens or more, memory 90,000 tokens (the window is 8,192): no limit is reached in the tested"
        " range",
    ),
    (
        LimitsInWords(limits=replace(LIMITS, quality=None, memory=None, latency_is_set=False, binding="quality")),
        "quality none: there is no safe cap",
    ),
)
