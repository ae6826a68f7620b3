"""How far the author's own passages lie from their author: the composites that a healthy text stays within.

Each of the author's windows is judged as a continuation is, by the norms of the other windows: judged by norms that it
is part of, it would look closer than a new passage by the same hand does.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache

import numpy as np

from contextcliff.writing.author_norms import SHORTEST, measures_at, norms_of, step_of, z_scores
from contextcliff.writing.measures.readability import WordList
from contextcliff.writing.passage import composed, parts_of

PERCENTILE = 0.99
"""Share of the author's own passages that are within the limit."""
_ENOUGH = 200
"""Windows from which on no further length is added: by so many the share of new passages within their 99th percentile
is 99% give or take one percent."""

Parts = tuple[float, ...]
"""The part of each family of measures in one window's composite, 0-1."""


@lru_cache(maxsize=1024)
def author_parts(text: str, language: str, word_list: WordList, characters: int) -> tuple[Parts, ...]:
    """The parts of the composites of the author's windows of about `characters` characters.

    Windows of the two lengths next to it, at which norms are measured, and of shorter ones, a factor of √2 apart, until
    they are 200. Empty where the text has too few windows of any length.
    """
    longest = math.floor(step_of(characters)) + 1
    shortest = math.floor(step_of(SHORTEST))
    parts: list[Parts] = []
    for step in range(longest, shortest - 1, -1):
        if len(parts) >= _ENOUGH:
            break
        parts += _parts_at(text, language, word_list, step)
    return tuple(parts)


@lru_cache(maxsize=1024)
def author_limit(text: str, language: str, word_list: WordList, characters: int) -> float | None:
    """The 99th percentile of the composite over the author's own passages of this length, without coherence.

    None where the text has too few windows.
    """
    return limit_of([composed(parts) for parts in author_parts(text, language, word_list, characters)])


def limit_with_coherence(parts: Sequence[Parts], coherence: Sequence[Mapping[str, float]]) -> float | None:
    """The same with coherence, which is measured of fewer windows (`coherence`, the measures of each).

    Taken over all pairs of a window of the one kind and one of the other, as if the two had nothing to do with each
    other. None where either has too few windows.
    """
    own = [part for window in _left_out(coherence) for part in window]
    return limit_of([composed([*window, part]) for window in parts for part in own])


def limit_of(composites: Sequence[float]) -> float | None:
    """The 99th percentile of composites, as an estimate for new passages; None without any.

    The quantile at p (n + 1), within which a new value lies with 99% on average (E. J. Gumbel); the largest composite
    where there are fewer than 99.
    """
    return float(np.quantile(composites, PERCENTILE, method="weibull")) if composites else None


@lru_cache(maxsize=64)
def _parts_at(text: str, language: str, word_list: WordList, step: int) -> tuple[Parts, ...]:
    return tuple(_left_out(measures_at(text, language, word_list, step)))


def _left_out(windows: Sequence[Mapping[str, float]]) -> Iterator[Parts]:
    """The parts of each window by the norms of the others; windows without any are left out."""
    for place, window in enumerate(windows):
        parts = parts_of(z_scores(window, norms_of([*windows[:place], *windows[place + 1 :]])))
        if parts:
            yield tuple(parts.values())
