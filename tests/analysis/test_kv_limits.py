"""The cap by memory, and which of quality, memory and latency binds."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contextcliff.analysis.analyse import study_of
from contextcliff.analysis.analysis_settings import AnalysisSettings
from contextcliff.analysis.study import StudyFacts
from contextcliff.findings.finding import Pairs
from contextcliff.findings.kv_cache import CacheAtLength, KVCache, KVCacheFinding, Limits, limits_in_words, memory_cap
from contextcliff.records.kv_cache import GIB, CachedLayers, CacheFacts, CacheInUse, DeviceMemory
from tests.make import known, scored_sample
from tests.simulated_reports import edited, simulated

KIB = CacheFacts(
    policy="none",
    key_type="f16",
    value_type="f16",
    layers=(CachedLayers(n_layers=4, bytes_per_token=1024.0),),
    weights_gib=1.0,
)
"""Four KiB a token."""
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
CACHE = KVCache(
    facts=FACTS,
    lengths=(CacheAtLength(context_tokens=4_096, gib=0.0357),),
    memory_gib=72.0,
    limits=Limits(
        quality=4_095,
        quality_is_censored=False,
        memory=1_500,
        latency=2_048,
        latency_is_set=True,
        tokens=1_500,
        binding="memory",
        window=8_192,
    ),
)


def limits_of(cache: CacheFacts, *, slo_ms: float | None = None) -> KVCache:
    """Latencies are 20 ms."""
    samples = [scored_sample(tokens, 1.0) for tokens in (1_000, 2_000, 4_000) for _ in range(20)]
    facts = StudyFacts(max_context_tokens=8_192, designed_lengths=True, relative_by_default=False, cache=cache)
    return known(KVCacheFinding().find(study_of(samples, AnalysisSettings(latency_slo_ms=slo_ms), facts)))


def with_memory(gib: float, *, name: str = "") -> CacheFacts:
    return replace(KIB, device=DeviceMemory(name=name, gib=gib))


@given(st.floats(1.0, 64.0), st.integers(1, 64), st.floats(64.0, 8192.0), st.integers(128, 8192))
def test_the_cap_fits_and_one_more_token_does_not(gib: float, layers: int, size: float, window: int) -> None:
    facts = replace(
        KIB,
        layers=(
            CachedLayers(n_layers=layers, bytes_per_token=size),
            CachedLayers(n_layers=layers, bytes_per_token=size, window=window),
        ),
    )
    tokens = known(memory_cap(facts, gib))
    assert (facts.gib(tokens) or 0.0) <= gib - 1.0 or tokens == 0
    assert (facts.gib(tokens + 1) or 0.0) > gib - 1.0


def test_memory_binds_where_it_is_less_than_the_safe_cap() -> None:
    limits = limits_of(with_memory(1.0 + 1_500 * 4096 / GIB)).limits
    assert (limits.quality, limits.memory, limits.tokens, limits.binding) == (4_000, 1_500, 1_500, "memory")


def test_a_limit_on_latency_that_no_length_keeps_binds() -> None:
    limits = limits_of(with_memory(2.0), slo_ms=10.0).limits
    assert (limits.latency, limits.tokens, limits.binding) == (None, None, "latency")
    assert limits_of(with_memory(2.0), slo_ms=30.0).limits.latency == 4_000


def test_a_device_leaves_a_tenth_for_computing_and_a_given_size_is_taken_whole() -> None:
    assert limits_of(with_memory(10.0, name="a GPU")).memory_gib == pytest.approx(9.0)
    assert limits_of(with_memory(10.0)).memory_gib == 10.0


def test_without_weights_layers_or_memory_or_where_all_layers_slide_there_is_no_cap_by_memory() -> None:
    assert limits_of(with_memory(0.5)).limits.memory == 0  # weights that do not fit leave no token
    sliding = replace(with_memory(2.0), layers=(CachedLayers(n_layers=4, bytes_per_token=1024.0, window=512),))
    for facts in (KIB, replace(with_memory(2.0), layers=()), replace(with_memory(2.0), weights_gib=None), sliding):
        assert limits_of(facts).limits.memory is None


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({}, "quality 4,095 tokens, memory 1,500 tokens, latency 2,048 tokens: memory sets the limit"),
        (
            {"quality_is_censored": True, "memory": 90_000, "latency_is_set": False, "binding": "quality"},
            "quality 4,095 tokens or more, memory 90,000 tokens (the window is 8,192): no limit is reached in the "
            "tested range",
        ),
        (
            {"quality": None, "memory": None, "latency_is_set": False, "binding": "quality"},
            "quality none: there is no safe cap",
        ),
    ],
)
def test_the_three_caps_are_said_with_which_one_binds(changes: dict[str, Any], said: str) -> None:
    assert str(limits_in_words(replace(CACHE.limits, **changes))) == said


def test_a_page_has_the_size_of_the_cache_and_what_the_weights_leave() -> None:
    pairs, _ = KVCacheFinding().show(edited(simulated(), kv_cache=CACHE))
    assert isinstance(pairs, Pairs)
    said = {name: str(value) for name, value in pairs.rows}
    assert said["Size"] == "9,360 bytes a token, measured 9,360; the engine has q8_0 keys and q4_0 values"
    assert said["Memory"] == "72.00 GiB, 90% of 80.0 GiB (a GPU), 92.2 MiB of it for the weights"
