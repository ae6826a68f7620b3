"""The KV cache that an engine really used."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True, slots=True)
class CacheInUse:
    """The formats of keys and values as they are read back, and what the cache took."""

    key_type: str
    value_type: str
    bytes_per_token: float | None
    """Bytes of the whole cache over the tokens that it stands for, those that were evicted included."""
    tokens: int | None
    """Those tokens."""
