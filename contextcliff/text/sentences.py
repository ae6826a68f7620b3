"""Where sentences begin, so that a text starts and a needle goes in between two of them."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence


def sentence_starts(text: str, *, language: str = "en") -> tuple[int, ...]:
    """Character offsets at which sentences begin, ascending; the first is 0.

    Paragraph breaks are boundaries too. Splitting is `sentencex`'s (Wikimedia), which knows the
    abbreviations of the language, given as an ISO 639-1 code.
    """
    from sentencex import get_sentence_boundaries  # a compiled module: not for `--help`

    starts = [
        boundary["start_index"]
        for boundary in get_sentence_boundaries(language, text)
        if not boundary["is_paragraph_break"] and boundary["text"].strip()
    ]
    return tuple(dict.fromkeys([0, *starts]))


def nearest_start(starts: Sequence[int], target: int, *, before: int) -> int:
    """The sentence start closest to `target` among those before `before`; the earlier of two as close."""
    last = bisect_left(starts, before) - 1
    if last < 0:
        raise ValueError(f"no sentence starts before character {before}")
    right = min(bisect_left(starts, target), last)
    left = max(0, right - 1)
    return min(starts[left], starts[right], key=lambda start: (abs(start - target), start))
