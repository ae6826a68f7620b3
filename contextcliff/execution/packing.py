"""The store's rows in few bytes: digests as bytes, and JSON deflated with what such objects have in common.

A sample takes some 600 characters as JSON, of which a hundred are its own; a digest in hex takes twice its bytes.
"""

from __future__ import annotations

import sqlite3
import zlib

_Stored = str | bytes | int | float | None
_HEX_DIGITS = 64
_MOST_BYTES = 256 << 20
"""Of a row, unpacked: a few bytes from somewhere else may unpack to any size."""
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
"""What deflating begins with. Part of the layout: every packed row needs it as it is, to the last character."""


def packed_digest(digest: str) -> bytes | str:
    """A SHA-256 in hex as its bytes; another key as it is."""
    if len(digest) == _HEX_DIGITS:
        try:
            data = bytes.fromhex(digest)
        except ValueError:
            return digest
        if data.hex() == digest:  # else hex in capitals, or with blanks
            return data
    return digest


def digest_of_packed(packed: object) -> str:
    """What was packed. Raises `ValueError` for what is neither bytes nor a text."""
    if isinstance(packed, bytes):
        return packed.hex()
    if isinstance(packed, str):
        return packed
    raise ValueError("a digest is something else")


def packed_json(text: str) -> bytes:
    """JSON, deflated with a checksum."""
    deflating = zlib.compressobj(zdict=_COMMON)
    return deflating.compress(text.encode()) + deflating.flush()


def json_of_packed(packed: object) -> str:
    """What was packed. Raises `ValueError` or `zlib.error` for what was not, and for what is too large for a row."""
    if not isinstance(packed, bytes):
        raise ValueError("a packed row is something else")
    inflating = zlib.decompressobj(zdict=_COMMON)
    data = inflating.decompress(packed, _MOST_BYTES)
    if not inflating.eof:
        raise ValueError("a packed row is too long, or ends early")
    return data.decode()


def packed_planned(key: str, prompt_sha256: str, sample: str) -> tuple[bytes | str, bytes | str, bytes]:
    """The columns of a planned sample: its key, the digest of its prompt, and the sample as JSON."""
    return packed_digest(key), packed_digest(prompt_sha256), packed_json(sample)


def planned_of_packed(key: object, prompt_sha256: object, sample: object) -> tuple[str, str, str]:
    """The same three as they were packed. Raises what `digest_of_packed` and `json_of_packed` raise."""
    return digest_of_packed(key), digest_of_packed(prompt_sha256), json_of_packed(sample)


def teach(connection: sqlite3.Connection) -> None:
    """Give a connection the SQL functions `packed_digest`, `packed_json` and `json_of_packed`.

    They leave what they can't read as it is: a damaged row is found by who reads it.
    """
    connection.create_function("packed_digest", 1, _packed_digest, deterministic=True)
    connection.create_function("packed_json", 1, _packed_json, deterministic=True)
    connection.create_function("json_of_packed", 1, _json_of_packed, deterministic=True)


def _packed_digest(value: _Stored) -> _Stored:
    return packed_digest(value) if isinstance(value, str) else value


def _packed_json(value: _Stored) -> _Stored:
    return packed_json(value) if isinstance(value, str) else value


def _json_of_packed(value: _Stored) -> _Stored:
    try:
        return json_of_packed(value)
    except (ValueError, zlib.error):
        return value
