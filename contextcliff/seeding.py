"""Seeds and digests from coordinates, so that a sample never depends on the other samples of its run."""

from __future__ import annotations

import hashlib
import json


def digest_of(*coordinates: object) -> str:
    """SHA-256, in hex, of a list of JSON values; the same on every machine."""
    return hashlib.sha256(json.dumps(coordinates, ensure_ascii=False, sort_keys=True).encode()).hexdigest()


def seed_of(*coordinates: object) -> int:
    """A seed from coordinates such as task, length and trial: 31 bits and not negative, as every server accepts."""
    return int(digest_of(*coordinates)[:16], 16) % (1 << 31)
