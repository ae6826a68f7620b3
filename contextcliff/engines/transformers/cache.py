"""The cache of a model: as it computes, stored in other formats, or evicted from; and what it really takes.

Integers are stored as KIVI stores values (Z. Liu et al., arXiv 2402.02750): each head's vector of a token in groups of
64 numbers with a scale and a least number of 16 bits each, rounded to the nearest. Keys go the same way, not by
channel. Own code, since transformers' `QuantizedCache` has one width for keys and values alike, and packs the whole
cache anew every 128 tokens, so that errors add up; here what is packed stays as it is.

Attention entropy is how evenly the last tokens of a prompt spread their attention, by layer. Of a head's attention
weights p over the n keys that a token sees, −Σ p ln p / ln n: 0 where all the weight is on one key, 1 where it is
spread evenly. Averaged over heads and over the last tokens. Computed from queries and keys, one token at a time: a
matrix of a prompt's attention would take its length squared."""

from __future__ import annotations

import copy
import math
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any

import torch
from transformers import AttentionInterface, AttentionMaskInterface
from transformers.cache_utils import DynamicCache, DynamicLayer
from transformers.masking_utils import ALL_MASK_ATTENTION_FUNCTIONS
from transformers.modeling_utils import ALL_ATTENTION_FUNCTIONS

from contextcliff.engines.transformers.loading import WAY_OUT
from contextcliff.errors import ConfigError
from contextcliff.hub import cause
from contextcliff.kv.policy import CacheType, KVPolicy
from contextcliff.records.kv_cache import CacheInUse

_GROUP = 64
_RESIDUAL_TOKENS = 128
_BITS_A_BYTE = 8
_FLOATS: Mapping[CacheType, torch.dtype] = {"f32": torch.float32, "f16": torch.float16, "bf16": torch.bfloat16}
_NAMES = {dtype: name for name, dtype in _FLOATS.items()}
_BITS: Mapping[CacheType, int] = {"int8": 8, "int4": 4, "int2": 2}
_UNEVICTED = ("window_size", "n_sink", "sink_size")
"""Arguments of presses that name how many tokens are kept whatever their score: no shorter text is compressed."""
_PROBE_TOKENS = 192
_OTHER_PRESS = "take another, such as kv_policy=snapkv or streaming_llm"
_MEASURED = "sdpa_with_entropy"
_METER = "_contextcliff_entropy"
_WeightsOf = Callable[[int, torch.Tensor], torch.Tensor]
"""The attention weights, [heads, keys], of the query at a place among the new ones, by which keys it sees."""


Packed = tuple[torch.Tensor, ...]
"""Numbers of [1, heads, tokens, head size] in another format: of floating point, or bytes of several whole numbers with
the scales and least numbers of their groups, [1, heads, tokens, groups]: each stands for `whole * scale + least`."""


def pack(numbers: torch.Tensor, kind: CacheType) -> Packed:
    if kind in _FLOATS:
        return (numbers.to(_FLOATS[kind]),)
    bits, size = _BITS[kind], numbers.shape[-1]
    groups = numbers.float().unflatten(-1, (-1, _GROUP if size % _GROUP == 0 else size))
    least = groups.amin(dim=-1, keepdim=True).half()
    scale = ((groups.amax(dim=-1, keepdim=True) - least.float()) / (2**bits - 1)).half()
    step = torch.where(scale > 0, scale, torch.ones_like(scale)).float()
    whole = ((groups - least.float()) / step).round().clamp(0, 2**bits - 1).to(torch.uint8)
    parts = whole.flatten(-2).unflatten(-1, (-1, _BITS_A_BYTE // bits))
    stored = (parts << _shifts(bits, numbers.device)).sum(dim=-1, dtype=torch.uint8)
    return stored, scale.squeeze(-1), least.squeeze(-1)


def unpack(packed: Packed, kind: CacheType, dtype: torch.dtype) -> torch.Tensor:
    if kind in _FLOATS:
        return packed[0].to(dtype)
    (stored, scale, least), bits = packed, _BITS[kind]
    whole = (stored[..., None] >> _shifts(bits, stored.device)) & (2**bits - 1)
    groups = whole.flatten(-2).unflatten(-1, (scale.shape[-1], -1))
    return (groups * scale[..., None].float() + least[..., None].float()).flatten(-2).to(dtype)


def _shifts(bits: int, device: torch.device) -> torch.Tensor:
    return torch.arange(0, _BITS_A_BYTE, bits, dtype=torch.uint8, device=device)


class StoredLayer(DynamicLayer):  # type: ignore[misc]
    """A layer whose older keys and values are stored in other formats; the newest are kept as the model computes them.

    Nothing is stored before the first `settle`: a press scores what the model computes. Then the newest are stored
    when there are 128 of them, or at once where both formats are floating point."""

    keys: Any
    values: Any

    def __init__(self, *kinds: CacheType) -> None:
        super().__init__()
        self.kinds = kinds
        self.packed: list[Packed] = []

    def update(
        self, key_states: torch.Tensor, value_states: torch.Tensor, *_: Any, **__: Any
    ) -> tuple[torch.Tensor, torch.Tensor]:
        keys, values = super().update(key_states, value_states)
        if not self.packed:
            return keys, values
        older = [unpack(packed, kind, keys.dtype) for packed, kind in zip(self.packed, self.kinds, strict=True)]
        if set(self.kinds) <= set(_FLOATS) or keys.shape[-2] >= _RESIDUAL_TOKENS:
            self.settle()
        return torch.cat([older[0], keys], dim=-2), torch.cat([older[1], values], dim=-2)

    def settle(self) -> None:
        newest = [pack(each, kind) for each, kind in zip((self.keys, self.values), self.kinds, strict=True)]
        if self.packed:
            newest = [
                tuple(torch.cat(pair, dim=-2) for pair in zip(*both, strict=True))
                for both in zip(self.packed, newest, strict=True)
            ]
        self.packed = newest
        # New tensors: a slice would keep the memory of the whole.
        self.keys, self.values = (torch.empty_like(each[..., :0, :]) for each in (self.keys, self.values))

    def get_seq_length(self) -> int:
        return int(super().get_seq_length()) + (int(self.packed[0][0].shape[-2]) if self.packed else 0)


def stores_otherwise(policy: KVPolicy, model: Any) -> bool:
    """Whether the cache is stored in another format than the model computes in; `f16` means as it computes."""
    return not {policy.key_type, policy.value_type} <= {"f16", _NAMES[model.dtype]}


def new_cache(model: Any, policy: KVPolicy) -> Any:
    cache = DynamicCache(config=model.config)
    if stores_otherwise(policy, model):
        if not can_be_cut(cache):
            raise ConfigError(
                f"kv_policy={policy.shown}: {model.config.model_type} has layers with a sliding window, whose cache "
                "this engine stores as it is computed; take kv_policy=none, or engine=llamacpp"
            )
        kinds = [_NAMES[model.dtype] if kind == "f16" else kind for kind in (policy.key_type, policy.value_type)]
        cache.layers = [StoredLayer(*kinds) for _ in cache.layers]
    return cache


def fork(cache: Any) -> Any:
    """A cache that goes on from this one without changing it. Tensors are shared: layers only replace theirs."""
    twin = copy.copy(cache)
    twin.layers = [copy.copy(layer) for layer in cache.layers]
    return twin


def can_be_cut(cache: Any) -> bool:
    """Whether the newest tokens can be dropped: every layer keeps each token as it was computed."""
    return all(type(layer) is DynamicLayer for layer in cache.layers)


def in_use(cache: Any, *, tokens: int) -> CacheInUse:
    total, kinds = 0, (set[str](), set[str]())
    for layer in cache.layers:
        if layer.is_initialized:
            packed: list[Packed] = getattr(layer, "packed", [])
            total += sum(int(part.nbytes) for parts in (*packed, (layer.keys, layer.values)) for part in parts)
            own = layer.kinds if packed else [_NAMES[each.dtype] for each in (layer.keys, layer.values)]
            for found, kind in zip(kinds, own, strict=True):
                found.add(kind)
    key_type, value_type = ("+".join(sorted(found)) for found in kinds)
    bytes_per_token = total / tokens if tokens else None
    return CacheInUse(key_type=key_type, value_type=value_type, bytes_per_token=bytes_per_token, tokens=tokens)


def press_for(policy: KVPolicy, model: Any) -> Any:
    """The press of a policy, tried on a made-up prompt; None if it has none. Raises `ConfigError`."""
    if policy.press is None:
        return None
    named = f"kv_policy.press={policy.press}"
    try:
        import kvpress
    except ImportError as error:  # one of the packages that it needs in turn
        raise ConfigError(f"{named}: kvpress can't be loaded ({cause(error)}); run `{WAY_OUT}`") from error
    presses = sorted(name for name in kvpress.__all__ if name.endswith("Press"))
    if policy.press not in presses:
        raise ConfigError(f"{named}: kvpress has no such press; it has {', '.join(presses)}")
    try:
        press = getattr(kvpress, policy.press)(compression_ratio=1.0 - policy.budget, **policy.press_arguments)
    except (AssertionError, TypeError, ValueError) as error:
        why = f"takes no kv_policy.budget, or not these kv_policy.press_arguments ({cause(error)})"
        raise ConfigError(f"{named}: {why}; {_OTHER_PRESS}") from error
    numbers = [value for value in vars(press).values() if isinstance(value, int)]
    length = max([_PROBE_TOKENS, *(2 * value + 1 for value in numbers if value < 10 * _PROBE_TOKENS)])
    tokens = torch.arange(1, length + 1, device=model.device)[None] % model.config.get_text_config().vocab_size
    cache, where = DynamicCache(config=model.config), f"does not work on this model ({model.config.model_type}"
    try:
        with torch.inference_mode(), pressed(press, model, length):
            model(input_ids=tokens, past_key_values=cache, logits_to_keep=1)
    # A press may fail in any way on an architecture that its authors did not try.
    except Exception as error:
        raise ConfigError(f"{named}: {where}: {cause(error)}); {_OTHER_PRESS}") from error
    kept = [layer.keys.shape[-2] for layer in cache.layers]
    if policy.budget < 1.0 and sum(kept) >= length * len(kept):
        raise ConfigError(f"{named}: {where}: every position stays in the cache); {_OTHER_PRESS}")
    return press


def pressed(press: Any, model: Any, tokens: int) -> AbstractContextManager[None]:
    """While it is entered, a prefill of so many tokens is compressed; not at all without a press."""
    least = max((int(getattr(press, name, 0) or 0) for name in _UNEVICTED), default=0)
    return press(model) if press is not None and tokens > max(1, least) else nullcontext()


def attention_modules(model: Any) -> list[Any]:
    """The self-attention of each layer. Raises `ConfigError` where the model is built in another way."""
    core = getattr(model.model, "language_model", model.model) if hasattr(model, "model") else None
    found = [getattr(layer, "self_attn", None) for layer in getattr(core, "layers", [])]
    if not found or None in found:
        raise ConfigError(
            f"model: {model.config.model_type} has no layers with a self_attn, which evictions and "
            "engine.attention_entropy look for; take kv_policy=none and leave engine.attention_entropy=false"
        )
    return found


def fitted_masks(model: Any) -> list[Any]:
    """Hooks that give each layer a mask of its own cache's length: transformers makes one, of the first layer's length.

    PyramidKV keeps more positions in the lower layers than in the upper ones. All that is in a cache is before the new
    tokens, whatever positions it was."""
    return [each.register_forward_pre_hook(_fit_mask, with_kwargs=True) for each in attention_modules(model)]


def _fit_mask(module: Any, arguments: Any, named: dict[str, Any]) -> tuple[Any, dict[str, Any]] | None:
    mask, cache = named.get("attention_mask"), named.get("past_key_values")
    if mask is None or cache is None:
        return None
    new = named["hidden_states"].shape[1]
    length = cache.layers[module.layer_idx].get_seq_length() + new
    if mask.shape[-1] == length:
        return None
    seen = torch.ones((new, length), dtype=torch.bool, device=mask.device).tril(diagonal=length - new)[None, None]
    if mask.dtype is not torch.bool:
        seen = torch.zeros_like(seen, dtype=mask.dtype).masked_fill(~seen, torch.finfo(mask.dtype).min)
    return arguments, {**named, "attention_mask": seen}


class EntropyMeter:
    """Measures the attention entropy in a model from now on, while `measuring` is entered."""

    def __init__(self, model: Any, *, positions: int) -> None:
        self.positions = positions
        self._by_layer: defaultdict[int, list[float]] = defaultdict(list)
        self._is_on = False
        eager = model.config._attn_implementation == "eager"
        for module in attention_modules(model):
            setattr(module, _METER, self)
            if eager:
                module.register_forward_hook(_read_weights, with_kwargs=True)
        if not eager:
            AttentionInterface.register(_MEASURED, _attention)
            AttentionMaskInterface.register(_MEASURED, ALL_MASK_ATTENTION_FUNCTIONS["sdpa"])
            model.set_attn_implementation(_MEASURED)

    @contextmanager
    def measuring(self) -> Iterator[None]:
        self._by_layer.clear()
        self._is_on = True
        try:
            yield
        finally:
            self._is_on = False

    @property
    def by_layer(self) -> tuple[float, ...]:
        """The mean of each layer, 0–1; empty where no token saw two keys."""
        return tuple(sum(values) / len(values) for _, values in sorted(self._by_layer.items()))

    def add(
        self, module: Any, mask: torch.Tensor | None, queries: int, keys: torch.Tensor, weights_of: _WeightsOf
    ) -> None:
        """Add the last of so many queries. Each sees the keys (0, 1 …) of the mask; without one those up to its own."""
        for place in range(max(0, queries - self.positions), queries) if self._is_on else ():
            if mask is None:
                seen = keys <= len(keys) - queries + place
            else:
                row = mask[0, 0, place, : len(keys)]
                seen = row if row.dtype is torch.bool else row > torch.finfo(row.dtype).min / 2
            if (among := int(seen.sum())) > 1:
                weights = weights_of(place, seen)
                entropies = -torch.xlogy(weights, weights).sum(dim=-1) / math.log(among)
                self._by_layer[module.layer_idx].append(float(entropies.mean()))


def _attention(
    module: Any, query: torch.Tensor, key: torch.Tensor, value: torch.Tensor, attention_mask: Any, **named: Any
) -> Any:
    """`sdpa`, after it was measured: queries of [1, heads, queries, size], keys of [1, KV heads, keys, size]."""
    scaling = named.get("scaling") or query.shape[-1] ** -0.5

    def weights_of(place: int, seen: torch.Tensor) -> torch.Tensor:
        one = query[0, :, place].reshape(key.shape[1], query.shape[1] // key.shape[1], -1)
        scores = torch.einsum("hgd,hnd->hgn", one, key[0]).float() * scaling
        return scores.masked_fill(~seen, float("-inf")).softmax(dim=-1).flatten(0, 1)

    keys = torch.arange(key.shape[2], device=key.device)
    getattr(module, _METER).add(module, attention_mask, query.shape[2], keys, weights_of)
    return ALL_ATTENTION_FUNCTIONS["sdpa"](module, query, key, value, attention_mask, **named)


def _read_weights(module: Any, _: Any, named: dict[str, Any], output: Any) -> None:
    weights = output[1]
    keys = torch.arange(weights.shape[-1], device=weights.device)
    mask = named.get("attention_mask")
    getattr(module, _METER).add(module, mask, weights.shape[-2], keys, lambda at, _: weights[0, :, at].float())
