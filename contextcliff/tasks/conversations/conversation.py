"""Conversations of many turns that meet a length in tokens: some turns have their place, the others fill it up.

A turn asks for a piece of writing and has it. Turns stay whole, so the length is met by the choice of the last few: of
two dozen that were drawn, those whose lengths fit best. What a turn takes is estimated; the whole prompt is then
counted, and chosen again until it fits. So a conversation costs a handful of counts, whatever its length and wherever
tokens are counted.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate, combinations
from random import Random

from contextcliff.records.sample import Recipe, Turn, Words, render
from contextcliff.tasks.conversations.pieces import VARIANTS, Piece, all_pieces, piece_at
from contextcliff.tasks.grid import filled
from contextcliff.text.tokens import Tokenizer

_MEASURED = 24
"""Turns on which the estimate rests."""
_LARGER = 1.25
"""How much longer than all that were measured a turn may be."""


@lru_cache(maxsize=4096)
def turn_of(piece: Piece, request: str) -> Turn:
    """The request for a piece and the piece. One object for all conversations that have it."""
    return Turn(user=(Words(text=filled(request, piece=piece.named)),), assistant=(Words(text=piece.text()),))


def characters_of(turn: Turn) -> int:
    """Characters of both messages."""
    return sum(len(piece.text) for part in (turn.user, turn.assistant) for piece in part if isinstance(piece, Words))


def drawn_pieces(rng: Random, *, but: Piece | None = None, count: int) -> list[Piece]:
    """Different pieces in random order, none of the kind and topic of `but`; fewer than `count` where these are all."""
    indices = rng.sample(range(all_pieces()), min(all_pieces(), count + 2 * VARIANTS))
    drawn = (piece_at(index) for index in indices)
    return [piece for piece in drawn if but is None or piece.named != but.named][:count]


@dataclass(frozen=True, kw_only=True, slots=True)
class TurnEstimate:
    """Tokens of a turn by its characters: `frame` for the template around both messages, and the text."""

    frame: float
    tokens_per_character: float
    mean: float
    """Tokens of a turn."""
    largest: int
    """Tokens that hardly any turn exceeds."""
    largest_reply: int
    """Tokens that hardly any piece by itself exceeds."""

    def tokens(self, turn: Turn) -> float:
        """Of one turn."""
        return self.frame + self.tokens_per_character * characters_of(turn)


def estimated(tokenizer: Tokenizer, request: str) -> TurnEstimate:
    """Count three conversations: without turns, of the shortest possible turns, and of some that stand for all."""
    pieces = drawn_pieces(Random(0), count=_MEASURED)
    turns = tuple(turn_of(piece, request) for piece in pieces)
    tiny = Turn(user=(Words(text="Go."),), assistant=(Words(text="Yes."),))

    def each(some: tuple[Turn, ...]) -> float:
        return (count(tokenizer, Recipe(user=question, turns=some)) - alone) / len(some)

    question = (Words(text="Which?"),)
    alone = count(tokenizer, Recipe(user=question))
    mean, least = each(turns), each((tiny,) * len(turns))
    characters = [characters_of(turn) for turn in turns]
    mean_characters = sum(characters) / len(characters)
    rate = (mean - least) / (mean_characters - characters_of(tiny))
    frame = mean - rate * mean_characters
    return TurnEstimate(
        frame=frame,
        tokens_per_character=rate,
        mean=mean,
        largest=round(_LARGER * (frame + rate * max(characters))),
        largest_reply=round(_LARGER * rate * max(len(piece.text()) for piece in pieces)),
    )


def count(tokenizer: Tokenizer, recipe: Recipe) -> int:
    """Tokens of a conversation without documents."""
    return tokenizer.count_prompt(render(recipe, {}))


_SPARE = 24
"""Turns of which the last few are chosen."""
_FILLED_LAST = 3.4
"""Tokens that the last few take, in turns of mean length: two or three of them fit."""
_MORE = 1.25
"""Turns drawn, to those of mean length that would fit."""
_CLOSE_TOKENS = 8
_ATTEMPTS = 16


@dataclass(frozen=True, kw_only=True, slots=True)
class Placed:
    """The turns that have their place, in their order; the one numbered `anchor` stands at `depth`."""

    turns: tuple[Turn, ...]
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
    """Where the anchor came to stand; 0 without one."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Conversing:
    """Builds conversations of one request's turns."""

    tokenizer: Tokenizer
    request: str
    estimate: TurnEstimate

    def build(
        self, placed: Placed, *, question: str, context_tokens: int, rng: Random, but: Piece | None
    ) -> Conversation:
        """The conversation of a length around these turns; other turns of any kind and topic but that of `but`.

        The length is below `context_tokens` by at most 16 tokens or 1%, unless `placed` leaves less room than three
        turns of mean length.
        """
        asked = (Words(text=question),)
        alone = count(self.tokenizer, Recipe(user=asked))
        room = context_tokens - alone - sum(map(self.estimate.tokens, placed.turns))
        enough = 2 * _SPARE + round(_MORE * max(0.0, room) / self.estimate.mean)
        pieces = drawn_pieces(rng, but=but, count=enough)
        drawn = [turn_of(piece, self.request) for piece in pieces]
        order = rng.random()
        best: Conversation | None = None
        for _ in range(_ATTEMPTS):
            chosen = self._chosen(drawn, room)
            whole = self._arranged(placed, chosen, question=asked, alone=alone, rng=Random(order))
            left = context_tokens - whole.tokens
            if left >= 0 and (best is None or whole.tokens > best.tokens):
                best = whole
            if 0 <= left <= _CLOSE_TOKENS:
                break
            room = sum(map(self.estimate.tokens, chosen)) + left
        while best is None:  # the estimate misleads: shorter by as much as it takes
            room -= self.estimate.mean / 4
            whole = self._arranged(placed, self._chosen(drawn, room), question=asked, alone=alone, rng=Random(order))
            best = whole if whole.tokens <= context_tokens or room < 0 else None
        return best

    def _chosen(self, drawn: Sequence[Turn], room: float) -> list[Turn]:
        """The first of the turns drawn, and those two or three of the next ones that fill the room best."""
        chosen: list[Turn] = []
        for turn in drawn:
            if room <= _FILLED_LAST * self.estimate.mean:
                break
            chosen.append(turn)
            room -= self.estimate.tokens(turn)
        spare = drawn[len(chosen) : len(chosen) + _SPARE]
        tokens = [self.estimate.tokens(turn) for turn in spare]
        fitting = (
            each
            for size in (1, 2, 3)
            for each in zip(map(sum, combinations(tokens, size)), combinations(range(len(spare)), size), strict=True)
        )
        _, last = max((each for each in fitting if each[0] <= room), default=(0.0, ()))
        return [*chosen, *(spare[place] for place in last)]

    def _arranged(
        self, placed: Placed, others: Sequence[Turn], *, question: tuple[Words, ...], alone: int, rng: Random
    ) -> Conversation:
        """The other turns in random order, with the anchor at its depth, what is before it before, the rest after."""
        shuffled = rng.sample(others, len(others))
        split = self._split(placed, shuffled)
        before = _mixed(placed.turns[: placed.anchor], shuffled[:split], rng)
        anchor = placed.turns[placed.anchor : placed.anchor + 1]
        after = _mixed(placed.turns[placed.anchor + 1 :], shuffled[split:], rng)
        turns = (*before, *anchor, *after)
        recipe = Recipe(turns=turns, user=question)
        tokens = count(self.tokenizer, recipe)
        estimates = [self.estimate.tokens(turn) for turn in turns]
        scale = (tokens - alone) / sum(estimates) if estimates else 1.0
        starts = [scale * start for start in accumulate(estimates[:-1], initial=0.0)] if turns else []
        names = {id(turn) for turn in placed.turns}
        places = tuple(round(start) for start, turn in zip(starts, turns, strict=True) if id(turn) in names)
        depth = starts[len(before)] / max(1.0, tokens - alone - scale * estimates[len(before)]) if anchor else 0.0
        return Conversation(recipe=recipe, tokens=tokens, places=places, depth=depth)

    def _split(self, placed: Placed, others: Sequence[Turn]) -> int:
        """How many of the other turns come before the anchor."""
        before = sum(map(self.estimate.tokens, placed.turns[: placed.anchor]))
        rest = [turn for place, turn in enumerate(placed.turns) if place != placed.anchor]
        wanted = placed.depth * sum(map(self.estimate.tokens, (*others, *rest)))
        misses = [abs(wanted - before)]
        for turn in others:
            before += self.estimate.tokens(turn)
            misses.append(abs(wanted - before))
        return misses.index(min(misses))


def _mixed(some: Sequence[Turn], others: Sequence[Turn], rng: Random) -> list[Turn]:
    """Both, each in its own order, at random places."""
    total = len(some) + len(others)
    places = set(rng.sample(range(total), len(some)))
    firsts, seconds = iter(some), iter(others)
    return [next(firsts) if place in places else next(seconds) for place in range(total)]
