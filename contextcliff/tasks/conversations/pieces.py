"""Short pieces of writing: a poem about lanterns, a notice about eels, each as often as it is asked for.

Made by a grammar from this project's own words (`pieces.json`): a kind has openings, closings and a family of lines,
and every line has slots. A slot's words are a deck that is shuffled for each piece, so that none comes again before
all have. Two pieces of one kind about one topic have the same form and other lines and words.
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from itertools import cycle

from contextcliff.seeding import seed_of

VARIANTS = 64
"""Pieces of one kind about one topic."""
_SLOT = re.compile(r"\{(\w+)\}")
_BEFORE_VOWEL = re.compile(r"\b([Aa]) (?=[aeiou])")


@dataclass(frozen=True, kw_only=True, slots=True)
class Piece:
    """A piece by what it is, and not yet by its words."""

    kind: str
    topic: str
    variant: int
    """Of those of its kind and topic, from 0."""

    @property
    def named(self) -> str:
        """As it is asked for: `poem about lanterns`."""
        return f"{self.kind} about {self.topic}"

    def text(self) -> str:
        """Its words, the same on every machine."""
        return _written(self.kind, self.topic, self.variant)


def piece_at(index: int) -> Piece:
    """One of all pieces, by a number below `all_pieces()`."""
    stock = _stock()
    rest, variant = divmod(index, VARIANTS)
    kind, topic = divmod(rest, len(stock.topics))
    return Piece(kind=[*stock.kinds][kind], topic=stock.topics[topic], variant=variant)


def all_pieces() -> int:
    """How many different pieces there are."""
    return len(_stock().kinds) * len(_stock().topics) * VARIANTS


@dataclass(frozen=True, kw_only=True, slots=True)
class _Form:
    kind: str
    family: str
    join: str
    fewest: int
    most: int
    opening: list[str]
    closing: list[str]


@dataclass(frozen=True, kw_only=True, slots=True)
class _Stock:
    kinds: dict[str, _Form]
    families: dict[str, list[str]]
    topics: list[str]
    words: dict[str, list[str]]


def _written(kind: str, topic: str, variant: int) -> str:
    stock = _stock()
    form, rng = stock.kinds[kind], random.Random(seed_of("piece", kind, topic, variant))
    body = rng.sample(stock.families[form.family], rng.randint(form.fewest, form.most))
    lines = [rng.choice(form.opening), *body, rng.choice(form.closing)]
    decks = {slot: _deck(words, rng) for slot, words in stock.words.items()} | {"topic": cycle([topic])}
    return form.join.join(_filled(line, decks) for line in lines)


def _deck(words: Sequence[str], rng: random.Random) -> Iterator[str]:
    return cycle(rng.sample(words, len(words)))


def _filled(line: str, decks: Mapping[str, Iterator[str]]) -> str:
    """The line with a word in each slot; `{Name}` gets a capital letter, `{NAME}` capitals throughout."""

    def word(match: re.Match[str]) -> str:
        slot = match[1]
        drawn = next(decks[slot.lower()])
        if slot.isupper():
            return drawn.upper()
        return f"{drawn[0].upper()}{drawn[1:]}" if slot[0].isupper() else drawn

    return _BEFORE_VOWEL.sub(r"\1n ", _SLOT.sub(word, line))


@cache
def _stock() -> _Stock:
    text = files("contextcliff.tasks.conversations").joinpath("pieces.json").read_text(encoding="utf-8")
    stock = json.loads(text)
    forms = (_Form(**form) for form in stock.pop("kinds"))
    return _Stock(kinds={form.kind: form for form in forms}, **stock)
