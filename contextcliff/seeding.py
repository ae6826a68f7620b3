"""Seeds from coordinates: what a sample is made of never depends on which others are in the run."""

from __future__ import annotations

import hashlib
import json

_SEED_BITS = 31


def digest_of(*coordinates: object) -> str:
    """SHA-256, in hex, of a list of JSON values."""
    return hashlib.sha256(json.dumps(coordinates, ensure_ascii=False, sort_keys=True).encode()).hexdigest()


def seed_of(*coordinates: object) -> int:
    """A non-negative 31-bit seed (every server takes it) from coordinates such as task, length, trial."""
    return int(digest_of(*coordinates)[:16], 16) % (1 << _SEED_BITS)
