"""Prompts as chat messages and as plain text, and an estimate of the tokens that a chat template adds."""

from __future__ import annotations

from collections.abc import Callable

from contextcliff.records.sample import Prompt

_TOKENS_PER_MESSAGE = 4
"""Role and separators of a message in the common templates; the start of the answer takes as many."""


def framed_tokens(prompt: Prompt, count: Callable[[str], int]) -> int:
    """Tokens of the messages by `count`, plus an estimate for the template around each of them and the answer."""
    messages = [part for part in (prompt.system, prompt.user) if part is not None]
    return sum(map(count, messages)) + _TOKENS_PER_MESSAGE * (len(messages) + 1)


def messages(prompt: Prompt) -> list[dict[str, str]]:
    """A prompt as chat messages."""
    system = [] if prompt.system is None else [{"role": "system", "content": prompt.system}]
    return [*system, {"role": "user", "content": prompt.user}]


def plain_text(prompt: Prompt) -> str:
    """A prompt as one text, for base models."""
    return prompt.user if prompt.system is None else f"{prompt.system}\n\n{prompt.user}"


def plain_tokens(prompt: Prompt, count: Callable[[str], int]) -> int:
    """Tokens of a prompt that is sent as plain text."""
    return count(plain_text(prompt))
