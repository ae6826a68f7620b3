"""The `sampling` group: every sampler that is sent, with nothing left to a server's hidden default."""

from __future__ import annotations

from dataclasses import replace

from contextcliff.settings import Fraction, NonNegativeFloat, NonNegativeInt, PositiveFloat, PositiveInt, settings


@settings
class Sampling:
    """How tokens are drawn. `seed=None` sends each sample's own seed."""

    temperature: NonNegativeFloat = 0.0
    top_p: Fraction = 1.0
    top_k: NonNegativeInt = 1
    """0 keeps every token."""
    min_p: Fraction = 0.0
    repetition_penalty: PositiveFloat = 1.0
    max_tokens: PositiveInt = 48
    """Tokens that the answer may take."""
    thinking_tokens: NonNegativeInt = 0
    """Tokens that a thinking model may take beside them."""
    seed: NonNegativeInt | None = None

    @property
    def generated_tokens(self) -> int:
        """Most tokens that a request generates."""
        return self.max_tokens + self.thinking_tokens

    def for_answer(self, tokens: int | None) -> Sampling:
        """The same samplers with room for an answer of so many tokens; None: as it is."""
        return self if tokens is None else replace(self, max_tokens=tokens)

    def beyond_openai(self) -> dict[str, float | int]:
        """The samplers that the OpenAI protocol has no field for, by our names."""
        return {"top_k": self.top_k, "min_p": self.min_p, "repetition_penalty": self.repetition_penalty}
