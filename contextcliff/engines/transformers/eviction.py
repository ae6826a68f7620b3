"""Evictions: presses of NVIDIA's kvpress, built for a policy, checked on the model, and applied to a prefill."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Any

import torch
from transformers import DynamicCache

from contextcliff.engines.transformers.loading import WAY_OUT
from contextcliff.errors import ConfigError
from contextcliff.hub import cause
from contextcliff.kv.policy import KVPolicy

_RATIO = "compression_ratio"
_UNEVICTED = ("window_size", "n_sink", "sink_size")
"""Arguments of presses that name how many tokens are kept whatever their score: no shorter text is compressed."""
_PROBE_TOKENS = 192
_WAY_OUT = "take another, such as kv_policy=snapkv or streaming_llm"


@dataclass(frozen=True, kw_only=True, slots=True)
class Eviction:
    """A press for one model."""

    press: Any
    budget: float
    sees_question: bool

    def applied(self, model: Any, tokens: int) -> AbstractContextManager[None]:
        """While it is entered, a prefill of so many tokens is compressed."""
        least = max((int(getattr(self.press, name, 0) or 0) for name in _UNEVICTED), default=0)
        pressed: AbstractContextManager[None] = self.press(model) if tokens > max(1, least) else nullcontext()
        return pressed


def eviction(policy: KVPolicy) -> Eviction | None:
    """The press of a policy; None where it has none. Raises `ConfigError` for one that can't be built."""
    if policy.press is None:
        return None
    press_class = _class_named(policy.press)
    taken = inspect.signature(press_class).parameters
    if _RATIO not in taken:
        raise ConfigError(
            f"kv_policy.press={policy.press}: takes no {_RATIO}, so that kv_policy.budget can't be set; {_WAY_OUT}"
        )
    unknown = sorted(set(policy.press_arguments) - set(taken))
    if unknown:
        raise ConfigError(
            f"kv_policy.press_arguments: {policy.press} takes no {', '.join(unknown)}; it takes "
            f"{', '.join(sorted(set(taken) - {_RATIO})) or 'none'}"
        )
    given = {_RATIO: 1.0 - policy.budget, **policy.press_arguments}
    lacking = _lacking(press_class, given)
    if lacking:
        raise ConfigError(
            f"kv_policy.press={policy.press}: needs {', '.join(lacking)} besides; give numbers with "
            f"kv_policy.press_arguments, or {_WAY_OUT}"
        )
    try:
        press = press_class(**given)
    except (AssertionError, TypeError, ValueError) as error:
        raise ConfigError(f"kv_policy.press_arguments: {policy.press} does not take them ({cause(error)})") from error
    return Eviction(press=press, budget=policy.budget, sees_question=policy.sees_question)


def _class_named(name: str) -> type:
    try:
        import kvpress
    except ImportError as error:  # one of the packages that it needs in turn
        raise ConfigError(
            f"kv_policy.press={name}: kvpress can't be loaded ({cause(error)}); run `{WAY_OUT}`"
        ) from error

    presses = {each: getattr(kvpress, each) for each in kvpress.__all__ if _is_press(getattr(kvpress, each))}
    if name not in presses:
        usable = sorted(each for each, press in presses.items() if not _lacking(press, {_RATIO}))
        raise ConfigError(
            f"kv_policy.press={name}: kvpress has no such press; those with a budget are {', '.join(usable)}"
        )
    press: type = presses[name]
    return press


def _lacking(press: type, given: Collection[str]) -> list[str]:
    """Arguments that a press needs and is not given, and those that it is given and does not take."""
    taken = inspect.signature(press).parameters
    needed = [name for name, each in taken.items() if each.default is each.empty]
    return [*(name for name in needed if name not in given), *(name for name in given if name not in taken)]


def _is_press(value: object) -> bool:
    import kvpress

    return isinstance(value, type) and issubclass(value, kvpress.BasePress) and value is not kvpress.BasePress


def check(eviction: Eviction, model: Any, policy: KVPolicy) -> None:
    """Compress a made-up prompt. Raises `ConfigError` where the press does not work on this model's architecture."""
    numbers = [value for value in vars(eviction.press).values() if isinstance(value, int)]
    length = max([_PROBE_TOKENS, *(2 * value + 1 for value in numbers if value < 10 * _PROBE_TOKENS)])
    tokens = torch.arange(1, length + 1, device=model.device)[None] % min(
        1000, model.config.get_text_config().vocab_size
    )
    cache = DynamicCache(config=model.config)
    where = f"kv_policy.press={policy.press}: does not work on this model ({model.config.model_type}"
    try:
        with torch.inference_mode(), eviction.applied(model, length):
            model(input_ids=tokens, past_key_values=cache, logits_to_keep=1)
    # A press may fail in any way on an architecture that its authors did not try.
    except Exception as error:
        raise ConfigError(f"{where}: {cause(error)}); {_WAY_OUT}") from error
    kept = [layer.keys.shape[-2] for layer in cache.layers]
    if eviction.budget < 1.0 and sum(kept) >= length * len(kept):
        raise ConfigError(f"{where}: every position stays in the cache); {_WAY_OUT}")


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


_FITTED = "contextcliff_masks_fitted"


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
