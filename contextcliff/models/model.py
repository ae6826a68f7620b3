"""The `model` group: what the model is called, how long its window is, and where its weights come from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from decimal import ROUND_CEILING, ROUND_HALF_EVEN, Context, Decimal
from typing import Annotated, Literal

from pydantic import Field, JsonValue

from contextcliff.models.weights import Gguf
from contextcliff.settings import Count, Float, Int, Name, NonNegativeFloat, PositiveFloat, PositiveInt, settings

_CENT_DIGITS, _SIGNIFICANT_DIGITS = 2, 3
_TOKENS_PER_PRICE = 1e6
_PRICED = ("input", "cached_input", "cache_write", "output")


@settings
class PriceTier:
    """What a whole request costs whose prompt is longer than `above` tokens; None: what it costs below."""

    above: PositiveInt
    input: NonNegativeFloat | None = None
    cached_input: NonNegativeFloat | None = None
    cache_write: NonNegativeFloat | None = None
    output: NonNegativeFloat | None = None


@settings
class Price:
    """US dollars per million tokens; None where the price is unknown."""

    input: NonNegativeFloat | None = None
    cached_input: NonNegativeFloat | None = None
    """None: as much as input."""
    cache_write: NonNegativeFloat | None = None
    """Of prompt tokens that the provider writes to its cache, in place of `input`. None: as much as input."""
    output: NonNegativeFloat | None = None
    tiers: tuple[PriceTier, ...] = ()

    @property
    def is_known(self) -> bool:
        return self.input is not None and self.output is not None

    def at(self, prompt_tokens: float) -> Price:
        """The prices of a request with so long a prompt, without tiers."""
        if not self.tiers:
            return self
        reached = sorted((tier for tier in self.tiers if prompt_tokens > tier.above), key=lambda tier: tier.above)
        own = {name: usd for tier in reached for name in _PRICED if (usd := getattr(tier, name)) is not None}
        return replace(self, tiers=(), **own)

    def of(
        self,
        *,
        prompt_tokens: float,
        completion_tokens: float,
        cached_tokens: float = 0,
        written_tokens: float | None = None,
    ) -> float | None:
        """Cost of one request in US dollars; None where a price is unknown. Unless somebody says how many tokens were
        written to a cache, those that none saved cost the dearer price."""
        price = self.at(prompt_tokens)
        if not self.is_known or price.input is None or price.output is None:
            return None
        cached = price.input if price.cached_input is None else price.cached_input
        write = price.input if price.cache_write is None else price.cache_write
        computed = prompt_tokens - cached_tokens
        is_untold = written_tokens is None and write > price.input
        written = computed if is_untold else min(written_tokens or 0, computed)
        prompt = (computed - written) * price.input + written * write + cached_tokens * cached
        return (prompt + completion_tokens * price.output) / _TOKENS_PER_PRICE


def dollars(value: float, *, at_most: bool = False) -> str:
    """Two decimals from one dollar up, three significant digits below; `at_most` rounds up, as an upper bound must."""
    exact = Decimal(repr(value))
    small = bool(exact) and abs(exact) < 1
    decimals = max(_CENT_DIGITS, _SIGNIFICANT_DIGITS - 1 - exact.adjusted()) if small else _CENT_DIGITS
    rounding = Context(prec=400, rounding=ROUND_CEILING if at_most else ROUND_HALF_EVEN)
    rounded = exact.quantize(Decimal(1).scaleb(-decimals), context=rounding)
    whole, _, cents = f"{rounded:,f}".partition(".")
    return f"{whole}.{cents.rstrip('0'):0<{_CENT_DIGITS}} USD"


@settings
class Rope:
    """How rotary positions are scaled; with `type` and `base` null, the weights' own setting holds.

    `linear` divides every position by `scale` (S. Chen et al., arXiv 2306.15595). `yarn` scales the low frequencies
    only (B. Peng et al., arXiv 2309.00071). `none` turns off the scaling that the weights ask for and ignores `scale`.
    """

    type: Literal["none", "linear", "yarn"] | None = None
    scale: Annotated[Float, Field(ge=1.0)] | None = None
    base: PositiveFloat | None = None
    trained_tokens: PositiveInt | None = None
    """Positions that the model was trained on, before any scaling. None: what the weights or the server tell."""

    def __post_init__(self) -> None:
        if (self.type in ("linear", "yarn")) != (self.scale is not None) and self.type != "none":
            given = f"type={self.type}" if self.scale is None else f"scale={self.scale:g}"
            both = "model.rope.type=yarn model.rope.scale=2"
            raise ValueError(f"model.rope.{given}: a way of scaling needs a factor, and a factor a way; give {both}")

    @property
    def factor(self) -> float | None:
        return None if self.type == "none" else self.scale

    @property
    def words(self) -> str:
        scale = "" if self.factor is None else f"x{self.factor:g}"
        base = "" if self.base is None else f"base {self.base:g}"
        return " ".join(part for part in (self.type or "", scale, base) if part)

    def identity(self) -> Mapping[str, object]:
        """What determines the answers; empty where the weights' own setting holds."""
        scaling = {"type": self.type, "scale": self.factor, "base": self.base}
        return {"rope": scaling} if self.type is not None or self.base is not None else {}


@settings
class Model:
    """A model under test."""

    name: Name | None = None
    """The name in reports and, where `served` has no other, in requests. None: the only model that the server has."""
    context_window: PositiveInt | None = None
    """Tokens that prompt and answer may take together. None: the window that the server reports."""
    most_lengths: Count | None = None
    """`task.lengths=auto` tests so many lengths at most, from the shortest on; all up to the window if None."""
    served: Mapping[str, str] = Field(default_factory=dict)
    """The model's name on other servers, by engine preset. A `name` given on the command line wins."""
    hub: str | None = None
    template_arguments: Mapping[str, bool | Int | str] = Field(default_factory=dict)
    """Arguments of the chat template, such as Qwen3's `enable_thinking`."""
    extra_body: Mapping[str, JsonValue] = Field(default_factory=dict)
    """More top-level fields of every request to a server, such as a switch for thinking."""
    gguf: Gguf = Gguf()
    rope: Rope = Rope()
    memory_gib: PositiveFloat | None = None
    """GiB that weights and KV cache may take together. None: what the device has, where the model runs here."""
    price: Price = Price()

    def served_name(self, preset: str) -> str | None:
        """The model's name on a server of this preset; None where only the server knows it."""
        return self.served.get(preset, self.name)
