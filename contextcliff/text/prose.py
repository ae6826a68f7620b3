"""The `synthetic` haystack: unlimited, seeded English prose that never repeats a sentence.

A chapter has a place, a season, a person with a trade, a friend and some neighbours; each of its paragraphs has one
topic. A sentence is a template whose slots are filled from stocks of words. A stock is used like a deck of cards: a
word returns only after all others of its stock. A sentence that has occurred before is drawn again."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache
from hashlib import blake2b
from importlib.resources import files
from itertools import cycle
from random import Random
from typing import Any, Final, TypeAlias

_SLOT: Final = re.compile(r"\{(\^?\w+)\}")
_ARTICLE_BEFORE_VOWEL: Final = re.compile(r"\b([Aa]) (?=[aeiou])(?!one\b|use)")
_PRONOUNS: Final = {
    "f": {"he": "she", "him": "her", "his": "her", "himself": "herself", "person_word": "woman"},
    "m": {"he": "he", "him": "him", "his": "his", "himself": "himself", "person_word": "man"},
}

# Failed draws of a kind of template before a template of the body is used in its place.
_MAX_MISSES: Final = 24

# Literal text and slot names alternate, literal first. A slot that starts with ^ gets a capital letter.
_Template: TypeAlias = tuple[str, ...]


def prose(*, seed: int, characters: int) -> str:
    """At least `characters` characters of English paragraphs separated by one blank line. A shorter text is a prefix of
    a longer one of the same seed, which is the same on every platform and Python version."""
    written: list[str] = []
    length = 0
    paragraphs = _Narrator(seed).paragraphs()
    while length < characters:
        written.append(" ".join(next(paragraphs)))
        length += len(written[-1]) + (2 if len(written) > 1 else 0)
    return "\n\n".join(written)


@cache
def stocks() -> Any:
    """The words and templates of `prose_stock.yaml`: `stock` by slot, the groups by member and slot."""
    import yaml  # type: ignore[import-untyped]

    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # a tenth of the time, where PyYAML was built with it
    text = files("contextcliff.text").joinpath("prose_stock.yaml").read_text(encoding="utf-8")
    return yaml.load(text, Loader=loader)  # noqa: S506 - both loaders are safe


@cache
def _templates(stock: str) -> tuple[_Template, ...]:
    entries = (entry.strip() for entry in re.split(r"[|\n]", stock))
    return tuple(tuple(_SLOT.split(entry)) for entry in entries if entry)


class _Deck:
    """Templates dealt in shuffled order, and shuffled again once all have been dealt."""

    __slots__ = ("_cards", "_left", "_random")

    def __init__(self, cards: Iterable[_Template], random: Callable[[], float]) -> None:
        self._cards = list(cards)
        self._left = 0
        self._random = random

    def deal(self) -> _Template:
        cards = self._cards
        if not self._left:
            self._left = len(cards)
        # One step of a Fisher-Yates shuffle: the dealt cards gather at the end.
        drawn = int(self._random() * self._left)
        self._left -= 1
        cards[drawn], cards[self._left] = cards[self._left], cards[drawn]
        return cards[self._left]


_Scope: TypeAlias = dict[str, "str | _Deck"]


def _fill(template: _Template, scope: _Scope) -> str:
    parts = list(template)
    for position in range(1, len(parts), 2):
        slot = parts[position].removeprefix("^")
        value = scope[slot]
        text = value if isinstance(value, str) else _fill(value.deal(), scope)
        parts[position] = text if slot == parts[position] else text[:1].upper() + text[1:]
    return "".join(parts)


class _Narrator:
    """Writes the text of one seed, in chapters of paragraphs of sentences, and remembers the sentences."""

    def __init__(self, seed: int) -> None:
        # Python promises stable results for `Random.random` alone. The digest gives -1 and 1 different seeds.
        self._random = Random(int.from_bytes(blake2b(str(seed).encode()).digest(), "big")).random
        self._digests: set[bytes] = set()
        self._common: _Scope = dict(self._decks(stocks()["stock"]))
        self._settings, self._seasons = self._group("settings"), self._group("seasons")
        self._day_parts, self._trades = self._group("day_parts"), self._group("trades")
        self._frames = self._group("paragraphs")
        self._order = {
            "setting": self._names(self._settings),
            "season": self._names(self._seasons),
            "trade": self._names(self._trades),
            "topic": self._names([topic for topic in self._frames if topic != "introduction"]),
        }

    def paragraphs(self) -> Iterator[list[str]]:
        day = cycle(self._day_parts.values())
        while True:
            chapter = self._chapter()
            topics = ["place", "introduction"]
            while len(topics) < 9 + int(self._random() * 6):
                topic = _fill(self._order["topic"].deal(), {})
                if topic not in topics:
                    topics.append(topic)
            for turn, topic in enumerate(topics):
                if turn % 3 == 0:
                    weather = self._seasons[str(chapter["season"])]["fair" if self._random() < 0.6 else "wet"]
                if turn % 2 == 0:
                    part = next(day)
                yield self._paragraph(topic, {**chapter, **part, "weather_now": weather})

    def _chapter(self) -> _Scope:
        draw = self._drawn
        trade = _fill(self._order["trade"].deal(), {})
        friend_trade = _fill(self._order["trade"].deal(), {})
        season = _fill(self._order["season"].deal(), {})
        gender, other = ("f", "m") if self._random() < 0.5 else ("m", "f")
        hero, friend = draw("given_" + gender), draw("given_" + other)
        return {
            **self._common,
            **self._settings[_fill(self._order["setting"].deal(), {})],
            **self._seasons[season],
            **self._trades[trade],
            **_PRONOUNS[gender],
            **{"f" + slot: word for slot, word in _PRONOUNS[other].items()},
            "season": season,
            "trade": trade,
            "friend_trade": friend_trade,
            "product_friend": self._trades[friend_trade]["product"],
            "room": stocks()["trades"][trade]["room"],
            "place": draw("place_name"),
            "near": draw("place_name"),
            "someone": self._names([draw("stranger") for _ in range(9)]),
            "elsewhere": self._names([draw("place_name") for _ in range(6)]),
            "hero": hero,
            "hero_full": f"{hero} {draw('surname')}",
            "friend": friend,
        }

    def _paragraph(self, topic: str, scope: _Scope) -> list[str]:
        gender = "f" if self._random() < 0.5 else "m"
        given = self._drawn("given_" + gender)
        scope |= {
            "who": f"{given} {self._drawn('surname')}",
            "dest": self._drawn("place_name"),
            "civic_here": self._drawn("civic"),
            "item": self._drawn("obj"),
        }
        if topic == "portrait":
            scope |= _PRONOUNS[gender]
        frames = self._frames[topic]
        used: set[_Template] = set()
        paragraph = [self._sentence(frames, "open", scope, used)]
        scope["who"] = given
        kind = "open"
        for _ in range(2 + int(self._random() * 4)):
            # A short sentence refers to the full one before it.
            kind = "short" if kind == "body" and self._random() < 0.35 else "body"
            paragraph.append(self._sentence(frames, kind, scope, used))
        if self._random() < 0.7:
            paragraph.append(self._sentence(frames, "close", scope, used))
        return paragraph

    def _sentence(self, frames: dict[str, _Deck], kind: str, scope: _Scope, used: set[_Template]) -> str:
        misses = 0
        while True:
            # A kind with few templates can run out; those of the body name new people in every chapter.
            frame = frames[kind if misses < _MAX_MISSES else "body"].deal()
            text = _fill(frame, scope)
            text = _ARTICLE_BEFORE_VOWEL.sub(r"\1n ", text[0].upper() + text[1:])
            digest = blake2b(text.encode(), digest_size=8).digest()
            # Two sentences can share a digest by chance: that only skips a sentence.
            if frame not in used and digest not in self._digests:
                used.add(frame)
                self._digests.add(digest)
                return text
            misses += 1

    def _drawn(self, stock: str) -> str:
        deck = self._common[stock]
        return deck if isinstance(deck, str) else _fill(deck.deal(), self._common)

    def _decks(self, slots: Mapping[str, str]) -> dict[str, _Deck]:
        return {name: _Deck(_templates(stock), self._random) for name, stock in slots.items()}

    def _group(self, name: str) -> dict[str, dict[str, _Deck]]:
        return {member: self._decks(slots) for member, slots in stocks()[name].items()}

    def _names(self, names: Iterable[str]) -> _Deck:
        return _Deck([(name,) for name in names], self._random)
