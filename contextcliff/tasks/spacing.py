"""Evenly spaced lengths and depths, in place of lists of them."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Literal

from contextcliff.settings import Fraction, PositiveInt, settings


@settings
class LengthGrid:
    """`count` lengths in tokens from `min` to `max`; `log` spaces them by equal ratios. All null: not used."""

    min: PositiveInt | None = None
    max: PositiveInt | None = None
    count: PositiveInt | None = None
    spacing: Literal["linear", "log"] = "linear"

    def __post_init__(self) -> None:
        _require_whole("task.length_grid", self.min, self.max, self.count)

    def values(self) -> tuple[int, ...] | None:
        """The lengths, ascending; None where the grid is not used."""
        if self.min is None or self.max is None or self.count is None:
            return None
        low, high, at = self.min, self.max, _LENGTH_SPACINGS[self.spacing]
        return tuple(dict.fromkeys(round(at(low, high, share)) for share in _shares(self.count)))


@settings
class DepthGrid:
    """`count` depths from `min` to `max`; `sigmoid` sets them closer at both ends. All null: not used.

    The sigmoid is that of LLMTest_NeedleInAHaystack: 1 / (1 + e^(−10·(x − 0.5))), with 0 and 1 kept.
    """

    min: Fraction | None = None
    max: Fraction | None = None
    count: PositiveInt | None = None
    spacing: Literal["linear", "sigmoid"] = "linear"

    def __post_init__(self) -> None:
        _require_whole("task.depth_grid", self.min, self.max, self.count)

    def values(self) -> tuple[float, ...] | None:
        """The depths, ascending; None where the grid is not used."""
        if self.min is None or self.max is None or self.count is None:
            return None
        low, high, bend = self.min, self.max, _DEPTH_SPACINGS[self.spacing]
        return tuple(dict.fromkeys(round(bend(low + (high - low) * share), 4) for share in _shares(self.count)))


def _require_whole(key: str, low: float | None, high: float | None, count: int | None) -> None:
    given = {"min": low, "max": high, "count": count}
    missing = [f"{key}.{name}" for name, value in given.items() if value is None]
    if 0 < len(missing) < len(given):
        raise ValueError(f"{' and '.join(missing)}: missing; a grid needs min, max and count")
    if low is not None and high is not None and low > high:
        raise ValueError(f"{key}.min={low}: is above {key}.max={high}; exchange them")


def _shares(count: int) -> tuple[float, ...]:
    return (0.0,) if count == 1 else tuple(i / (count - 1) for i in range(count))


def _sigmoid(depth: float) -> float:
    return depth if depth in (0.0, 1.0) else 1.0 / (1.0 + math.exp(-10.0 * (depth - 0.5)))


_LENGTH_SPACINGS: Mapping[str, Callable[[float, float, float], float]] = {
    "linear": lambda low, high, share: low + (high - low) * share,
    "log": lambda low, high, share: low * (high / low) ** share,
}
_DEPTH_SPACINGS: Mapping[str, Callable[[float], float]] = {"linear": lambda depth: depth, "sigmoid": _sigmoid}
