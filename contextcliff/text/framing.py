"""What a chat template adds, where none is to be had."""

from __future__ import annotations

from collections.abc import Callable

from contextcliff.records import Prompt

TOKENS_A_MESSAGE = 4
"""Role and separators of a message in the common templates, and the same again for the answer's opening."""


def framed_tokens(prompt: Prompt, count: Callable[[str], int]) -> int:
    """Tokens of the messages by `count`, and a frame for each and for the answer."""
    messages = [part for part in (prompt.system, prompt.user) if part is not None]
    return sum(map(count, messages)) + TOKENS_A_MESSAGE * (len(messages) + 1)
