"""The cache of a model: as it computes, stored in other formats, or evicted from; and what it really takes.

Integers are stored as KIVI stores values (Z. Liu et al., arXiv 2402.02750): each head's vector of a token in groups of
64 numbers with a scale and a least number of 16 bits each, rounded to the nearest. Keys go the same way, not by
channel. Own code, since the backends of transformers' `QuantizedCache` do not serve: on optimum-quanto it has no 8
bits; on hqq it fails where tokens times heads are no multiple of four, and tunes each group for 1.6 s a tensor of 4,096
tokens and 3 heads on a core, for 4% less error at 4 bits. It has one width for keys and values alike, and packs the
whole cache anew every 128 tokens, so that errors add up; here what is packed stays as it is.

Evictions are presses of NVIDIA's kvpress, built for a policy, checked on the model, and applied to a prefill.
"""

from __future__ import annotations

import copy
import inspect
from collections.abc import Callable, Collection, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Any

import torch
from transformers.cache_utils import DynamicCache, DynamicLayer

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
_RATIO = "compression_ratio"
_UNEVICTED = ("window_size", "n_sink", "sink_size")
"""Arguments of presses that name how many tokens are kept whatever their score: no shorter text is compressed."""
_PROBE_TOKENS = 192
_OTHER_PRESS = "take another, such as kv_policy=snapkv or streaming_llm"
_FITTED = "contextcliff_masks_fitted"


@dataclass(frozen=True, kw_only=True, slots=True)
class Packed:
    """Keys or values of some tokens, [1, heads, tokens, head size], stored in another format; it never changes.

    Whole numbers are several in a byte, and each stands for `whole * scale + least` of its group.
    """

    stored: torch.Tensor
    """Floating-point numbers, or bytes: [1, heads, tokens, head size * bits / 8]."""
    bits: int = 0
    """Of a whole number; 0: floating point."""
    scale: torch.Tensor | None = None
    """[1, heads, tokens, groups, 1] in 16 bits, and so is `least`; None: floating point."""
    least: torch.Tensor | None = None

    @property
    def nbytes(self) -> int:
        return sum(int(each.nbytes) for each in (self.stored, self.scale, self.least) if each is not None)

    @property
    def tokens(self) -> int:
        return int(self.stored.shape[-2])

    @property
    def kind(self) -> str:
        return f"int{self.bits}" if self.bits else _NAMES[self.stored.dtype]

    def unpack(self, dtype: torch.dtype) -> torch.Tensor:
        """The numbers as the model computes them."""
        if self.scale is None or self.least is None:
            return self.stored.to(dtype)
        whole = (self.stored[..., None] >> _shifts(self.bits, self.stored.device)) & (2**self.bits - 1)
        groups = whole.flatten(-2).unflatten(-1, (self.scale.shape[-2], -1))
        return (groups * self.scale.float() + self.least.float()).flatten(-2).to(dtype)


def pack(numbers: torch.Tensor, kind: CacheType) -> Packed:
    """Store numbers of the shape [1, heads, tokens, head size] in a format."""
    if kind in _FLOATS:
        return Packed(stored=numbers.to(_FLOATS[kind]))
    bits, size = _BITS[kind], numbers.shape[-1]
    groups = numbers.float().unflatten(-1, (-1, _GROUP if size % _GROUP == 0 else size))
    least = groups.amin(dim=-1, keepdim=True).half()
    scale = ((groups.amax(dim=-1, keepdim=True) - least.float()) / (2**bits - 1)).half()
    step = torch.where(scale > 0, scale, torch.ones_like(scale)).float()
    whole = ((groups - least.float()) / step).round().clamp(0, 2**bits - 1).to(torch.uint8)
    parts = whole.flatten(-2).unflatten(-1, (-1, _BITS_A_BYTE // bits))
    stored = (parts << _shifts(bits, numbers.device)).sum(dim=-1, dtype=torch.uint8)
    return Packed(stored=stored, bits=bits, scale=scale, least=least)


def _shifts(bits: int, device: torch.device) -> torch.Tensor:
    """How far each number in a byte is shifted."""
    return torch.arange(0, _BITS_A_BYTE, bits, dtype=torch.uint8, device=device)


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
        self.keys, self.values = (torch.empty_like(each[..., :0, :]) for each in (self.keys, self.values))

    def get_seq_length(self) -> int:
        """Tokens of the layer."""
        return int(super().get_seq_length()) + sum(each.tokens for each in self.packed_keys)


def _joined(older: tuple[Packed, ...], newer: Packed) -> tuple[Packed, ...]:
    """All of them; floating-point numbers in one piece, or each token would be one."""
    if older and not newer.bits:
        return (*older[:-1], Packed(stored=torch.cat([older[-1].stored, newer.stored], dim=-2)))
    return (*older, newer)


def stores_otherwise(policy: KVPolicy, dtype: str) -> bool:
    """Whether the cache is stored in another format than the model computes in; `f16` means as it computes."""
    return not {policy.key_type, policy.value_type} <= {"f16", _NAMES[getattr(torch, dtype)]}


def new_cache(model: Any, policy: KVPolicy, dtype: str) -> Any:
    """An empty cache for a policy. Raises `ConfigError` for a model with other layers than full attention."""
    cache = DynamicCache(config=model.config)
    if stores_otherwise(policy, dtype):
        if not can_be_cut(cache):
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
    total, kinds = 0, (set[str](), set[str]())
    for layer in cache.layers:
        if not layer.is_initialized:
            continue
        for numbers, name, found in ((layer.keys, "packed_keys", kinds[0]), (layer.values, "packed_values", kinds[1])):
            packed: tuple[Packed, ...] = getattr(layer, name, ())
            total += int(numbers.nbytes) + sum(each.nbytes for each in packed)
            found.add(packed[0].kind if packed else _NAMES[numbers.dtype])
    key_type, value_type = ("+".join(sorted(found)) for found in kinds)
    bytes_per_token = total / tokens if tokens else None
    return CacheInUse(key_type=key_type, value_type=value_type, bytes_per_token=bytes_per_token, tokens=tokens)


def press_of(policy: KVPolicy) -> Any:
    """The press of a policy; None if it has none. Raises `ConfigError` for one that can't be built."""
    if policy.press is None:
        return None
    press_class = _class_named(policy.press)
    taken = inspect.signature(press_class).parameters
    if _RATIO not in taken:
        raise ConfigError(
            f"kv_policy.press={policy.press}: takes no {_RATIO}, so that kv_policy.budget can't be set; {_OTHER_PRESS}"
        )
    if unknown := sorted(set(policy.press_arguments) - set(taken)):
        raise ConfigError(
            f"kv_policy.press_arguments: {policy.press} takes no {', '.join(unknown)}; it takes "
            f"{', '.join(sorted(set(taken) - {_RATIO})) or 'none'}"
        )
    given = {_RATIO: 1.0 - policy.budget, **policy.press_arguments}
    if lacking := _lacking(press_class, given):
        raise ConfigError(
            f"kv_policy.press={policy.press}: needs {', '.join(lacking)} besides; give numbers with "
            f"kv_policy.press_arguments, or {_OTHER_PRESS}"
        )
    try:
        return press_class(**given)
    except (AssertionError, TypeError, ValueError) as error:
        raise ConfigError(f"kv_policy.press_arguments: {policy.press} does not take them ({cause(error)})") from error


def _class_named(name: str) -> type:
    try:
        import kvpress
    except ImportError as error:  # one of the packages that it needs in turn
        raise ConfigError(
            f"kv_policy.press={name}: kvpress can't be loaded ({cause(error)}); run `{WAY_OUT}`"
        ) from error

    presses: dict[str, type] = {
        each: value
        for each in kvpress.__all__
        if isinstance(value := getattr(kvpress, each), type)
        and issubclass(value, kvpress.BasePress)
        and value is not kvpress.BasePress
    }
    if name not in presses:
        usable = sorted(each for each, press in presses.items() if not _lacking(press, {_RATIO}))
        raise ConfigError(
            f"kv_policy.press={name}: kvpress has no such press; those with a budget are {', '.join(usable)}"
        )
    return presses[name]


def _lacking(press: type, given: Collection[str]) -> list[str]:
    """Arguments that a press needs and is not given, and those that it is given and does not take."""
    taken = inspect.signature(press).parameters
    needed = [name for name, each in taken.items() if each.default is each.empty]
    return [*(name for name in needed if name not in given), *(name for name in given if name not in taken)]


def pressed(press: Any, model: Any, tokens: int) -> AbstractContextManager[None]:
    """While it is entered, a prefill of so many tokens is compressed; not at all without a press."""
    least = max((int(getattr(press, name, 0) or 0) for name in _UNEVICTED), default=0)
    applied: AbstractContextManager[None] = nullcontext()
    if press is not None and tokens > max(1, least):
        applied = press(model)
    return applied


def check(press: Any, model: Any, policy: KVPolicy) -> None:
    """Compress a made-up prompt. Raises `ConfigError` where the press does not work on this model's architecture."""
    numbers = [value for value in vars(press).values() if isinstance(value, int)]
    length = max([_PROBE_TOKENS, *(2 * value + 1 for value in numbers if value < 10 * _PROBE_TOKENS)])
    words = min(1000, model.config.get_text_config().vocab_size)
    tokens = torch.arange(1, length + 1, device=model.device)[None] % words
    cache = DynamicCache(config=model.config)
    where = f"kv_policy.press={policy.press}: does not work on this model ({model.config.model_type}"
    try:
        with torch.inference_mode(), pressed(press, model, length):
            model(input_ids=tokens, past_key_values=cache, logits_to_keep=1)
    # A press may fail in any way on an architecture that its authors did not try.
    except Exception as error:
        raise ConfigError(f"{where}: {cause(error)}); {_OTHER_PRESS}") from error
    kept = [layer.keys.shape[-2] for layer in cache.layers]
    if policy.budget < 1.0 and sum(kept) >= length * len(kept):
        raise ConfigError(f"{where}: every position stays in the cache); {_OTHER_PRESS}")


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


def fit_masks(model: Any) -> None:
    """Give each layer a mask of its own cache's length: transformers makes one, of the first layer's length.

    PyramidKV keeps more positions in the lower layers than in the upper ones. All that is in a cache is before the new
    tokens, whatever positions it was.
    """
    if getattr(model, _FITTED, False):  # by an earlier job of the sweep
        return
    setattr(model, _FITTED, True)
    for module in attention_modules(model):
        module.register_forward_pre_hook(_fitted(module.layer_idx), with_kwargs=True)


def _fitted(layer: int) -> Callable[..., tuple[Any, dict[str, Any]] | None]:
    def hook(_: Any, arguments: Any, named: dict[str, Any]) -> tuple[Any, dict[str, Any]] | None:
        mask, cache = named.get("attention_mask"), named.get("past_key_values")
        if mask is None or cache is None:
            return None
        new = named["hidden_states"].shape[1]
        length = cache.layers[layer].get_seq_length() + new
        if mask.shape[-1] == length:
            return None
        seen = torch.ones((new, length), dtype=torch.bool, device=mask.device).tril(diagonal=length - new)[None, None]
        if mask.dtype is not torch.bool:
            seen = torch.zeros_like(seen, dtype=mask.dtype).masked_fill(~seen, torch.finfo(mask.dtype).min)
        return arguments, {**named, "attention_mask": seen}

    return hook
