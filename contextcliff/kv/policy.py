"""The `kv_policy` group: the formats of the cache's keys and values, and which positions it keeps.

Bits include what a block stores beside its values. ggml's blocks have 32 values and a 16-bit scale; those ending in
`_1` have a 16-bit minimum besides. The integer caches of the engine transformers are stored as KIVI stores values
(Z. Liu et al., arXiv 2402.02750): groups of 64 with a scale and a least value of 16 bits each. Their newest tokens, up
to 128, stay as the model computes them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Annotated, Literal

from pydantic import Field

from contextcliff.errors import ConfigError
from contextcliff.settings import Float, Int, Name, settings

CacheType = Literal[
    "f32", "f16", "bf16", "q8_0", "q5_1", "q5_0", "q4_1", "q4_0", "iq4_nl", "int8", "int4", "int2", "fp8", "fp8_e4m3",
    "fp8_e5m2",
]  # fmt: skip

_GGML = ("llamacpp", "llama_server")
_TORCH = ("transformers",)
_PAGED = ("vllm", "sglang")


@dataclass(frozen=True, kw_only=True, slots=True)
class Format:
    bits: float
    """Bits of one value, with its share of what the block stores beside its values."""
    engines: tuple[str, ...]


FORMATS: Mapping[CacheType, Format] = {
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
_PLAIN = "none"
_EVICTING_ENGINES = ("transformers",)
_SIMULATED = "simulated"


@settings
class KVPolicy:
    """Formats of the cache (`key_type`, `value_type`), and an eviction by a `press` of NVIDIA's kvpress.

    One that does not see the question compresses the context before the question is read, as a prefix shared by many
    questions would be; one that sees it compresses the whole prompt."""

    name: Name
    key_type: CacheType = "f16"
    value_type: CacheType = "f16"
    press: Name | None = None
    press_arguments: Mapping[str, Int | Float | bool] = Field(default_factory=dict)
    budget: Annotated[Float, Field(gt=0.0, le=1.0)] = 1.0
    sees_question: bool = False
    declared: bool = False
    """Whether the server that is asked was started with this policy already."""

    def __post_init__(self) -> None:
        idle = {
            f"budget={self.budget:g}": self.budget < 1.0,
            "sees_question=true": self.sees_question,
            "press_arguments": bool(self.press_arguments),
        }
        if self.press is None and any(idle.values()):
            raise ValueError(
                f"kv_policy.{next(filter(idle.get, idle))}: kv_policy={self.name} evicts nothing; take one that does, "
                "such as kv_policy=snapkv, or leave it out"
            )

    @property
    def is_quantised(self) -> bool:
        return not {self.key_type, self.value_type} <= {"f32", "f16", "bf16"}

    @property
    def evicts(self) -> bool:
        """Whether a press scores the positions; at a budget of 1.0 it keeps all of them."""
        return self.press is not None

    @property
    def is_plain(self) -> bool:
        """Whether it is the cache as engines have it unasked."""
        return not self.evicts and (self.key_type, self.value_type) == ("f16", "f16")

    def computed_in(self, cache_type: CacheType) -> KVPolicy:
        """The policy in the formats that the cache will have: `f16` stands for what a model computes in."""
        own = {"f16": cache_type}
        return replace(
            self, key_type=own.get(self.key_type, self.key_type), value_type=own.get(self.value_type, self.value_type)
        )

    @property
    def shown(self) -> str:
        """The name in reports and run ids, such as `q8_0`, `q8_0-q4_0` (keys, values) and `snapkv-0.5`."""
        formats = self.key_type if self.key_type == self.value_type else f"{self.key_type}-{self.value_type}"
        named_by_format = self.name == _PLAIN or self.name in FORMATS
        name = formats if named_by_format and not (self.name == _PLAIN and formats == "f16") else self.name
        if not self.evicts:
            return name
        return f"{name}-{self.budget:g}{'-sees-question' if self.sees_question else ''}"

    @property
    def engines(self) -> tuple[str, ...]:
        both = (name for name in FORMATS[self.key_type].engines if name in FORMATS[self.value_type].engines)
        return tuple(name for name in both if not self.evicts or name in _EVICTING_ENGINES)

    @property
    def bits(self) -> tuple[float, float]:
        return FORMATS[self.key_type].bits, FORMATS[self.value_type].bits

    def require_engine(self, engine: str) -> None:
        """Raise `ConfigError` for an engine that sets its cache itself and can't have this one, or is declared to."""
        self.refuse_declared(engine)
        self.require_format(engine)

    def refuse_declared(self, engine: str) -> None:
        """Raise `ConfigError` for a policy that is declared of an engine that sets its cache itself."""
        if self.declared:
            raise ConfigError(
                f"kv_policy.declared=true: engine={engine} sets its cache itself, and a policy is declared of a server "
                "that runs already; leave it out"
            )

    def require_format(self, engine: str) -> None:
        """Raise `ConfigError` where this engine can't have such a cache; the line lists those that can."""
        if engine in self.engines:
            return
        those = (
            f"engines that have it: {', '.join((*self.engines, _SIMULATED))}"
            if self.engines
            else f"no engine has keys of {self.key_type} with values of {self.value_type}"
            f"{' and an eviction' if self.evicts else ''}"
        )
        raise ConfigError(f"kv_policy={self.shown}: engine={engine} has no such cache; {those}")

    def identity(self) -> object:
        """What determines the answers, for the store's key; the formats alone where nothing is evicted."""
        formats = [self.key_type, self.value_type]
        if not self.evicts:
            return formats
        return {
            "formats": formats,
            "press": self.press,
            "arguments": dict(self.press_arguments),
            "budget": self.budget,
            "sees_question": self.sees_question,
        }
