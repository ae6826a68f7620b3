"""The size that a prompt is built in: as large as its budget in tokens allows."""

from __future__ import annotations

from collections.abc import Callable

from contextcliff.errors import ConfigError

_GUESSES = 16
"""Sizes tried by proportion; from then on the step is doubled, or the range halved."""


def too_short(context_tokens: int, needed: int, *, lower: str = "") -> ConfigError:
    """The error of a length that the shortest prompt exceeds; `lower` are keys that make it shorter."""
    return ConfigError(
        f"task.lengths: {context_tokens:,} is too short: the shortest prompt of this task takes {needed:,} tokens, "
        f"template and question included; ask for longer ones{lower and f', or lower {lower}'}"
    )


def fit(tokens_of: Callable[[int], int], budget: int, *, least: int, most: int, near: int = 0, lower: str = "") -> int:
    """The largest size from `least` to `most` that takes at most `budget` tokens.

    A smaller one is enough where it leaves no more than `near` tokens. Interpolates, since each count of a long prompt
    costs. Raises `ConfigError` where `least` takes more; `lower` is as in `too_short`.
    """
    low, low_tokens = least, tokens_of(least)
    if low_tokens > budget:
        raise too_short(budget, low_tokens, lower=lower)
    high, high_tokens = most + 1, 0  # 0: no size is known to be too large
    tried = 0
    while low < high - 1 and budget - low_tokens > near:
        left = budget - low_tokens
        if not high_tokens:
            step = low * left // low_tokens if tried < _GUESSES else 1 << tried
        else:
            step = int((high - low) / (high_tokens - low_tokens) * left) if tried < _GUESSES else (high - low) // 2
        size = min(high - 1, low + max(1, step))
        tokens = tokens_of(size)
        if tokens <= budget:
            low, low_tokens = size, tokens
        else:
            high, high_tokens = size, tokens
        tried += 1
    return low
