"""How much memory a KV cache takes, from the model's own metadata."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from contextcliff.kv.policy import KVPolicy

BITS_A_VALUE = {"f16": 16.0, "q8_0": 8.5, "q4_0": 4.5}
"""Scales included: q8_0 keeps 2 bytes beside 32 values, q4_0 as much beside 32 half-bytes."""
_GIB = 2**30


@dataclass(frozen=True, kw_only=True, slots=True)
class Architecture:
    """What of a transformer determines its cache: values of keys and of values a token, over all layers."""

    key_values: int
    value_values: int


def kv_gib(architecture: Architecture, policy: KVPolicy, tokens: int) -> float:
    """GiB of a cache that holds so many tokens: every layer keeps them all."""
    bits = (
        architecture.key_values * BITS_A_VALUE[policy.key_type]
        + architecture.value_values * BITS_A_VALUE[policy.value_type]
    )
    return bits / 8.0 * tokens / _GIB


def read_architecture(weights: Path) -> Architecture | None:
    """Read a GGUF file's header; None where it does not tell (not a plain transformer)."""
    from gguf import GGUFReader

    header = GGUFReader(weights)
    name = _field(header, "general.architecture")
    layers = _field(header, f"{name}.block_count")
    heads = _field(header, f"{name}.attention.head_count")
    width = _field(header, f"{name}.embedding_length")
    if not all(isinstance(value, int) and value > 0 for value in (layers, heads, width)):
        return None
    kept = _field(header, f"{name}.attention.head_count_kv") or heads
    key = _field(header, f"{name}.attention.key_length") or width // heads
    value = _field(header, f"{name}.attention.value_length") or width // heads
    # Some models have their own number of heads in each layer.
    heads_in_all = sum(kept) if isinstance(kept, list) else kept * layers
    return Architecture(key_values=heads_in_all * key, value_values=heads_in_all * value)


def _field(header: Any, key: str) -> Any:
    field = header.get_field(key)
    return None if field is None else field.contents()
