"""Separates what a model thinks from what it answers."""

from __future__ import annotations

import re
from dataclasses import dataclass

_THINK = re.compile(r"\s*<think(?:ing)?>(.*?)(?:</think(?:ing)?>|\Z)", re.DOTALL | re.IGNORECASE)
_CLOSED_ONLY = re.compile(r"\A(.*?)</think(?:ing)?>", re.DOTALL | re.IGNORECASE)


@dataclass(frozen=True, kw_only=True, slots=True)
class Reply:
    """An answer and the reasoning before it."""

    answer: str
    reasoning: str


def split_reasoning(text: str, *, reasoning: str = "") -> Reply:
    """Cut `<think>` blocks off the start of an answer; `reasoning` is what the server sent in a field of its own.

    A block that never closes is all reasoning: the model ran out of tokens while it thought. A chat template that
    opens the block in the prompt leaves only its end tag in the answer. A later block is part of the answer.
    """
    thoughts = [reasoning] if reasoning else []
    rest = text
    while (block := _THINK.match(rest)) is not None:
        thoughts.append(block[1].strip())
        rest = rest[block.end() :]
    if not thoughts and (closed := _CLOSED_ONLY.match(rest)) is not None:
        thoughts.append(closed[1].strip())
        rest = rest[closed.end() :]
    return Reply(answer=rest.lstrip() if thoughts else rest, reasoning="\n".join(filter(None, thoughts)))
