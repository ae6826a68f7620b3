"""Scaling of rotary positions, which extends a model's window beyond the one it was trained on."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import Field

from contextcliff.settings import PositiveFloat, settings


@settings
class Rope:
    """How rotary positions are scaled; with every key null, the weights' own setting holds.

    `linear` divides every position by `scale` (S. Chen et al., arXiv 2306.15595). `yarn` scales the low frequencies
    only (B. Peng et al., arXiv 2309.00071). `none` turns off the scaling that the weights ask for and ignores `scale`.
    """

    type: Literal["none", "linear", "yarn"] | None = None
    scale: Annotated[float, Field(ge=1.0)] | None = None
    """Factor by which the window is extended."""
    base: PositiveFloat | None = None
    """Base frequency."""

    def __post_init__(self) -> None:
        if self.scale is not None and self.type is None:
            raise ValueError(
                f"model.rope.scale={self.scale:g}: has no effect without a way of scaling; "
                "give model.rope.type=linear or yarn"
            )
        if self.type in ("linear", "yarn") and self.scale is None:
            raise ValueError(
                f"model.rope.type={self.type}: needs the factor by which the window is extended; "
                "give model.rope.scale=2"
            )

    @property
    def factor(self) -> float | None:
        """The scale that is applied; None where none is."""
        return None if self.type == "none" else self.scale

    @property
    def words(self) -> str:
        """The setting as a report shows it, such as `yarn x2`; empty where the weights' own holds."""
        scale = "" if self.factor is None else f"x{self.factor:g}"
        base = "" if self.base is None else f"base {self.base:g}"
        return " ".join(part for part in (self.type or "", scale, base) if part)

    def identity(self) -> Mapping[str, object]:
        """The part of the setting that determines the answers; empty where the weights' own holds."""
        scaling = {"type": self.type, "scale": self.factor, "base": self.base}
        return {"rope": scaling} if self.type is not None or self.base is not None else {}
