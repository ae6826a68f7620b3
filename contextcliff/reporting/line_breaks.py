"""Lines of a text with full-width characters, which may break between any two of them."""

from __future__ import annotations

import re
from collections.abc import Iterator

from rich.cells import cell_len

_NOT_FIRST = "、。，．・：；？！ー～）」』】"
_NOT_LAST = "（「『【"
_PIECE = re.compile(rf" +|[{_NOT_LAST}]*(?:[^ -~–—]|[!-~–—]+)[{_NOT_FIRST}]*")
"""Spaces; or a full-width character, or a run of half-width ones, with the marks that may not be parted from it."""


def has_full_width(text: str) -> bool:
    """Whether some character takes two cells."""
    return cell_len(text) > len(text)


def broken(text: str, *, width: int) -> Iterator[str]:
    """The text in lines of at most `width` cells; a piece that is longer than a line has a line of its own."""
    line = ""
    for piece in _PIECE.findall(text):
        if line and cell_len(line) + cell_len(piece) > width and piece.strip():
            yield line.rstrip()
            line = ""
        if line or piece.strip():
            line += piece
    if line.strip():
        yield line.rstrip()
