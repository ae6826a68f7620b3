"""What the pieces of an answer say, in the forms in which servers send them, and the text that they make up."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from contextcliff.engines.openai.server_json import object_at, text_at

_FEWEST_GROWING = 3
"""Pieces that each begin with the one before: so many are no chance."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Piece:
    """What one event of a stream, or an answer in one piece, adds."""

    text: str = ""
    reasoning: str = ""
    finish_reason: str = ""
    is_message: bool = False
    """Whether it is a whole message and not what a stream adds to it."""


def chat_piece(choice: Mapping[str, object]) -> Piece:
    """The piece in a choice of `/chat/completions`."""
    finish_reason = _reason(choice.get("finish_reason"))
    piece = _spoken(object_at(choice, "delta"), finish_reason, is_message=False)
    if piece.text or piece.reasoning or "message" not in choice:
        return piece
    return _spoken(object_at(choice, "message"), finish_reason, is_message=True)


def completion_piece(choice: Mapping[str, object]) -> Piece:
    """The piece in a choice of `/completions`."""
    return Piece(text=text_at(choice, "text"), finish_reason=_reason(choice.get("finish_reason")))


def answer_of(pieces: Sequence[Piece]) -> Piece:
    """All pieces as one. A message counts only where the stream said nothing: it repeats what was said."""
    added, messages = ([piece for piece in pieces if piece.is_message is each] for each in (False, True))
    return Piece(
        text=_joined([piece.text for piece in added]) or _joined([piece.text for piece in messages]),
        reasoning=_joined([piece.reasoning for piece in added]) or _joined([piece.reasoning for piece in messages]),
        finish_reason=next((piece.finish_reason for piece in reversed(pieces) if piece.finish_reason), ""),
    )


def _joined(texts: Sequence[str]) -> str:
    """The texts as one, or the last where each is the text so far.

    Then each begins with all of the one before it. A model that repeats its own words ("ha", "ha") sends equal pieces,
    so that they do not grow.
    """
    said = [text for text in texts if text]
    if len(set(said)) >= _FEWEST_GROWING and all(later.startswith(earlier) for earlier, later in pairwise(said)):
        return said[-1]
    return "".join(said)


def _spoken(message: Mapping[str, object], finish_reason: str, *, is_message: bool) -> Piece:
    return Piece(
        text=text_at(message, "content"),
        reasoning=text_at(message, "reasoning_content") or text_at(message, "reasoning"),
        finish_reason=finish_reason,
        is_message=is_message,
    )


def _reason(value: object) -> str:
    return value if isinstance(value, str) else ""
