"""The `kv_policy` group, and the memory that a KV cache takes under a policy.

A policy is the types of the cache's keys and values, and the share of positions that is kept.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field

from contextcliff.models.gguf_header import Value, read_header
from contextcliff.settings import Name, settings

CacheType = Literal["f16", "q8_0", "q4_0"]
BITS_PER_VALUE: Mapping[CacheType, float] = {"f16": 16.0, "q8_0": 8.5, "q4_0": 4.5}
"""Bits that a cache type takes for one value, scales included: q8_0 and q4_0 have 2 bytes of scale for 32 values."""
_GIB = 2**30


@settings
class KVPolicy:
    """A KV-cache policy. An engine refuses a policy that it can't apply.

    `key_type` and `value_type` are ggml block types (f16 has 16 bits a value, q8_0 8.5, q4_0 4.5). `budget` is the
    share of positions that is kept, always 1.0: no policy here evicts any.
    """

    name: Name
    budget: Annotated[float, Field(gt=0.0, le=1.0)] = 1.0
    key_type: CacheType = "f16"
    value_type: CacheType = "f16"

    def __post_init__(self) -> None:
        if self.budget < 1.0:
            raise ValueError(
                f"kv_policy.budget={self.budget:g}: kv_policy={self.name} keeps every position, and no policy here "
                "evicts any; leave it at 1.0"
            )

    @property
    def is_quantised(self) -> bool:
        """Whether keys or values have fewer than 16 bits."""
        return (self.key_type, self.value_type) != ("f16", "f16")


@dataclass(frozen=True, kw_only=True, slots=True)
class Architecture:
    """The size of a transformer's KV cache: numbers that it keeps for each token, over all layers."""

    key_values: int
    """Numbers of the keys."""
    value_values: int
    """Numbers of the values."""


def kv_gib(architecture: Architecture, policy: KVPolicy, tokens: int) -> float:
    """GiB of a cache of `tokens` tokens, every one of which every layer keeps."""
    bits = (
        architecture.key_values * BITS_PER_VALUE[policy.key_type]
        + architecture.value_values * BITS_PER_VALUE[policy.value_type]
    )
    return bits / 8.0 * tokens / _GIB


def read_architecture(weights: Path) -> Architecture | None:
    """Read a GGUF file's header; None where it is broken or does not describe a plain transformer."""
    try:
        header = read_header(weights)
    except ValueError:  # llama.cpp says what is wrong with the file
        return None
    name = header.get("general.architecture")
    layers = _count(header, f"{name}.block_count")
    heads = _count(header, f"{name}.attention.head_count")
    width = _count(header, f"{name}.embedding_length")
    if layers is None or heads is None or width is None:
        return None
    key = _count(header, f"{name}.attention.key_length") or width // heads
    value = _count(header, f"{name}.attention.value_length") or width // heads
    kv_heads = header.get(f"{name}.attention.head_count_kv")
    # Some models have a number of KV heads for each layer.
    in_all_layers = sum(map(int, kv_heads)) if isinstance(kv_heads, tuple) else layers * int(kv_heads or heads)
    return Architecture(key_values=in_all_layers * key, value_values=in_all_layers * value)


def _count(header: Mapping[str, Value], key: str) -> int | None:
    """A number above 0; None where the header has none."""
    value = header.get(key)
    return value if isinstance(value, int) and value > 0 else None
