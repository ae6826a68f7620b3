"""What to do about a fault, by its kind: the one place that says so."""

from __future__ import annotations

from collections.abc import Mapping

from contextcliff.engines.openai.content_filter import CONTENT_FILTER

_REMEDIES: Mapping[str, str] = {
    "timeout": "raise engine.timeout_s, or ask for shorter prompts",
    "connect": "is the server up, and is engine.base_url its address?",
    "broken_stream": "look at the server's log, and at what stands between that may cut answers off",
    "rate_limit": "lower engine.concurrency, or set engine.requests_per_minute",
    "server_error": "look at the server's log and its memory, or ask for shorter prompts",
    "oom": "give the server more memory, or ask for shorter prompts",
    "overflow": "ask for shorter prompts, or start the server with a longer window",
    "truncated": "ask for shorter prompts, or start the server with a longer context",
    "too_large": "lower sampling.max_tokens",
    "bad_request": "look at the server's log, and at what is sent beside the prompt: sampling, model.extra_body",
    CONTENT_FILTER: "take other texts (dataset.path), or a provider that lets these pass",
}


def way_out(kind: str) -> str:
    """What a user can do about a fault of this kind."""
    return _REMEDIES.get(kind, "look at the server's log")
