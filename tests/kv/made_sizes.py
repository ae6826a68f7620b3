"""The size of a cache as a run computes it."""

from __future__ import annotations

from contextcliff.kv.model_cache import Architecture, cached_layers
from contextcliff.kv.policy import KVPolicy
from contextcliff.records.kv_cache import GIB, CacheFacts
from tests.make import known


def computed_bytes(architecture: Architecture, policy: KVPolicy, tokens: int) -> float:
    facts = CacheFacts(
        policy=policy.shown,
        key_type=policy.key_type,
        value_type=policy.value_type,
        layers=cached_layers(architecture, policy),
    )
    size = known(facts.gib(tokens))
    return size * GIB
