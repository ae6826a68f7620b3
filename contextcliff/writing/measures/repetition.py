"""Repetition in a text: of short phrases, over a distance, and as compression measures it."""

from __future__ import annotations

import zlib
from collections.abc import Sequence

LONG_RANGE = 100
"""Fewest words between a phrase and its repetition: more than in rhetorical repetition."""
_LONG_RANGE_NGRAM = 4
_LONG_RANGE_LEAST_WORDS = 150
_LEAST_WORDS = 3


def repetition_rate(words: Sequence[str], n: int) -> float | None:
    """Share of a text's n-grams that repeat an earlier one; None below 3 words."""
    if len(words) < max(n, _LEAST_WORDS):
        return None
    ngrams = _ngrams(words, n)
    return (len(ngrams) - len(set(ngrams))) / len(ngrams)


def long_range_repetition(words: Sequence[str]) -> float | None:
    """Share of the 4-grams from the 101st word on that began at least 100 words earlier too.

    The first 100 words cannot repeat anything that far back and are not counted. None below 150 words.
    """
    if len(words) < _LONG_RANGE_LEAST_WORDS:
        return None
    ngrams = _ngrams(words, _LONG_RANGE_NGRAM)
    first: dict[tuple[str, ...], int] = {}
    for place, ngram in enumerate(ngrams):
        first.setdefault(ngram, place)
    later = range(LONG_RANGE, len(ngrams))
    return sum(place - first[ngrams[place]] >= LONG_RANGE for place in later) / len(later)


def compression_ratio(text: str) -> float | None:
    """UTF-8 bytes of a text per byte of its zlib compression at level 9 (Shaib et al. 2024, arXiv:2403.00553).

    It grows with the length: compare texts of equal length only. None for an empty text.
    """
    data = text.encode(errors="replace")
    return len(data) / len(zlib.compress(data, 9)) if data else None


def _ngrams(words: Sequence[str], n: int) -> list[tuple[str, ...]]:
    return list(zip(*(words[start:] for start in range(n)), strict=False))
