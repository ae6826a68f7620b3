"""A turn that asks for a piece of writing and has it, and what it takes in tokens.

Estimated from its characters, on a few counted conversations: counting every turn would take a request to the server
each.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from random import Random

from contextcliff.records.sample import Recipe, Turn, Words, render
from contextcliff.tasks.conversations.pieces import VARIANTS, Piece, all_pieces, piece_at
from contextcliff.tasks.needles.niah import filled
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
