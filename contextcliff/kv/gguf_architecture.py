"""The layers of a model as its GGUF file's header describes them, counted as llama.cpp lays its cache out."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from contextcliff.kv.architecture import Architecture, Layer
from contextcliff.models.gguf_header import Value, read_header

_FULL_EVERY: Mapping[str, int] = {"cohere2": 4, "gemma2": 2, "gemma3": 6, "gemma3n": 5, "gpt-oss": 2}
"""Of architectures whose files name a sliding window and not the layers that have it: one layer in so many has none.

As in llama.cpp's sources. Of others every layer is counted whole: too much memory rather than too little.
"""


def read_architecture(weights: Path) -> Architecture | None:
    """Read a GGUF file's header; None where it is broken or does not describe layers with attention."""
    try:
        header = read_header(weights)
    except ValueError:  # llama.cpp says what is wrong with the file
        return None
    name = str(header.get("general.architecture"))
    own = {key.removeprefix(f"{name}."): value for key, value in header.items() if key.startswith(f"{name}.")}
    layers, heads, width = (_count(own, key) for key in ("block_count", "attention.head_count", "embedding_length"))
    if layers is None or heads is None or width is None:
        return None
    key = _count(own, "attention.key_length") or width // heads
    value = _count(own, "attention.value_length") or width // heads
    if "attention.key_length_mla" in own:
        value = 0  # latent attention (DeepSeek-V2, arXiv 2405.04434): values are read from the keys' latent
    kv_heads, window = _kv_heads(own, layers=layers, heads=heads), _window(own, name)
    return Architecture(
        layers=tuple(
            Layer(key_values=count * key, value_values=count * value, window=window(place))
            for place, count in enumerate(kv_heads)
            if count > 0  # a recurrent layer has no cache of keys
        )
    )


def _kv_heads(own: Mapping[str, Value], *, layers: int, heads: int) -> tuple[int, ...]:
    """KV heads of each layer."""
    given = own.get("attention.head_count_kv")
    if isinstance(given, tuple):
        return tuple(int(count) for count in given)
    every = _count(own, "full_attention_interval") or 1
    count = int(given) if isinstance(given, int) and given > 0 else heads
    return tuple(count if (place + 1) % every == 0 else 0 for place in range(layers))


def _window(own: Mapping[str, Value], name: str) -> Callable[[int], int | None]:
    """The sliding window of a layer by its place."""
    window = _count(own, "attention.sliding_window")
    pattern = own.get("attention.sliding_window_pattern")
    if isinstance(pattern, tuple):
        return lambda place: window if place < len(pattern) and pattern[place] else None
    every = int(pattern) if isinstance(pattern, int) and pattern > 0 else _FULL_EVERY.get(name, 1)
    return lambda place: window if (place + 1) % every else None


def _count(own: Mapping[str, Value], key: str) -> int | None:
    """A number above 0; None where the header has none."""
    value = own.get(key)
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else None
