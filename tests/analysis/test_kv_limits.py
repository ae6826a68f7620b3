"""The cap by memory, and what a page says of it."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contextcliff.analysis.limits import memory_cap, memory_of
from contextcliff.findings.finding import Pairs
from contextcliff.findings.kv_cache import CacheAtLength, KVCache, KVCacheFinding
from contextcliff.records.kv_cache import CachedLayers, CacheFacts, CacheInUse, DeviceMemory
from tests.make import known
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
CACHE = KVCache(facts=FACTS, lengths=(CacheAtLength(context_tokens=4_096, gib=0.0357),), memory_gib=72.0)


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


def test_a_device_leaves_a_tenth_for_computing_and_a_given_size_is_taken_whole() -> None:
    assert memory_of(with_memory(10.0, name="a GPU")) == pytest.approx(9.0)
    assert memory_of(with_memory(10.0)) == 10.0
    assert memory_of(KIB) is None


def test_weights_that_do_not_fit_leave_no_token() -> None:
    assert memory_cap(KIB, 0.5) == 0


def test_without_weights_or_layers_there_is_no_cap_by_memory() -> None:
    for facts in (replace(KIB, layers=()), replace(KIB, weights_gib=None)):
        assert memory_cap(facts, 2.0) is None


def test_layers_that_all_slide_take_no_more_memory_from_some_length_on() -> None:
    sliding = replace(KIB, layers=(CachedLayers(n_layers=4, bytes_per_token=1024.0, window=512),))
    assert memory_cap(sliding, 2.0) is None


def test_a_page_has_the_size_of_the_cache_and_what_the_weights_leave() -> None:
    report = edited(simulated(), kv_cache=CACHE, caps={"memory": 1_500})
    pairs, _ = KVCacheFinding().show(report)
    assert isinstance(pairs, Pairs)
    said = {name: str(value) for name, value in pairs.rows}
    assert said["Size"] == "9,360 bytes a token, measured 9,360; the engine has q8_0 keys and q4_0 values"
    assert said["Memory"] == (
        "72.00 GiB, 90% of 80.0 GiB (a GPU), 92.2 MiB of it for the weights; 1,500 tokens fit beside them"
    )
