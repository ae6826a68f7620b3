"""Rows of layout 2 of the store, which had JSON deflated with what such objects have in common."""

from __future__ import annotations

import zlib

MOST_BYTES = 256 << 20
"""Of a row: a few bytes from somewhere else may unpack to any size."""
_COMMON = (
    b'"control":"ceiling","control":"floor","controls":["","pilot":true,"cluster":"","item":"","repeat":1,"bin":3,'
    b'"answer_tokens":48,"system":"","turns":[{"user":[{"text":""}],"assistant":[{"text":"","kind":"summary",'
    b'"kind":"choice","choices":["","evidence":[{"start":12,"end":34},"distractors":["","reply":"",'
    b'"metadata":{"evidence_distance_tokens":1024,"hops":4,"level":2,"topic":""},"reasoning_tokens":64,'
    b'"server_counted":false,"streamed":false,"attention_entropy":[0.5,"reasoning":""'
    b'{"text":"","finish_reason":"length","prompt_tokens":4093,"completion_tokens":48,"cached_tokens":0,'
    b'"ttft_ms":255.25,"latency_ms":295.25,"served_model":"simulated:'
    b'{"text":"","finish_reason":"stop","prompt_tokens":1021,"completion_tokens":4,"cached_tokens":null,'
    b'"ttft_ms":,"latency_ms":,"served_model":"SmolLM2-135M-Instruct"}'
    b'{"sample_id":"niah-001024-d0.250-t19-","task":"niah","context_tokens":1024,"built_tokens":1021,"depth":0.25,'
    b'"trial":19,"document_id":"story","question":"What is the special magic  number?","answers":["266"],'
    b'"recipe":{"user":[{"text":"Read the text below. One sentence in it tells a special magic number; '
    b'remember it.\\n\\n"},{"document_id":"story","start":10,"end":20},'
    b'{"text":"The special magic  number is: 4030729. "},'
    b'{"document_id":"story","start":1089,"end":2668},{"text":"\\n\\nWhat is the special magic  number? '
    b'Answer with the number only."}]},"seed":1807576939,"block":2}'
)
"""What deflating began with: every packed row needs it as it is, to the last character."""


def unpacked(data: bytes) -> str | bytes:
    """The text that was packed; what was not packed, or is too large for a row, as it is."""
    inflating = zlib.decompressobj(zdict=_COMMON)
    try:
        text = inflating.decompress(data, MOST_BYTES).decode()
    except (zlib.error, ValueError):
        return data
    return text if inflating.eof else data
