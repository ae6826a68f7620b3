"""Token offsets from a server that only counts tokens."""

from __future__ import annotations

from collections.abc import Callable, Sequence


def counted_starts(text: str, count: Callable[[str], int]) -> Sequence[int]:
    """Character offset of every token of `text`, from the token counts of blocks of a line or two.

    Exact at the start of each block, and spread evenly inside it: off by a few tokens at most.
    """
    starts: list[int] = []
    for block in blocks(text):
        tokens = count(text[block])
        width = block.stop - block.start
        starts.extend(block.start + width * index // tokens for index in range(tokens))
    return starts


def blocks(text: str, *, characters: int = 160) -> Sequence[slice]:
    """Consecutive slices that cover `text`: up to `characters` each, ending before a blank where there is one.

    A blank goes with the word after it, as in the common vocabularies, so that the counts of the blocks add up to that
    of the text.
    """
    slices: list[slice] = []
    start = 0
    while start < len(text):
        end = min(len(text), start + characters)
        if end < len(text):
            blank = max(text.rfind(" ", start + 1, end), text.rfind("\n", start + 1, end))
            end = blank if blank > start else end
        slices.append(slice(start, end))
        start = end
    return slices
