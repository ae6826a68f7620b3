"""How hard a text is to read. English only: the formula, the word lists and the syllable rules are for English."""

from __future__ import annotations

import math
import re
from collections.abc import Collection
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib.resources import files
from typing import Any

from contextcliff.errors import ConfigError
from contextcliff.seeding import digest_of
from contextcliff.writing.measures.drift import is_function_word
from contextcliff.writing.measures.words import Prose, words_of

_CLITICS = ("n't", "'s", "'ll", "'d", "'ve", "'re", "'m")


@dataclass(frozen=True, kw_only=True, slots=True)
class WordList:
    """Familiar words, in lower case. `digest` distinguishes lists of the same name."""

    name: str
    words: frozenset[str]
    digest: str


@cache
def dale_chall() -> WordList:
    """The list of Dale and Chall: 2,941 words, as textstat (MIT licence) distributes them."""
    listed = files("contextcliff.writing").joinpath("word_lists", "dale_chall.txt")
    return word_list_of(listed.read_text(encoding="utf-8"), "dale-chall")


def word_list_of(text: str, name: str) -> WordList:
    """A list of one word a line; comments follow `#`. Raises `ConfigError` for a list without words."""
    lines = (words_of(line.partition("#")[0]) for line in text.splitlines())
    words = frozenset(" ".join(line) for line in lines if line)
    if not words:
        raise ConfigError(f"word list {name}: no word in it; it takes one word a line")
    return WordList(name=name, words=words, digest=digest_of(*sorted(words)))


def is_familiar(word: str, known: Collection[str]) -> bool:
    """Whether an English word, in lower case, is on a list by the rules of Dale and Chall (1948).

    Familiar are numerals, every form of a listed word, and a hyphenated word with familiar parts. Names are words like
    any other, unlike theirs: the author's own windows have the same names."""
    if word in known or word[0].isdigit():
        return True
    return all(any(form in known for form in _forms(part)) for part in word.split("-"))


@lru_cache(maxsize=1 << 17)
def _forms(word: str) -> tuple[str, ...]:
    from simplemma import lemmatize  # it loads its dictionaries

    # A model may write a contraction's end by itself: `did n't`.
    base = next((word.removesuffix(clitic) for clitic in _CLITICS if word.endswith(clitic) and word != clitic), word)
    forms = [word, base, lemmatize(base, lang="en").lower()]
    if base.endswith("ly"):
        forms += [base[:-2], base[:-1] + "e"]  # sad-ly, gent-ly
    if base.endswith("ily"):
        forms.append(base[:-3] + "y")  # happ-ily
    return tuple(dict.fromkeys(form for form in forms if form))


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

    By `syllabreak`'s rules, and three for what it joins. Of the words of *Little Women* that CMUdict has 1.9% are
    miscounted (without the three 2.9%, by `syllapy` 3.8%, by `pyphen` 5.4%)."""
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


_LONG = 6
_LEVELS = {
    **{10: "16+", 16: "13-15", 22: "11-12", 28: "9-10", 34: "7-8", 40: "5-6"},
    **{45: "4", 50: "3", 54: "2", 58: "1"},
}
"""Lowest cloze score of each level (Chall and Dale 1995)."""


def cloze_score(unfamiliar: float, words_per_sentence: float) -> float:
    """Percentage of blanks that readers would fill in, by the new Dale-Chall formula (1995)."""
    return 64.0 - 95.0 * unfamiliar - 0.69 * words_per_sentence


def reading_level(cloze: float) -> str:
    """School year of a cloze score by Chall and Dale's table, from `1` to `16+`; outside of it the nearest level."""
    # The table is in whole points. A score between two levels belongs to the easier one, as in Context-Tester.
    return next((level for least, level in reversed(_LEVELS.items()) if math.ceil(cloze) >= least), _LEVELS[10])


def readability(prose: Prose, word_list: WordList) -> dict[str, float | None]:
    """Cloze score, unfamiliar words, syllables and function words of an English text; empty for other languages."""
    if prose.language != "en" or not prose.words:
        return {}
    n = len(prose.words)
    unfamiliar = sum(not is_familiar(word, word_list.words) for word in prose.words) / n
    return {
        "cloze_score": cloze_score(unfamiliar, n / len(prose.sentences)),
        "pct_unfamiliar_words": unfamiliar,
        "avg_syllables_per_word": sum(map(syllables, prose.words)) / n,
        "function_word_ratio": sum(map(is_function_word, prose.words)) / n,
    }


def word_lengths(prose: Prose) -> dict[str, float | None]:
    """Mean word length and the share of words of more than six letters; apostrophes and hyphens are no letters."""
    if not prose.words:
        return {}
    letters = [len(word) - word.count("'") - word.count("-") for word in prose.words]
    return {
        "avg_word_length": sum(letters) / len(letters),
        "long_word_ratio": sum(length > _LONG for length in letters) / len(letters),
    }
