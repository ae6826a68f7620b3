"""Familiar words: those of a list, and their inflections."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib.resources import files

from contextcliff.errors import ConfigError
from contextcliff.seeding import digest_of
from contextcliff.writing.measures.prose_words import words_of

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
    """A list from its text: one word a line; blank lines and comments after `#` are ignored.

    Raises `ConfigError` for a list without words.
    """
    lines = (words_of(line.partition("#")[0]) for line in text.splitlines())
    words = frozenset(" ".join(line) for line in lines if line)
    if not words:
        raise ConfigError(f"word list {name}: no word in it; it takes one word a line")
    return WordList(name=name, words=words, digest=digest_of(*sorted(words)))


def unfamiliar_share(words: Sequence[str], word_list: WordList) -> float | None:
    """Share of English words that are not familiar; None without words."""
    if not words:
        return None
    return sum(not is_familiar(word, word_list.words) for word in words) / len(words)


def is_familiar(word: str, known: Collection[str]) -> bool:
    """Whether an English word, in lower case, is on a list by the rules of Dale and Chall (1948).

    These are familiar: numerals; plurals, possessives and contractions; every form of a listed verb, noun and adjective
    (`simplemma` knows the irregular ones); adverbs in -ly of a listed adjective; a hyphenated word with familiar parts.
    Dale and Chall count names of persons and places as familiar too. Here names are words like any other, as in
    Context-Tester: a capital does not distinguish a name at the beginning of a sentence, and the author's own windows
    have the same names.
    """
    if word in known or word[0].isdigit():
        return True
    return all(any(form in known for form in _forms(part)) for part in word.split("-"))


@lru_cache(maxsize=1 << 17)
def _forms(word: str) -> tuple[str, ...]:
    """Every form in which a word may be on the list."""
    from simplemma import lemmatize  # it loads its dictionaries

    # A model may write a contraction's end by itself: `did n't`.
    base = next((word.removesuffix(clitic) for clitic in _CLITICS if word.endswith(clitic) and word != clitic), word)
    forms = [word, base, lemmatize(base, lang="en").lower()]
    if base.endswith("ly"):
        forms += [base[:-2], base[:-1] + "e"]  # sad-ly, gent-ly
    if base.endswith("ily"):
        forms.append(base[:-3] + "y")  # happ-ily
    return tuple(dict.fromkeys(form for form in forms if form))
