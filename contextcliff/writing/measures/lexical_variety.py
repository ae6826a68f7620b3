"""How many different words a text has, how evenly it uses them, and how much it repeats itself.

Repetition is that of short phrases, over a distance, and as compression measures it.
"""

from __future__ import annotations

import math
import zlib
from collections import Counter
from collections.abc import Iterable, Sequence

WINDOW = 100
MTLD_THRESHOLD = 0.72
MTLD_LEAST_WORDS = 50
"""In shorter texts the remainder of the last factor determines the result."""


def vocabulary_diversity(words: Sequence[str]) -> float | None:
    """Number of different words, as a share of all words (type-token ratio); None without words.

    It falls with a text's length: compare texts of equal length only.
    """
    return len(set(words)) / len(words) if words else None


def unique_word_ratio(words: Sequence[str], *, window: int = WINDOW) -> float | None:
    """Mean type-token ratio of all stretches of `window` words (Covington and McFall 2010); None for a shorter text."""
    if len(words) < window:
        return None
    counts = Counter(words[:window])
    types = total = len(counts)
    for leaving, entering in zip(words, words[window:], strict=False):
        counts[entering] += 1
        types += counts[entering] == 1
        counts[leaving] -= 1
        types -= counts[leaving] == 0
        total += types
    return total / (window * (len(words) - window + 1))


def entropy(units: Iterable[str]) -> float | None:
    """Shannon's entropy of the distribution of words or characters, in bits per unit; None without units."""
    counts = Counter(units).values()
    total = sum(counts)
    if not total:
        return None
    # Subtracted from 0.0, so that the entropy of a single repeated unit is 0.0 and not -0.0.
    return 0.0 - sum(count / total * math.log2(count / total) for count in counts)


def mtld(words: Sequence[str]) -> float | None:
    """Mean length in words of stretches that keep a type-token ratio of 0.72, read forwards and backwards.

    McCarthy and Jarvis (2010), Behavior Research Methods 42(2), 381-392. None below 50 words, and where
    no word repeats.
    """
    if len(words) < MTLD_LEAST_WORDS:
        return None
    forwards, backwards = _factors(words), _factors(words[::-1])
    if not forwards or not backwards:
        return None
    return (len(words) / forwards + len(words) / backwards) / 2


def _factors(words: Sequence[str]) -> float:
    """Number of stretches after which the ratio falls below the threshold, with the last, partial one as a fraction."""
    factors, seen, length = 0.0, set[str](), 0
    for word in words:
        seen.add(word)
        length += 1
        if len(seen) / length < MTLD_THRESHOLD:
            factors, length = factors + 1, 0
            seen.clear()
    if length:
        factors += (1 - len(seen) / length) / (1 - MTLD_THRESHOLD)
    return factors


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
