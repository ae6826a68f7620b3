"""What the pieces of an answer say, in the forms in which servers send them, and the text that they make up."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from pydantic_core import to_json

from contextcliff.engines.openai.faults import TOOL_CALLS
from contextcliff.engines.openai.server_json import list_at, object_at, text_at

_LONGEST_REASON = 100
_THOUGHT = re.compile("think|reason")
"""In the type of a part that is no part of the answer."""
_TEXTS_OF_PART = ("text", "thinking", "reasoning", "content", "refusal")
_FEWEST_GROWING = 3
"""Pieces that each begin with the one before: so many are no chance."""


@dataclass(frozen=True, kw_only=True, slots=True)
class AnswerPiece:
    """What one event of a stream, or an answer in one piece, adds."""

    text: str = ""
    reasoning: str = ""
    finish_reason: str = ""
    refused: bool = False
    """Whether the text came as a refusal."""
    calls_tools: bool = False
    is_message: bool = False
    """Whether it is a whole message and not what a stream adds to it."""


def chat_piece(choice: Mapping[str, object]) -> AnswerPiece:
    """The piece in a choice of `/chat/completions`."""
    finish_reason = _reason(choice.get("finish_reason"))
    piece = _spoken(object_at(choice, "delta"), finish_reason, is_message=False)
    if piece.text or piece.reasoning or piece.calls_tools or "message" not in choice:
        return piece
    return _spoken(object_at(choice, "message"), finish_reason, is_message=True)


def completion_piece(choice: Mapping[str, object]) -> AnswerPiece:
    """The piece in a choice of `/completions`."""
    return AnswerPiece(text=text_at(choice, "text"), finish_reason=_reason(choice.get("finish_reason")))


def answer_of(pieces: Sequence[AnswerPiece]) -> AnswerPiece:
    """All pieces as one. A message counts only where the stream said nothing: it repeats what was said."""
    added, messages = ([piece for piece in pieces if piece.is_message is each] for each in (False, True))
    text = _joined([piece.text for piece in added]) or _joined([piece.text for piece in messages])
    calls_tools = any(piece.calls_tools for piece in pieces)
    finish_reason = next((piece.finish_reason for piece in reversed(pieces) if piece.finish_reason), "")
    return AnswerPiece(
        text=text,
        reasoning=_joined([piece.reasoning for piece in added]) or _joined([piece.reasoning for piece in messages]),
        # Some servers say `stop` of an answer by tool calls too.
        finish_reason=TOOL_CALLS if calls_tools and not text.strip() else finish_reason,
        refused=any(piece.refused for piece in pieces),
        calls_tools=calls_tools,
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


def _spoken(message: Mapping[str, object], finish_reason: str, *, is_message: bool) -> AnswerPiece:
    content, refusal = message.get("content"), text_at(message, "refusal")
    parts = content if isinstance(content, list) else [content]
    thoughts, text_parts = ([part for part in parts if _is_thought(part) is each] for each in (True, False))
    text = _text_of(text_parts)
    return AnswerPiece(
        text=text or refusal,
        reasoning=_text_of(message.get("reasoning_content") or message.get("reasoning") or thoughts),
        finish_reason=finish_reason,
        refused=bool(refusal) or any(_kind(part) == "refusal" for part in parts),
        calls_tools=bool(list_at(message, "tool_calls") or object_at(message, "function_call")),
        is_message=is_message,
    )


def _kind(part: object) -> str:
    return text_at(part, "type") if isinstance(part, dict) else ""


def _is_thought(part: object) -> bool:
    return _THOUGHT.search(_kind(part)) is not None


def _text_of(content: object) -> str:
    """The text of a message's content: itself, or that of its parts."""
    match content:
        case str(text):
            return text
        case list(parts):
            return "".join(map(_text_of, parts))
        case dict(part):
            return next((text for name in _TEXTS_OF_PART if (text := _text_of(part.get(name)))), "")
    return ""


def _reason(value: object) -> str:
    """A finish reason as text; some servers send a number, or an object with a type."""
    match value:
        case str(text) | {"type": str(text)}:
            return text
    return to_json(value).decode()[:_LONGEST_REASON] if value else ""
