"""How the scores of simulated samples vary about their true mean.

A score is a whole number of `parts`: 0 or 1 of one part where answers are right or wrong, 0 to 20 of twenty where they
are graded. A draw has the shape (runs, blocks, places): a place is a depth, or a sample of a shared text.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

Parts = NDArray[np.uint8]
Shape = tuple[int, int, int]


class ScoreDraw(Protocol):
    """A distribution of scores in [0, 1] with a given mean."""

    @property
    def parts(self) -> int:
        """The highest score, in parts."""
        ...

    def draw(self, rng: np.random.Generator, mean: float, shape: Shape) -> Parts:
        """Scores in parts; their mean over a block is `mean` times `parts` on average."""
        ...


@dataclass(frozen=True, kw_only=True, slots=True)
class RightOrWrong:
    """Independent 0/1 scores, equally often right at every depth."""

    parts: int = 1

    def draw(self, rng: np.random.Generator, mean: float, shape: Shape) -> Parts:
        return (rng.random(shape) < mean).astype(np.uint8)


@dataclass(frozen=True, kw_only=True, slots=True)
class OneDepthLow:
    """Independent 0/1 scores; the middle depth has a true score of `low`, and the others make up the mean."""

    low: float
    parts: int = 1

    def draw(self, rng: np.random.Generator, mean: float, shape: Shape) -> Parts:
        places = shape[-1]
        rates = np.full(places, (places * mean - self.low) / (places - 1))
        rates[places // 2] = self.low
        return (rng.random(shape) < rates).astype(np.uint8)


@dataclass(frozen=True, kw_only=True, slots=True)
class HopelessDepths:
    """0/1 scores; the first depths are always right and the last never, with one between that makes up the mean."""

    parts: int = 1

    def draw(self, rng: np.random.Generator, mean: float, shape: Shape) -> Parts:
        places = shape[-1]
        rates = np.asarray(np.clip(places * mean - np.arange(places), 0.0, 1.0))
        return (rng.random(shape) < rates).astype(np.uint8)


@dataclass(frozen=True, kw_only=True, slots=True)
class SharedTexts:
    """0/1 scores whose samples of a block share a text. The true score of a text is drawn from a beta distribution."""

    correlation: float
    """Intra-class correlation: the variance between texts as a share of the whole."""
    parts: int = 1

    def draw(self, rng: np.random.Generator, mean: float, shape: Shape) -> Parts:
        runs, blocks, _ = shape
        if self.correlation == 0.0:
            return (rng.random(shape) < mean).astype(np.uint8)
        weight = (1.0 - self.correlation) / self.correlation
        rates = np.asarray(rng.beta(weight * mean, weight * (1.0 - mean), (runs, blocks, 1)))
        return (rng.random(shape) < rates).astype(np.uint8)


@dataclass(frozen=True, kw_only=True, slots=True)
class Graded:
    """Graded scores: the share of `parts` parts that are right, by a beta distribution of this weight (a + b)."""

    weight: float
    parts: int = 20

    def draw(self, rng: np.random.Generator, mean: float, shape: Shape) -> Parts:
        rates = rng.beta(self.weight * mean, self.weight * (1.0 - mean), shape)
        right: Parts = rng.binomial(self.parts, rates).astype(np.uint8)
        return right
