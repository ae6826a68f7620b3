"""The `sampling` group: every sampler that is sent, with nothing left to a server's hidden default."""

from __future__ import annotations

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
    seed: NonNegativeInt | None = None
