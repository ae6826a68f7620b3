"""Prompts as chat messages, as plain text, and what a chat template adds where none is to be had."""

from __future__ import annotations

from collections.abc import Callable

from contextcliff.records.prompt import Prompt

TOKENS_A_MESSAGE = 4
"""Role and separators of a message in the common templates, and the same again for the answer's opening."""


def framed_tokens(prompt: Prompt, count: Callable[[str], int]) -> int:
    """Tokens of the messages by `count`, and a frame for each and for the answer."""
    messages = [part for part in (prompt.system, prompt.user) if part is not None]
    return sum(map(count, messages)) + TOKENS_A_MESSAGE * (len(messages) + 1)


def messages(prompt: Prompt) -> list[dict[str, str]]:
    """A prompt as chat messages."""
    system = [] if prompt.system is None else [{"role": "system", "content": prompt.system}]
    return [*system, {"role": "user", "content": prompt.user}]


def plain_text(prompt: Prompt) -> str:
    """A prompt as one text, for base models."""
    return prompt.user if prompt.system is None else f"{prompt.system}\n\n{prompt.user}"


def plain_tokens(prompt: Prompt, count: Callable[[str], int]) -> int:
    """Tokens of a prompt that goes as plain text."""
    return count(plain_text(prompt))
