"""Differences of paired scores, in the units that are independent of each other.

A pair is one question that two runs answered; its difference is the candidate's score minus the baseline's, −1 to 1.
Pairs that share a text or repeat a question are one *unit*: only units are independent.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property


@dataclass(frozen=True, kw_only=True, slots=True, order=True)
class Unit:
    """Pairs that depend on each other, or a single one."""

    total: float
    """Sum of the differences."""
    pairs: int = 1

    def __post_init__(self) -> None:
        if self.pairs < 1 or not abs(self.total) <= self.pairs * (1.0 + 1e-9):
            raise ValueError(f"{self.pairs} differences between -1 and 1 can't have the sum {self.total}")


@dataclass(frozen=True, kw_only=True)
class Units:
    """The units of one length, or of all lengths together. They are sorted: their order means nothing."""

    units: tuple[Unit, ...]

    @classmethod
    def of(cls, units: Iterable[Unit]) -> Units:
        return cls(units=tuple(sorted(units)))

    @classmethod
    def single(cls, differences: Iterable[float]) -> Units:
        """Independent pairs."""
        return cls.of(Unit(total=difference) for difference in differences)

    @cached_property
    def n_pairs(self) -> int:
        return sum(unit.pairs for unit in self.units)

    @cached_property
    def mean(self) -> float:
        """Mean difference of all pairs; it takes at least one."""
        return math.fsum(unit.total for unit in self.units) / self.n_pairs

    @cached_property
    def is_right_or_wrong(self) -> bool:
        """Whether every unit is one pair of right or wrong answers."""
        return all(unit.pairs == 1 and unit.total in (-1.0, 0.0, 1.0) for unit in self.units)

    @cached_property
    def worse(self) -> int:
        """Units in which the candidate scored lower."""
        return sum(unit.total < 0.0 for unit in self.units)

    @cached_property
    def better(self) -> int:
        """Units in which the candidate scored higher."""
        return sum(unit.total > 0.0 for unit in self.units)

    def mirrored(self) -> Units:
        """With the two runs in each other's place."""
        return Units.of(Unit(total=-unit.total, pairs=unit.pairs) for unit in self.units)
