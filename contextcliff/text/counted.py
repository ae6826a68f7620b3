"""Token offsets from a server that only counts."""

from __future__ import annotations

from collections.abc import Callable, Sequence


def counted_starts(text: str, count: Callable[[str], int]) -> Sequence[int]:
    """Where tokens begin in `text`, asking only how many there are in blocks of a line or two.

    Exact at the beginnings of blocks, spread evenly inside them: off by a few tokens at most.
    """
    starts: list[int] = []
    for block in blocks(text):
        tokens = count(text[block])
        width = block.stop - block.start
        starts.extend(block.start + width * index // tokens for index in range(tokens))
    return starts


def blocks(text: str, *, characters: int = 160) -> Sequence[slice]:
    """Stretches of about so many characters that tile `text` and end before a blank where there is one.

    The blank stays with the word after it, as vocabularies have it: the counts of blocks add up to the whole's.
    """
    found: list[slice] = []
    start = 0
    while start < len(text):
        end = min(len(text), start + characters)
        if end < len(text):
            blank = max(text.rfind(" ", start + 1, end), text.rfind("\n", start + 1, end))
            end = blank if blank > start else end
        found.append(slice(start, end))
        start = end
    return found
