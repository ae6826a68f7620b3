"""Words and sentences of prose: what every measure of a text counts."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from unicodedata import normalize

from contextcliff.text.sentences import sentence_starts
from contextcliff.text.words import combining_marks

UNSPACED = frozenset({"bo", "dz", "ja", "km", "lo", "my", "th", "wuu", "yue", "zh"})
"""Languages without spaces between words: their words are not counted."""

_PLAIN = str.maketrans(
    {"’": "'", "ʼ": "'", "＇": "'", "\u2010": "-", "\u2011": "-", "_": " ", "\u00ad": None, "\u200b": None}
)
"""Apostrophes and hyphens are made ASCII, underscores (Gutenberg's italics) spaces; invisible signs are removed."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Prose:
    """A text with its sentences and words; all words are those of its sentences, in order.

    Where the language sets no spaces between words, `words` and `words_per_sentence` are empty.
    """

    text: str
    language: str
    """Primary subtag of the language's tag: `en` for `en-GB`."""
    sentences: tuple[str, ...]
    words: tuple[str, ...]
    """In lower case, with straight apostrophes."""
    words_per_sentence: tuple[int, ...]


def primary(language: str) -> str:
    """The language of a tag without its region and script."""
    return language.replace("_", "-").partition("-")[0].lower()


def words_of(text: str) -> list[str]:
    """The words of a text, in lower case.

    A word is a run of letters, marks and digits with single apostrophes and hyphens inside it: `well-known` and `don't`
    are one word each. `--` and dashes separate words, and signs around a word (`go!`, `'go'`) do not belong to it. A
    number with its points and commas is one word.
    """
    return _word().findall(normalize("NFC", text).translate(_PLAIN).lower())


@cache
def _word() -> re.Pattern[str]:
    letters = rf"[\w{combining_marks()}]+"
    return re.compile(rf"\d+(?:[.,:]\d+)+|{letters}(?:['-]{letters})*")


def prose_of(text: str, *, language: str = "en") -> Prose:
    """The sentences and words of a text.

    `sentencex` splits the sentences: `Mr.` ends none, closing quotation marks belong to the sentence before them, and a
    sentence ends where its paragraph does. A stretch without letters (`* * *`, `1868`) is no sentence.
    """
    text = _whole(text)
    starts = sentence_starts(text, language=primary(language))
    bounds = [*starts, len(text)]
    stretches = (text[start:end].strip() for start, end in pairwise(bounds))
    sentences = tuple(stretch for stretch in stretches if any(map(str.isalpha, stretch.translate(_PLAIN))))
    spaced = primary(language) not in UNSPACED
    words = [words_of(sentence) for sentence in sentences] if spaced else []
    return Prose(
        text=text,
        language=primary(language),
        sentences=sentences,
        words=tuple(word for sentence in words for word in sentence),
        words_per_sentence=tuple(map(len, words)),
    )


def _whole(text: str) -> str:
    """The text with unpaired surrogates replaced: a model's answer can end inside a pair."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
