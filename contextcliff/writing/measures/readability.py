"""How hard a text is to read. English only: the formula, the word lists and the syllable rules are for English."""

from __future__ import annotations

from bisect import bisect_right

from contextcliff.writing.measures.familiar import WordList, unfamiliar_share
from contextcliff.writing.measures.function_words import is_function_word
from contextcliff.writing.measures.prose_words import Prose
from contextcliff.writing.measures.syllables import syllables

_LONG = 6
_LEVELS = (
    (10, "16+"),
    (16, "13-15"),
    (22, "11-12"),
    (28, "9-10"),
    (34, "7-8"),
    (40, "5-6"),
    (45, "4"),
    (50, "3"),
    (54, "2"),
    (58, "1"),
)
"""Lowest cloze score of each level (Chall and Dale 1995)."""


def cloze_score(unfamiliar: float, words_per_sentence: float) -> float:
    """Percentage of blanks that readers would fill in: 64 - 95·unfamiliar - 0.69·length. Higher is easier.

    The new Dale-Chall formula (Chall and Dale, *Readability Revisited*, 1995). Not clamped: values below 10
    still differ between texts.
    """
    return 64.0 - 95.0 * unfamiliar - 0.69 * words_per_sentence


def reading_level(cloze: float) -> str:
    """School year of a cloze score by Chall and Dale's table, from `1` to `16+`; outside of it the nearest level."""
    places = [least for least, _ in _LEVELS]
    # The table is in whole points. A score between two levels belongs to the easier one, as in Context-Tester.
    return _LEVELS[max(0, bisect_right(places, _rounded_up(cloze)) - 1)][1]


def _rounded_up(score: float) -> int:
    return -int(-score // 1)


def readability(prose: Prose, word_list: WordList) -> dict[str, float | None]:
    """Cloze score, unfamiliar words, syllables and function words of an English text; empty for other languages."""
    if prose.language != "en" or not prose.words:
        return {}
    unfamiliar = unfamiliar_share(prose.words, word_list)
    assert unfamiliar is not None
    n = len(prose.words)
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
