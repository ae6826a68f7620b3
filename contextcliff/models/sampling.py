"""The `sampling` group: every sampler is sent by name, so that no server's own default applies."""

from __future__ import annotations

from dataclasses import replace

from contextcliff.settings import Fraction, NonNegativeFloat, NonNegativeInt, PositiveFloat, PositiveInt, settings


@settings
class Sampling:
    """How tokens are drawn. With `seed=None` each request carries its sample's own seed."""

    temperature: NonNegativeFloat = 0.0
    top_p: Fraction = 1.0
    top_k: NonNegativeInt = 1
    """0 turns this sampler off."""
    min_p: Fraction = 0.0
    repetition_penalty: PositiveFloat = 1.0
    max_tokens: PositiveInt = 48
    """Tokens that the answer may take."""
    thinking_tokens: NonNegativeInt = 0
    """Further tokens that a model may think with before it answers."""
    seed: NonNegativeInt | None = None

    @property
    def draws_anew(self) -> bool:
        """Whether each request draws its own answer: a temperature above 0, and no seed that all requests share."""
        return self.temperature > 0.0 and self.seed is None

    @property
    def generated_tokens(self) -> int:
        return self.max_tokens + self.thinking_tokens

    def for_answer(self, tokens: int | None) -> Sampling:
        return self if tokens is None else replace(self, max_tokens=tokens)

    def beside_temperature(self, seed: int) -> dict[str, float | int]:
        """The other samplers by the names of this class, with `seed` where all requests share none."""
        return {
            "top_p": self.top_p,
            "seed": seed if self.seed is None else self.seed,
            "top_k": self.top_k,
            "min_p": self.min_p,
            "repetition_penalty": self.repetition_penalty,
        }
