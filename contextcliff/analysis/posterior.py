"""A working guess of how a model's score falls with length. It chooses what is asked and decides nothing.

A few thousand curves, each a logistic fall in the logarithm of the length, are weighted by how well they explain the
scores so far. Wrong curves cost samples and no validity: bets are tested whatever chose them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import lru_cache
from itertools import product

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

TOPS = (0.03, 0.15, 0.3, 0.45, 0.6, 0.7, 0.8, 0.87, 0.93, 0.97, 0.995)
"""Scores of short prompts."""
FLOORS = (0.03, 0.4, 0.75)
"""What is left of them behind the fall."""
WIDTHS = {0.03: 2.0, 0.15: 1.0, 1.0: 1.0, 3.0: 1.0}
"""Octaves in which four fifths of the fall happen, and how likely they are to each other. Steep falls are the more
likely: with as many slopes a search leaves a cliff's bracket too early, since a score between seems no better."""
PER_OCTAVE, PER_OCTAVE_INSIDE = 6, 24
"""Crossings, in all and inside a bracket."""
BEFORE, BEYOND, FAR = 1.0, 1.0, 3.0
"""Octaves before the shortest length and beyond the longest in which the fall may lie, and how many more of them there
are in which it hardly shows: all of these are one place."""
_STEEPNESS = 2.0 * math.log(9.0)
_DIGITS = 9
"""Of a mean that bets follow: the last bits of another machine's arithmetic then change no bet."""


class Curves:
    """The curves for a range of lengths: their prior weights, and their scores at any length."""

    def __init__(self, shortest: int, longest: int, inside: tuple[int, int] | None) -> None:
        crossings, octaves = _crossings(shortest, longest, inside)
        parts = np.array(list(product(TOPS, FLOORS, WIDTHS, range(len(crossings)))))
        self._tops, self._widths = parts[:, 0], parts[:, 2]
        self._floors = parts[:, 1] * self._tops
        place = parts[:, 3].astype(np.intp)
        self._places = crossings[place]
        weights = octaves[place] * [WIDTHS[width] for width in self._widths]
        self.log_prior: Array = np.log(weights / weights.sum())
        self._at: dict[int, tuple[Array, Array, Array]] = {}
        self._good: tuple[tuple[tuple[int, ...], float], Array, Array] | None = None

    def at(self, length: int) -> tuple[Array, Array, Array]:
        """The score of each curve at a length, and the logs of it and of its complement."""
        if length not in self._at:
            exponent = np.clip(_STEEPNESS * (math.log2(length) - self._places) / self._widths, -50.0, 50.0)
            scores = self._floors + (self._tops - self._floors) / (1.0 + np.exp(exponent))
            self._at[length] = scores, np.log(scores), np.log1p(-scores)
        return self._at[length]

    def good(self, lengths: tuple[int, ...], above: float) -> tuple[Array, Array]:
        """Whether each curve is above this at a length, as 1 or 0, and its score where it is; by length and curve."""
        if self._good is None or self._good[0] != (lengths, above):
            scores = np.stack([self.at(length)[0] for length in lengths])
            is_good = (scores > above).astype(np.float64)
            self._good = (lengths, above), is_good, is_good * scores
        return self._good[1:]


def _crossings(shortest: int, longest: int, inside: tuple[int, int] | None) -> tuple[Array, Array]:
    """Where curves fall, as logarithms, and how many octaves each place stands for."""
    first, last = math.log2(shortest) - BEFORE, math.log2(longest) + BEYOND
    places = first + (np.arange(round((last - first) * PER_OCTAVE)) + 0.5) / PER_OCTAVE
    octaves = np.full(len(places), 1.0 / PER_OCTAVE)
    places, octaves = np.append(places, last + FAR), np.append(octaves, FAR)
    if inside is None:
        return places, octaves
    low, high = map(math.log2, inside)
    n = max(1, round((high - low) * PER_OCTAVE_INSIDE))
    fine = low + (np.arange(n) + 0.5) * (high - low) / n
    outside = (places < low) | (places > high)
    return np.append(places[outside], fine), np.append(octaves[outside], np.full(n, (high - low) / n))


@lru_cache(maxsize=16)
def curves_of(shortest: int, longest: int, inside: tuple[int, int] | None = None) -> Curves:
    """The curves for these lengths, with more of them that fall `inside` a bracket; kept, since they take a while."""
    return Curves(shortest, longest, inside)


class Posterior:
    """Weights of curves after some scores. It does not change: `after` gives another."""

    __slots__ = ("_log_weights", "_weights", "curves", "seen")

    def __init__(self, curves: Curves, seen: Mapping[int, tuple[float, float]], log_weights: Array) -> None:
        self.curves = curves
        self.seen = seen
        """By length, the sum of the scores and how many there were."""
        self._log_weights = log_weights
        weights = np.exp(log_weights - log_weights.max())
        self._weights: Array = weights / weights.sum()

    @classmethod
    def of(cls, curves: Curves, seen: Mapping[int, tuple[float, float]]) -> Posterior:
        """What these scores say of these curves."""
        logs = curves.log_prior
        for length, (total, n) in seen.items():
            logs = logs + _log_likelihood(curves, length, total, n)
        return cls(curves, seen, logs)

    def after(self, length: int, score: float) -> Posterior:
        """What is known after one more score."""
        total, n = self.seen.get(length, (0.0, 0.0))
        logs = self._log_weights + _log_likelihood(self.curves, length, score, 1.0)
        return Posterior(self.curves, {**self.seen, length: (total + score, n + 1.0)}, logs)

    # Sums of products, and no `@`: threads of a linear algebra library wait for each other on a busy machine.

    def mean(self, length: int) -> float:
        """The score to expect at a length."""
        return round(float((self.curves.at(length)[0] * self._weights).sum()), _DIGITS)

    def good(self, lengths: tuple[int, ...], above: float) -> list[tuple[float, float]]:
        """The chance that the mean at each length is above this, and the mean to expect if it is (this if never)."""
        chances, totals = (np.einsum("lc,c->l", each, self._weights) for each in self.curves.good(lengths, above))
        means = np.divide(totals, chances, out=np.full(len(lengths), above), where=chances > 0.0)
        return list(zip(chances.round(_DIGITS).tolist(), means.round(_DIGITS).tolist(), strict=True))


def _log_likelihood(curves: Curves, length: int, total: float, n: float) -> Array:
    _, right, wrong = curves.at(length)
    if n == 1.0 and total in (0.0, 1.0):
        return right if total else wrong
    return total * right + (n - total) * wrong
