"""How many different words a text has, and how evenly it uses them."""

from __future__ import annotations

import math
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
