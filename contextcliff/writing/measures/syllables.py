"""Syllables of English words."""

from __future__ import annotations

import re
from functools import cache, lru_cache
from typing import Any

_SPELLED = {"mr": 2, "mrs": 2, "dr": 2}
"""Titles, which have no vowel to count."""
_NEGATION = re.compile(r"[^\Waeiou]n't$")
"""Contractions with a syllable of their own: did-n't and was-n't, but not don't."""
_HIATUS = re.compile(r"(?:[aeoy]|(?<![gq])u)ing$")
"""Two vowels in two syllables: do-ing and cry-ing, but not intrigu-ing."""
_BREAK = "\u00ad"


@lru_cache(maxsize=1 << 17)
def syllables(word: str) -> int:
    """Syllables of an English word in lower case; at least 1.

    By `syllabreak`'s rules, and three of the project's own for what it joins: `n't` after a consonant, -ing after a
    vowel, titles. Compared with CMUdict over the 186,000 words of *Little Women* that it has, 1.9% of words are
    miscounted, and the mean is 1.319 where 1.317 is right. Without the project's rules these are 2.9% and 1.309;
    `syllapy` has 3.8% and 1.318, `pyphen` 5.4% and 1.260.
    """
    return sum(_of_part(part) for part in word.split("-"))


def _of_part(part: str) -> int:
    if part in _SPELLED:
        return _SPELLED[part]
    broken = _breaker().syllabify(part, lang="eng").count(_BREAK) + 1
    return int(broken + bool(_NEGATION.search(part)) + bool(_HIATUS.search(part)))


@cache
def _breaker() -> Any:
    from syllabreak import Syllabreak  # it reads its rules

    return Syllabreak(_BREAK)
