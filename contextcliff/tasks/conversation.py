"""Conversations of many turns that meet a length in tokens: some turns have their place, the others fill it up.

A turn asks for a short piece of writing and has it. Pieces are made by a grammar from this project's own words
(`mrcr_pieces.json`): a kind has openings, closings and a family of lines with slots, whose words are a deck. Turns stay
whole, so the length is met by the choice of the last few. What a turn takes is estimated; the whole prompt is then
counted, and chosen again until it fits: a handful of counts, whatever the length."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib.resources import files
from itertools import accumulate, combinations, cycle
from random import Random
from typing import Any, Self

from contextcliff.records.sample import Recipe, Turn, Words, render
from contextcliff.seeding import seed_of
from contextcliff.tasks.grid import filled
from contextcliff.text.tokens import Tokenizer

VARIANTS = 64
_SLOT = re.compile(r"\{(\w+)\}")
_BEFORE_VOWEL = re.compile(r"\b([Aa]) (?=[aeiou])")


@dataclass(frozen=True, kw_only=True, slots=True)
class Piece:
    """A piece by what it is, and not yet by its words."""

    kind: str
    topic: str
    variant: int

    @property
    def named(self) -> str:
        return f"{self.kind} about {self.topic}"

    def text(self) -> str:
        stock = _stock()
        form, rng = stock["kinds"][self.kind], Random(seed_of("piece", self.kind, self.topic, self.variant))
        body = rng.sample(stock["families"][form["family"]], rng.randint(form["fewest"], form["most"]))
        lines = [rng.choice(form["opening"]), *body, rng.choice(form["closing"])]
        decks = {slot: cycle(rng.sample(words, len(words))) for slot, words in stock["words"].items()}
        decks["topic"] = cycle([self.topic])
        return str(form["join"]).join(_filled(line, decks) for line in lines)


def piece_at(index: int) -> Piece:
    stock = _stock()
    rest, variant = divmod(index, VARIANTS)
    kind, topic = divmod(rest, len(stock["topics"]))
    return Piece(kind=[*stock["kinds"]][kind], topic=stock["topics"][topic], variant=variant)


def all_pieces() -> int:
    return len(_stock()["kinds"]) * len(_stock()["topics"]) * VARIANTS


def _drawn(rng: Random, count: int, *, but: str = "") -> list[Piece]:
    indices = rng.sample(range(all_pieces()), min(all_pieces(), count + 2 * VARIANTS))
    return [piece for piece in map(piece_at, indices) if piece.named != but][:count]


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
def _stock() -> dict[str, Any]:
    text = files("contextcliff.tasks").joinpath("mrcr_pieces.json").read_text(encoding="utf-8")
    stock: dict[str, Any] = json.loads(text)
    return stock | {"kinds": {form["kind"]: form for form in stock["kinds"]}}


_MEASURED = 24
_LARGER, _MORE = 1.25, 1.25
"""How much longer than all that were measured a turn may be; turns drawn, to those of mean length that would fit."""
_SPARE, _FILLED_LAST = 24, 3.4
"""Turns of which the last few are chosen, and the tokens that these take, in turns of mean length: two or three fit."""
_CLOSE_TOKENS = 8
_ATTEMPTS = 16


@lru_cache(maxsize=4096)
def turn_of(piece: Piece, request: str) -> Turn:
    """The request for a piece and the piece. One object for all conversations that have it."""
    return Turn(user=(Words(text=filled(request, piece=piece.named)),), assistant=(Words(text=piece.text()),))


def _characters(turn: Turn) -> int:
    return sum(len(piece.text) for part in (turn.user, turn.assistant) for piece in part if isinstance(piece, Words))


def count(tokenizer: Tokenizer, recipe: Recipe) -> int:
    return tokenizer.count_prompt(render(recipe, {}))


@dataclass(frozen=True, kw_only=True, slots=True)
class Placed:
    """The last message, and the turns that have their place, in their order; the one numbered `anchor` at `depth`."""

    question: str
    turns: tuple[Turn, ...] = ()
    anchor: int = 0
    depth: float = 0.0
    """Share of the other turns' tokens that come before it; as near as whole turns allow."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Conversation:
    """A whole conversation, its length, and the tokens before each of the turns that have their place."""

    recipe: Recipe
    tokens: int
    places: tuple[int, ...]
    depth: float


@dataclass(frozen=True, kw_only=True, slots=True)
class Conversing:
    """Builds conversations of one request's turns. A turn's tokens are estimated by its characters: `frame` for the
    template around both messages, and the text."""

    tokenizer: Tokenizer
    request: str
    frame: float
    tokens_per_character: float
    mean: float
    largest: int
    largest_reply: int

    @classmethod
    def of(cls, tokenizer: Tokenizer, request: str) -> Self:
        """Count three conversations: without turns, of the shortest possible turns, and of some that stand for all."""
        pieces = _drawn(Random(0), _MEASURED)
        turns = tuple(turn_of(piece, request) for piece in pieces)
        tiny = Turn(user=(Words(text="Go."),), assistant=(Words(text="Yes."),))
        question = (Words(text="Which?"),)
        alone, those, least = (
            count(tokenizer, Recipe(user=question, turns=some)) for some in ((), turns, (tiny,) * len(turns))
        )
        mean, shortest = (those - alone) / len(turns), (least - alone) / len(turns)
        characters = [_characters(turn) for turn in turns]
        mean_characters = sum(characters) / len(characters)
        rate = (mean - shortest) / (mean_characters - _characters(tiny))
        frame = mean - rate * mean_characters
        return cls(
            tokenizer=tokenizer,
            request=request,
            frame=frame,
            tokens_per_character=rate,
            mean=mean,
            largest=round(_LARGER * (frame + rate * max(characters))),
            largest_reply=round(_LARGER * rate * max(len(piece.text()) for piece in pieces)),
        )

    def tokens(self, *turns: Turn) -> float:
        return sum(self.frame + self.tokens_per_character * _characters(turn) for turn in turns)

    def build(self, placed: Placed, context_tokens: int, rng: Random, *, but: Piece) -> Conversation:
        """The conversation of a length around these turns; other turns of any kind and topic but that of `but`.

        The length is below `context_tokens` by at most 16 tokens or 1%, unless `placed` leaves less room than three
        turns of mean length."""
        alone = count(self.tokenizer, Recipe(user=(Words(text=placed.question),)))
        room = context_tokens - alone - self.tokens(*placed.turns)
        enough = 2 * _SPARE + round(_MORE * max(0.0, room) / self.mean)
        drawn = [turn_of(piece, self.request) for piece in _drawn(rng, enough, but=but.named)]
        order = rng.random()
        best: Conversation | None = None
        for _ in range(_ATTEMPTS):
            chosen = self._chosen(drawn, room)
            whole = self._arranged(placed, chosen, alone, Random(order))
            left = context_tokens - whole.tokens
            if left >= 0 and (best is None or whole.tokens > best.tokens):
                best = whole
            if 0 <= left <= _CLOSE_TOKENS:
                break
            room = self.tokens(*chosen) + left
        while best is None:  # the estimate misleads: shorter by as much as it takes
            room -= self.mean / 4
            whole = self._arranged(placed, self._chosen(drawn, room), alone, Random(order))
            best = whole if whole.tokens <= context_tokens or room < 0 else None
        return best

    def _chosen(self, drawn: Sequence[Turn], room: float) -> list[Turn]:
        chosen: list[Turn] = []
        for turn in drawn:
            if room <= _FILLED_LAST * self.mean:
                break
            chosen.append(turn)
            room -= self.tokens(turn)
        spare = drawn[len(chosen) : len(chosen) + _SPARE]
        tokens = [self.tokens(turn) for turn in spare]
        fitting = (
            each
            for size in (1, 2, 3)
            for each in zip(map(sum, combinations(tokens, size)), combinations(range(len(spare)), size), strict=True)
        )
        _, last = max((each for each in fitting if each[0] <= room), default=(0.0, ()))
        return [*chosen, *(spare[place] for place in last)]

    def _arranged(self, placed: Placed, others: Sequence[Turn], alone: int, rng: Random) -> Conversation:
        shuffled = rng.sample(others, len(others))
        split = self._split(placed, shuffled)
        before = _mixed(placed.turns[: placed.anchor], shuffled[:split], rng)
        anchor = placed.turns[placed.anchor : placed.anchor + 1]
        after = _mixed(placed.turns[placed.anchor + 1 :], shuffled[split:], rng)
        turns = (*before, *anchor, *after)
        recipe = Recipe(turns=turns, user=(Words(text=placed.question),))
        tokens = count(self.tokenizer, recipe)
        estimates = [self.tokens(turn) for turn in turns]
        scale = (tokens - alone) / sum(estimates) if estimates else 1.0
        starts = [scale * start for start in accumulate(estimates[:-1], initial=0.0)] if turns else []
        names = {id(turn) for turn in placed.turns}
        places = tuple(round(start) for start, turn in zip(starts, turns, strict=True) if id(turn) in names)
        depth = starts[len(before)] / max(1.0, tokens - alone - scale * estimates[len(before)]) if anchor else 0.0
        return Conversation(recipe=recipe, tokens=tokens, places=places, depth=depth)

    def _split(self, placed: Placed, others: Sequence[Turn]) -> int:
        rest = [turn for place, turn in enumerate(placed.turns) if place != placed.anchor]
        wanted, first = placed.depth * self.tokens(*others, *rest), self.tokens(*placed.turns[: placed.anchor])
        before = accumulate((self.tokens(turn) for turn in others), initial=first)
        misses = [abs(wanted - tokens) for tokens in before]
        return misses.index(min(misses))


def _mixed(some: Sequence[Turn], others: Sequence[Turn], rng: Random) -> list[Turn]:
    total = len(some) + len(others)
    places = set(rng.sample(range(total), len(some)))
    firsts, seconds = iter(some), iter(others)
    return [next(firsts) if place in places else next(seconds) for place in range(total)]
