"""The true mean score of a simulated model, by prompt length. It never rises with the length."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Protocol

_PER_OCTAVE = 40.0
"""Steepness of a cliff: it falls from a tenth above its foot to a tenth below its top within 0.11 octaves."""


class TrueScore(Protocol):
    """The true mean score at each length, and where it crosses the threshold."""

    @property
    def crossing(self) -> float | None:
        """The first length in tokens at which the mean is not above the threshold; 0: at every one, None: at none."""
        ...

    def at(self, tokens: float) -> float:
        """The true mean score of prompts of this length."""
        ...


@dataclass(frozen=True, kw_only=True, slots=True)
class FlatScore:
    """The same at every length."""

    mean: float
    threshold: float

    @property
    def crossing(self) -> float | None:
        return None if self.mean > self.threshold else 0.0

    def at(self, tokens: float) -> float:  # noqa: ARG002 - the same at every length
        return self.mean


@dataclass(frozen=True, kw_only=True, slots=True)
class CliffScore:
    """A logistic fall over a tenth of an octave, with exactly the threshold at `crossing`."""

    high: float
    low: float
    threshold: float
    crossing: float

    def at(self, tokens: float) -> float:
        odds = (self.high - self.threshold) / (self.threshold - self.low)
        exponent = min(_PER_OCTAVE * math.log2(tokens / self.crossing), 700.0)
        return self.low + (self.high - self.low) / (1.0 + odds * math.exp(exponent))


@dataclass(frozen=True, kw_only=True, slots=True)
class SlopeScore:
    """A straight fall over `octaves` octaves of length, with exactly the threshold at `crossing`."""

    high: float
    low: float
    threshold: float
    crossing: float
    octaves: float

    def at(self, tokens: float) -> float:
        fallen = (self.high - self.low) / self.octaves * math.log2(tokens / self.crossing)
        return min(self.high, max(self.low, self.threshold - fallen))


@dataclass(frozen=True, kw_only=True, slots=True)
class SteppedScore:
    """`high` before `crossing`, exactly the threshold from there on, and `low` from `foot` on."""

    high: float
    low: float
    threshold: float
    crossing: float
    foot: float | None = None
    """None: the threshold at every length from `crossing` on."""

    def at(self, tokens: float) -> float:
        if tokens < self.crossing:
            return self.high
        return self.threshold if self.foot is None or tokens < self.foot else self.low
