"""When two lengths that were asked for are one: the window's own length leaves no room for the answer."""

from __future__ import annotations

_SHARE = 15 / 16


def same_length(shorter: int, longer: int) -> bool:
    """Whether the shorter is the longer but for a sixteenth: 131,072 tokens are 127,800 in a window of 128,000."""
    return shorter >= _SHARE * longer
