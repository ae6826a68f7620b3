"""How to recognise that a provider's content filter stopped a prompt or an answer: no fault of model or run."""

from __future__ import annotations

import re

CONTENT_FILTER = "content_filter"
"""The kind of `EngineFault` and the failure tag of what a filter stopped."""

_FILTER_WORDS = re.compile(
    r"content[ _-]?(?:filter|polic|management policy|moderation|violates)|content exists risk|inappropriate content"
    r"|data_?inspection|responsible ?ai|safety_check|prohibited_content|usage (?:guidelines|polic)"
    r"|requires moderation|flagged by|considered high risk|(?:unsafe|sensitive) (?:or sensitive )?content",
    re.I,
)
"""Azure and OpenAI; DeepSeek; Qwen; xAI, Gemini, Anthropic; OpenRouter; Moonshot; Z.ai."""
_FINISH_REASONS = frozenset(
    "content_filter sensitive refusal safety recitation blocklist prohibited_content spii".split()  # noqa: SIM905
)
"""OpenAI's and Z.ai's, Anthropic's, and Gemini's own, which come in capitals."""


def names_filter(message: str) -> bool:
    """Whether a server's error message says that a content filter refused the request."""
    return _FILTER_WORDS.search(message) is not None


def is_filtered(finish_reason: str) -> bool:
    """Whether the finish reason of an answer says that a content filter cut it off."""
    return re.split(r"[^a-z_]", finish_reason.lower())[0] in _FINISH_REASONS
