"""The cache of a model: as it computes, or stored in other formats, and what it really takes.

Integers are stored as KIVI stores values (Z. Liu et al., arXiv 2402.02750): each head's vector of a token in groups of
64 numbers with a scale and a least number of 16 bits each, rounded to the nearest. Keys go the same way, not by
channel. Own code, since the backends of transformers' `QuantizedCache` do not serve: on optimum-quanto it has no 8
bits; on hqq it fails where tokens times heads are no multiple of four, and tunes each group for 1.6 s a tensor of 4,096
tokens and 3 heads on a core, for 4% less error at 4 bits. It has one width for keys and values alike, and packs the
whole cache anew every 128 tokens, so that errors add up; here what is packed stays as it is.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from transformers.cache_utils import DynamicCache, DynamicLayer

from contextcliff.errors import ConfigError
from contextcliff.kv.policy import CacheType, KVPolicy
from contextcliff.records.kv_cache import CacheInUse

_GROUP = 64
_RESIDUAL_TOKENS = 128
_BITS_A_BYTE = 8
_FLOATS: Mapping[CacheType, torch.dtype] = {"f32": torch.float32, "f16": torch.float16, "bf16": torch.bfloat16}
_NAMES = {dtype: name for name, dtype in _FLOATS.items()}
_BITS: Mapping[CacheType, int] = {"int8": 8, "int4": 4, "int2": 2}


@dataclass(frozen=True, kw_only=True, slots=True)
class _Cast:
    stored: torch.Tensor

    @property
    def nbytes(self) -> int:
        return int(self.stored.nbytes)

    @property
    def tokens(self) -> int:
        return int(self.stored.shape[-2])

    @property
    def kind(self) -> str:
        return _NAMES[self.stored.dtype]

    def unpack(self, dtype: torch.dtype) -> torch.Tensor:
        return self.stored.to(dtype)


@dataclass(frozen=True, kw_only=True, slots=True)
class _Integers:
    """Whole numbers of some bits, several in a byte; a number is `whole * scale + least` of its group."""

    stored: torch.Tensor
    """Bytes: [1, heads, tokens, head size * bits / 8]."""
    scale: torch.Tensor
    """[1, heads, tokens, groups, 1] in 16 bits, and so is `least`."""
    least: torch.Tensor
    bits: int

    @property
    def nbytes(self) -> int:
        return int(self.stored.nbytes + self.scale.nbytes + self.least.nbytes)

    @property
    def tokens(self) -> int:
        return int(self.stored.shape[-2])

    @property
    def kind(self) -> str:
        return f"int{self.bits}"

    def unpack(self, dtype: torch.dtype) -> torch.Tensor:
        whole = (self.stored[..., None] >> _shifts(self.bits, self.stored.device)) & (2**self.bits - 1)
        groups = whole.flatten(-2).unflatten(-1, (self.scale.shape[-2], -1))
        return (groups * self.scale.float() + self.least.float()).flatten(-2).to(dtype)


Packed = _Cast | _Integers
"""Keys or values of some tokens, [1, heads, tokens, head size], stored in another format; it never changes."""


def _packed_integers(numbers: torch.Tensor, bits: int) -> _Integers:
    size = numbers.shape[-1]
    groups = numbers.float().unflatten(-1, (-1, _GROUP if size % _GROUP == 0 else size))
    least = groups.amin(dim=-1, keepdim=True).half()
    scale = ((groups.amax(dim=-1, keepdim=True) - least.float()) / (2**bits - 1)).half()
    step = torch.where(scale > 0, scale, torch.ones_like(scale)).float()
    whole = ((groups - least.float()) / step).round().clamp(0, 2**bits - 1).to(torch.uint8)
    parts = whole.flatten(-2).unflatten(-1, (-1, _BITS_A_BYTE // bits))
    stored = (parts << _shifts(bits, numbers.device)).sum(dim=-1, dtype=torch.uint8)
    return _Integers(stored=stored, scale=scale, least=least, bits=bits)


def _shifts(bits: int, device: torch.device) -> torch.Tensor:
    """How far each number in a byte is shifted."""
    return torch.arange(0, _BITS_A_BYTE, bits, dtype=torch.uint8, device=device)


def pack(numbers: torch.Tensor, kind: CacheType) -> Packed:
    """Store numbers of the shape [1, heads, tokens, head size] in a format."""
    if kind in _FLOATS:
        return _Cast(stored=numbers.to(_FLOATS[kind]))
    return _packed_integers(numbers, _BITS[kind])


class StoredLayer(DynamicLayer):  # type: ignore[misc]
    """A layer whose older tokens are stored in other formats; the newest are kept as the model computes them.

    Nothing is stored before the first `settle`: a press scores what the model computes. Then the newest are stored
    when there are 128 of them, or at once where both formats are floating point.
    """

    keys: Any
    values: Any

    def __init__(self, key_type: CacheType, value_type: CacheType) -> None:
        super().__init__()
        self.types = (key_type, value_type)
        self.packed_keys: tuple[Packed, ...] = ()
        self.packed_values: tuple[Packed, ...] = ()

    def update(
        self, key_states: torch.Tensor, value_states: torch.Tensor, *_: Any, **__: Any
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Add tokens; gives the keys and values of all."""
        keys, values = super().update(key_states, value_states)
        older_keys = [each.unpack(keys.dtype) for each in self.packed_keys]
        older_values = [each.unpack(values.dtype) for each in self.packed_values]
        if self.packed_keys and (set(self.types) <= set(_FLOATS) or keys.shape[-2] >= _RESIDUAL_TOKENS):
            self.settle()
        return torch.cat([*older_keys, keys], dim=-2), torch.cat([*older_values, values], dim=-2)

    def settle(self) -> None:
        """Store the newest tokens too."""
        if self.keys.shape[-2] == 0:
            return
        key_type, value_type = self.types
        self.packed_keys = _joined(self.packed_keys, pack(self.keys, key_type))
        self.packed_values = _joined(self.packed_values, pack(self.values, value_type))
        # New tensors: a slice would keep the memory of the whole.
        self.keys, self.values = (_nothing_like(numbers) for numbers in (self.keys, self.values))

    def get_seq_length(self) -> int:
        """Tokens of the layer."""
        return int(super().get_seq_length()) + sum(each.tokens for each in self.packed_keys)


def _joined(older: tuple[Packed, ...], newer: Packed) -> tuple[Packed, ...]:
    """All of them; floating-point numbers in one piece, or each token would be one."""
    if older and isinstance(newer, _Cast) and isinstance(last := older[-1], _Cast):
        return (*older[:-1], _Cast(stored=torch.cat([last.stored, newer.stored], dim=-2)))
    return (*older, newer)


def _nothing_like(numbers: torch.Tensor) -> torch.Tensor:
    batch, heads, _, size = numbers.shape
    return numbers.new_empty((batch, heads, 0, size))


def stores_otherwise(policy: KVPolicy, dtype: str) -> bool:
    """Whether the cache is stored in another format than the model computes in; `f16` means as it computes."""
    own = {"f16", _NAMES[getattr(torch, dtype)]}
    return not {policy.key_type, policy.value_type} <= own


def new_cache(model: Any, policy: KVPolicy, dtype: str) -> Any:
    """An empty cache for a policy. Raises `ConfigError` for a model with other layers than full attention."""
    cache = DynamicCache(config=model.config)
    if stores_otherwise(policy, dtype):
        if any(type(layer) is not DynamicLayer for layer in cache.layers):
            raise ConfigError(
                f"kv_policy={policy.shown}: {model.config.model_type} has layers with a sliding window, whose cache "
                "this engine stores as it is computed; take kv_policy=none, or engine=llamacpp"
            )
        computed = _NAMES[getattr(torch, dtype)]
        types = [computed if kind == "f16" else kind for kind in (policy.key_type, policy.value_type)]
        cache.layers = [StoredLayer(*types) for _ in cache.layers]
    return cache


def settle(cache: Any) -> None:
    """Store what a layer keeps in its formats, if it has some."""
    for layer in cache.layers:
        if isinstance(layer, StoredLayer):
            layer.settle()


def fork(cache: Any) -> Any:
    """A cache that goes on from this one without changing it. Tensors are shared: layers only replace theirs."""
    twin = copy.copy(cache)
    twin.layers = [copy.copy(layer) for layer in cache.layers]
    return twin


def can_be_cut(cache: Any) -> bool:
    """Whether the newest tokens can be dropped: every layer keeps each token as it was computed."""
    return all(type(layer) is DynamicLayer for layer in cache.layers)


def in_use(cache: Any, *, tokens: int) -> CacheInUse:
    """What a cache takes for a prompt of so many tokens, by its tensors."""
    total = sum(_bytes(layer) for layer in cache.layers)
    kinds = [_types(layer) for layer in cache.layers if layer.is_initialized]
    return CacheInUse(
        key_type=_shared([key for key, _ in kinds]),
        value_type=_shared([value for _, value in kinds]),
        bytes_per_token=total / tokens if tokens else None,
        tokens=tokens,
    )


def _bytes(layer: Any) -> int:
    if not layer.is_initialized:
        return 0
    stored = (*layer.packed_keys, *layer.packed_values) if isinstance(layer, StoredLayer) else ()
    return int(layer.keys.nbytes + layer.values.nbytes + sum(each.nbytes for each in stored))


def _types(layer: Any) -> tuple[str, str]:
    if isinstance(layer, StoredLayer) and layer.packed_keys:
        return layer.packed_keys[0].kind, layer.packed_values[0].kind
    return _NAMES[layer.keys.dtype], _NAMES[layer.values.dtype]


def _shared(kinds: Sequence[str]) -> str:
    return "+".join(sorted(set(kinds)))
