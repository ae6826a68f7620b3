"""How much of a text is copied word for word from its prompt, and how close it is to the original."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from contextcliff.text.words import common_subsequence_length
from contextcliff.writing.measures.prose_words import words_of

COPIED_RUN = 8
"""Words in a row from which on a run counts as copied: by chance an author repeats four or five of their own."""
_BITS = 32
"""Bits of a run's number; two numbers make a pair of 64 bits."""

Ranks = NDArray[np.int64]
"""The numbers of a text's runs of one length, by first word: shape (runs,); -1: the prompt has no such run."""


class PromptIndex:
    """An index of a prompt's words that finds runs of any length: exact, in time linear in the prompt for each length.

    Every run of 2^k words has a number, equal for equal runs, made of the numbers of its halves (Karp, Miller and
    Rosenberg 1972). A run of any other length is the pair of the runs of 2^k words that it begins and ends with.
    """

    def __init__(self, words: Sequence[str]) -> None:
        self._numbers: dict[str, int] = {}
        first = [self._numbers.setdefault(word, len(self._numbers)) for word in words]
        self._ranks: dict[int, Ranks] = {1: np.array(first, dtype=np.int64)}
        self._pairs: dict[int, Ranks] = {}

    def copied_runs(self, words: Sequence[str], run: int) -> NDArray[np.bool_]:
        """Whether each run of `run` words occurs in the prompt, by its first word: shape (runs,)."""
        length = 1
        mine = np.array([self._numbers.get(word, -1) for word in words], dtype=np.int64)
        while 2 * length <= run:
            mine = self._doubled(mine, length)
            length *= 2
        if length == run:
            return mine >= 0
        step = run - length
        wanted = _paired(mine, step)
        return _is_in(wanted, _paired(self._ranks_of(length), step)) & (wanted >= 0)

    def longest(self, words: Sequence[str]) -> int:
        """Words of the longest run that occurs in the prompt; 0 where no word does."""
        too_long = 1
        while too_long <= len(words) and self.copied_runs(words, too_long).any():
            too_long *= 2
        lengths = range(too_long // 2 + 1, min(too_long, len(words) + 1))
        return too_long // 2 + bisect_left(lengths, True, key=lambda run: not self.copied_runs(words, run).any())

    def _ranks_of(self, length: int) -> Ranks:
        if length not in self._ranks:
            pairs = _paired(self._ranks_of(length // 2), length // 2)
            self._pairs[length], self._ranks[length] = np.unique(pairs, return_inverse=True)
        return self._ranks[length]

    def _doubled(self, mine: Ranks, length: int) -> Ranks:
        """Numbers of a text's runs of `2 * length` words, from those of its runs of `length` words."""
        self._ranks_of(2 * length)
        known, pairs = self._pairs[2 * length], _paired(mine, length)
        if not len(known):
            return np.full(len(pairs), -1, dtype=np.int64)
        places = np.minimum(np.searchsorted(known, pairs), len(known) - 1)
        return np.where((pairs >= 0) & (known[places] == pairs), places, -1)


@lru_cache(maxsize=4)
def prompt_index(text: str) -> PromptIndex:
    """The index of a prompt's text, kept for further rounds with the same prompt."""
    return PromptIndex(words_of(text))


def copied_share(words: Sequence[str], index: PromptIndex) -> float | None:
    """Share of the words that lie in a run of at least 8 words that occurs in the prompt; None without words."""
    if not words:
        return None
    if len(words) < COPIED_RUN:
        return 0.0
    edges = np.zeros(len(words) + 1, dtype=np.int64)
    starts = np.flatnonzero(index.copied_runs(words, COPIED_RUN))
    np.add.at(edges, starts, 1)
    np.add.at(edges, starts + COPIED_RUN, -1)
    return float((np.cumsum(edges)[:-1] > 0).mean())


def rouge_l(words: Sequence[str], reference: Sequence[str]) -> float | None:
    """ROUGE-L F1: the harmonic mean of the longest common subsequence's share of both texts, 0-1 (Lin 2004).

    None where either text has no words.
    """
    if not words or not reference:
        return None
    return 2.0 * common_subsequence_length(words, reference) / (len(words) + len(reference))


def _paired(ranks: Ranks, step: int) -> Ranks:
    """Each pair of numbers `step` apart as one number, shape (runs - step,); -1 where either is unknown."""
    left, right = ranks[:-step], ranks[step:]
    return np.where((left >= 0) & (right >= 0), left << _BITS | right, -1)


def _is_in(wanted: Ranks, there: Ranks) -> NDArray[np.bool_]:
    """Whether each of `wanted` is in `there`: shape of `wanted`. Unlike `np.isin` it sorts the smaller array alone."""
    few = np.unique(wanted)
    if not len(few):
        return np.zeros(0, dtype=np.bool_)
    places = np.minimum(np.searchsorted(few, there), len(few) - 1)
    met = np.zeros(len(few), dtype=np.bool_)
    met[places[few[places] == there]] = True
    return met[np.searchsorted(few, wanted)]
