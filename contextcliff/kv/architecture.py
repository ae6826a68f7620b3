"""The size of a model's KV cache: what each layer keeps of a token, and how many tokens under a policy."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import groupby

from contextcliff.kv.policy import KVPolicy
from contextcliff.records.kv_cache import CachedLayers

_BITS_A_BYTE = 8.0


@dataclass(frozen=True, kw_only=True, slots=True)
class Layer:
    """What one layer keeps of each token."""

    key_values: int
    """Numbers of the keys, over all KV heads."""
    value_values: int
    """Numbers of the values."""
    window: int | None = None
    """Tokens that a sliding window keeps; None: all."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Architecture:
    """The layers of a transformer that have a KV cache."""

    layers: tuple[Layer, ...]

    def cached(self, policy: KVPolicy) -> tuple[CachedLayers, ...]:
        """The layers under a policy, equal neighbours together; an eviction counts the share that it keeps."""
        key_bits, value_bits = policy.bits
        return tuple(
            CachedLayers(
                n_layers=len(list(alike)),
                bytes_per_token=(layer.key_values * key_bits + layer.value_values * value_bits)
                / _BITS_A_BYTE
                * policy.budget,
                window=layer.window,
            )
            for layer, alike in groupby(self.layers)
        )
