"""How providers say that their filter stood in the model's way: neither the model nor the run is then to blame."""

from __future__ import annotations

import re

CONTENT_FILTER = "content_filter"
"""The kind of such a fault."""

_SAID = re.compile(
    r"content[ _-]?(?:filter|polic|management policy|moderation|violates)|content exists risk|inappropriate content"
    r"|data_?inspection|responsible ?ai|safety_check|prohibited_content|usage (?:guidelines|polic)"
    r"|requires moderation|flagged by|considered high risk|(?:unsafe|sensitive) (?:or sensitive )?content",
    re.I,
)
"""Azure and OpenAI; DeepSeek; Qwen; xAI, Gemini, Anthropic; OpenRouter; Moonshot; Z.ai."""
_REASONS = frozenset(
    "content_filter sensitive refusal safety recitation blocklist prohibited_content spii".split()  # noqa: SIM905
)
"""Finish reasons: OpenAI's and Z.ai's, Anthropic's, and Gemini's own, which it passes on in capitals."""


def says_filter(told: str) -> bool:
    """Whether a server's words of refusal name a filter of contents."""
    return _SAID.search(told) is not None


def is_filtered(finish_reason: str) -> bool:
    """Whether an answer ended because a filter stopped it."""
    return re.split(r"[^a-z_]", finish_reason.lower())[0] in _REASONS
