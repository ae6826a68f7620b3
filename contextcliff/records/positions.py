"""The positions that a model was trained on, and how they are extended."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Literal

PositionSource = Literal["given", "gguf", "config", "server"]
"""Who says it: the key `model.rope.trained_tokens`, a GGUF file's header, the model's `config.json`, or a server."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Positions:
    """What is known of them; with nothing in it, nothing is."""

    __pydantic_config__: ClassVar[Mapping[str, bool]] = {"allow_inf_nan": False}

    trained_tokens: int | None = None
    """How many there were before any scaling; None: not known."""
    source: PositionSource | None = None
    """Who says so."""
    scaling: str = ""
    """How they are scaled, as `yarn`; empty: not scaled, or not known."""
    factor: float | None = None
    """By how much; None where they are not scaled, or by no single factor."""

    @property
    def is_extended(self) -> bool:
        """Whether more positions are asked for than were trained."""
        return self.factor is not None and self.factor > 1.0
