"""The layers of a model as the `config.json` of its hub repository describes them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from contextcliff.kv.architecture import Architecture, Layer

_CONFIG = "config.json"
_LARGEST_BYTES = 1 << 20
_SLIDING = ("sliding_attention", "chunked_attention")
_WITHOUT_KEYS = ("linear_attention", "mamba", "recurrent", "conv")


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
        config = json.loads(file.read_bytes()[:_LARGEST_BYTES])
    except ValueError:  # whoever loads the model says what is wrong with it
        return None
    return of_config(config) if isinstance(config, dict) else None


def of_config(config: Mapping[str, object]) -> Architecture | None:
    """The layers that a transformers configuration describes; None where it describes none with attention.

    Latent attention (DeepSeek-V2, arXiv 2405.04434) is counted as servers keep it: the latent and the rotary part.
    """
    nested = config.get("text_config")
    text = nested if isinstance(nested, dict) else config
    layers, heads, width = (_count(text, key) for key in ("num_hidden_layers", "num_attention_heads", "hidden_size"))
    if layers is None or heads is None or width is None:
        return None
    rank = _count(text, "kv_lora_rank")
    if rank is not None:
        key, value = rank + (_count(text, "qk_rope_head_dim") or 0), 0
    else:
        kv_heads = _count(text, "num_key_value_heads") or heads
        key = value = kv_heads * (_count(text, "head_dim") or width // heads)
    window = _count(text, "sliding_window") if text.get("use_sliding_window", True) else None
    given = text.get("layer_types")
    types = given if isinstance(given, list) else ["sliding_attention" if window else "full_attention"] * layers
    return Architecture(
        layers=tuple(
            Layer(key_values=key, value_values=value, window=window if kind in _SLIDING else None)
            for kind in types
            if kind not in _WITHOUT_KEYS
        )
    )


def _count(config: Mapping[str, object], key: str) -> int | None:
    value = config.get(key)
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else None
