"""The size of a model's KV cache: what each layer keeps of a token, and how many tokens under a policy."""

from __future__ import annotations

from dataclasses import dataclass

from contextcliff.kv.policy import KVPolicy

GIB = 2**30
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

    @property
    def key_values(self) -> int:
        """Numbers that the keys of one token take, over all layers."""
        return sum(layer.key_values for layer in self.layers)

    @property
    def value_values(self) -> int:
        """Numbers that the values of one token take, over all layers."""
        return sum(layer.value_values for layer in self.layers)

    def kv_bytes(self, policy: KVPolicy, tokens: int) -> float:
        """Bytes of the cache of `tokens` tokens: a sliding window keeps its own number, an eviction its budget."""
        key_bits, value_bits = policy.bits
        return sum(
            (layer.key_values * key_bits + layer.value_values * value_bits)
            / _BITS_A_BYTE
            * _kept(layer, policy, tokens)
            for layer in self.layers
        )

    def kv_gib(self, policy: KVPolicy, tokens: int) -> float:
        """`kv_bytes` in GiB."""
        return self.kv_bytes(policy, tokens) / GIB


def _kept(layer: Layer, policy: KVPolicy, tokens: int) -> float:
    return policy.budget * (tokens if layer.window is None else min(tokens, layer.window))
