"""The KV cache of a configured model, from the metadata that lie on this machine. Downloads nothing.

The layers are those that the header of a GGUF file describes, counted as llama.cpp lays its cache out, or the
`config.json` of a hub repository."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

from contextcliff.errors import ConfigError
from contextcliff.kv.policy import KVPolicy
from contextcliff.models.gguf_header import Value, count_of, read_header
from contextcliff.models.model import Model
from contextcliff.records.kv_cache import GIB, CachedLayers, CacheFacts, DeviceMemory

_BITS_A_BYTE = 8.0
_FULL_EVERY: Mapping[str, int] = {"cohere2": 4, "gemma2": 2, "gemma3": 6, "gemma3n": 5, "gpt-oss": 2}
"""Of architectures whose files name a sliding window and not the layers that have it: one layer in so many has none.

As in llama.cpp's sources. Of others every layer is counted whole: too much memory rather than too little."""
_CELLS_STEP = 256
_CONFIG = "config.json"
_SLIDING = ("sliding_attention", "chunked_attention")
_WITHOUT_KEYS = ("linear_attention", "mamba", "recurrent", "conv")


@dataclass(frozen=True, kw_only=True, slots=True)
class Layer:
    """What one layer keeps of each token."""

    key_values: int
    value_values: int
    window: int | None = None
    """Tokens that a sliding window keeps; None: all."""


Architecture = tuple[Layer, ...]


def cached_layers(
    layers: Architecture, policy: KVPolicy, *, window_batch: int | None = None
) -> tuple[CachedLayers, ...]:
    """The layers under a policy, equal neighbours together; an eviction counts the share that it keeps.

    With `window_batch`, sliding windows have llama.cpp's cells: those of the window and of a batch, rounded up
    (`llama_kv_cache_iswa` in its `src/llama-kv-cache-iswa.cpp`)."""
    key_bits, value_bits = policy.bits

    def kept(layer: Layer) -> int | None:
        if layer.window is None or window_batch is None:
            return layer.window
        return -(-(layer.window + window_batch) // _CELLS_STEP) * _CELLS_STEP

    return tuple(
        CachedLayers(
            n_layers=len(list(alike)),
            bytes_per_token=(layer.key_values * key_bits + layer.value_values * value_bits)
            / _BITS_A_BYTE
            * policy.budget,
            window=kept(layer),
        )
        for layer, alike in groupby(layers)
    )


def cache_facts(
    model: Model,
    policy: KVPolicy,
    device: DeviceMemory | None = None,
    *,
    shown: str | None = None,
    window_batch: int | None = None,
) -> CacheFacts:
    """What is known of a cache before the model is loaded; `shown` is the policy's name in reports, if another one."""
    weights = _weights(model)
    architecture = None if weights is None else read_architecture(weights)
    if architecture is None and model.hub is not None:
        architecture = architecture_of_hub(model.hub)
    given = None if model.memory_gib is None else DeviceMemory(name="", gib=model.memory_gib)
    return CacheFacts(
        policy=shown or policy.shown,
        option=policy.name,
        key_type=policy.key_type,
        value_type=policy.value_type,
        evicts=policy.evicts,
        budget=policy.budget,
        sees_question=policy.sees_question,
        declared=policy.declared,
        layers=() if architecture is None else cached_layers(architecture, policy, window_batch=window_batch),
        weights_gib=None if weights is None else weights.stat().st_size / GIB,
        device=given or device,
    )


def _weights(model: Model) -> Path | None:
    try:
        return model.gguf.fetch() if model.gguf.is_at_hand() else None
    except ConfigError:  # a model of a server names no weights
        return None


def read_architecture(weights: Path) -> Architecture | None:
    """Read a GGUF file's header; None where it is broken or does not describe layers with attention."""
    try:
        header = read_header(weights)
    except ValueError:  # llama.cpp says what is wrong with the file
        return None
    name = str(header.get("general.architecture"))
    own = {key.removeprefix(f"{name}."): value for key, value in header.items() if key.startswith(f"{name}.")}
    layers, heads, width = (
        count_of(own.get(key)) for key in ("block_count", "attention.head_count", "embedding_length")
    )
    if layers is None or heads is None or width is None:
        return None
    key = count_of(own.get("attention.key_length")) or width // heads
    value = count_of(own.get("attention.value_length")) or width // heads
    if "attention.key_length_mla" in own:
        value = 0  # latent attention (DeepSeek-V2, arXiv 2405.04434): values are read from the keys' latent
    kv_heads, window = _kv_heads(own, layers=layers, heads=heads), _window(own, name)
    return tuple(
        Layer(key_values=count * key, value_values=count * value, window=window(place))
        for place, count in enumerate(kv_heads)
        if count > 0  # a recurrent layer has no cache of keys
    )


def _kv_heads(own: Mapping[str, Value], *, layers: int, heads: int) -> tuple[int, ...]:
    given = own.get("attention.head_count_kv")
    if isinstance(given, tuple):
        return tuple(int(count) for count in given)
    every = count_of(own.get("full_attention_interval")) or 1
    count = int(given) if isinstance(given, int) and given > 0 else heads
    return tuple(count if (place + 1) % every == 0 else 0 for place in range(layers))


def _window(own: Mapping[str, Value], name: str) -> Callable[[int], int | None]:
    window = count_of(own.get("attention.sliding_window"))
    pattern = own.get("attention.sliding_window_pattern")
    if isinstance(pattern, tuple):
        return lambda place: window if place < len(pattern) and pattern[place] else None
    every = int(pattern) if isinstance(pattern, int) and pattern > 0 else _FULL_EVERY.get(name, 1)
    return lambda place: window if (place + 1) % every else None


def architecture_of_hub(repository: str) -> Architecture | None:
    """Read a folder's `config.json`, or that of a hub repository in the local cache; None where there is none."""
    from huggingface_hub import try_to_load_from_cache

    file = Path(repository).expanduser() / _CONFIG
    if not file.is_file():
        cached = try_to_load_from_cache(repository, _CONFIG) if repository.count("/") == 1 else None
        if not isinstance(cached, str):
            return None
        file = Path(cached)
    try:
        config = json.loads(file.read_bytes())
    except ValueError:  # whoever loads the model says what is wrong with it
        return None
    return of_config(config) if isinstance(config, dict) else None


def of_config(config: Mapping[str, object]) -> Architecture | None:
    """The layers that a transformers configuration describes; None where it describes none with attention. Latent
    attention (DeepSeek-V2, arXiv 2405.04434) is counted as servers keep it: the latent and the rotary part."""
    nested = config.get("text_config")
    text = nested if isinstance(nested, dict) else config
    layers, heads, width = (
        count_of(text.get(key)) for key in ("num_hidden_layers", "num_attention_heads", "hidden_size")
    )
    if layers is None or heads is None or width is None:
        return None
    rank = count_of(text.get("kv_lora_rank"))
    if rank is not None:
        key, value = rank + (count_of(text.get("qk_rope_head_dim")) or 0), 0
    else:
        kv_heads = count_of(text.get("num_key_value_heads")) or heads
        key = value = kv_heads * (count_of(text.get("head_dim")) or width // heads)
    window = count_of(text.get("sliding_window")) if text.get("use_sliding_window", True) else None
    given = text.get("layer_types")
    types = given if isinstance(given, list) else ["sliding_attention" if window else "full_attention"] * layers
    return tuple(
        Layer(key_values=key, value_values=value, window=window if kind in _SLIDING else None)
        for kind in types
        if kind not in _WITHOUT_KEYS
    )
