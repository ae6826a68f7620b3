"""The number formats of a KV cache: their bits, and the engines that have them.

Bits include what a block stores beside its values. ggml's blocks have 32 values and a 16-bit scale; those ending in
`_1` have a 16-bit minimum besides. The integer caches of the engine transformers are stored as KIVI stores values
(Z. Liu et al., arXiv 2402.02750): groups of 64 with a scale and a least value of 16 bits each. Their newest tokens, up
to 128, stay as the model computes them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

CacheType = Literal[
    "f32", "f16", "bf16", "q8_0", "q5_1", "q5_0", "q4_1", "q4_0", "iq4_nl", "int8", "int4", "int2", "fp8", "fp8_e4m3",
    "fp8_e5m2",
]  # fmt: skip

_GGML = ("llamacpp", "llama_server")
_TORCH = ("transformers",)
_PAGED = ("vllm", "sglang")


@dataclass(frozen=True, kw_only=True, slots=True)
class Format:
    """One number format of a cache."""

    bits: float
    """Bits of one value, with its share of what the block stores beside its values."""
    engines: tuple[str, ...]
    """Engines that have it, by the names in reports."""


FORMATS: Mapping[CacheType, Format] = MappingProxyType(
    {
        "f32": Format(bits=32.0, engines=(*_GGML, *_TORCH)),
        "f16": Format(bits=16.0, engines=(*_GGML, *_TORCH, *_PAGED, "koboldcpp", "ollama", "lmstudio")),
        "bf16": Format(bits=16.0, engines=(*_GGML, *_TORCH, *_PAGED, "koboldcpp")),
        "q8_0": Format(bits=8.5, engines=(*_GGML, "koboldcpp", "ollama", "lmstudio")),
        "q5_1": Format(bits=6.0, engines=(*_GGML, "lmstudio")),
        "q5_0": Format(bits=5.5, engines=(*_GGML, "lmstudio")),
        "q4_1": Format(bits=5.0, engines=(*_GGML, "lmstudio")),
        "q4_0": Format(bits=4.5, engines=(*_GGML, "koboldcpp", "ollama", "lmstudio")),
        "iq4_nl": Format(bits=4.5, engines=(*_GGML, "lmstudio")),
        "int8": Format(bits=8.5, engines=_TORCH),
        "int4": Format(bits=4.5, engines=_TORCH),
        "int2": Format(bits=2.5, engines=_TORCH),
        "fp8": Format(bits=8.0, engines=_PAGED),
        "fp8_e4m3": Format(bits=8.0, engines=_PAGED),
        "fp8_e5m2": Format(bits=8.0, engines=_PAGED),
    }
)
UNCOMPRESSED: tuple[CacheType, ...] = ("f32", "f16", "bf16")
"""Formats in which a model computes."""
