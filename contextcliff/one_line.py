"""Text as it stands in an error message: on one line, and no longer than a line should be."""

from __future__ import annotations


def one_line(text: str, *, longest: int) -> str:
    """`text` with its white space as single blanks, cut after `longest` characters with `…` where it is longer."""
    line = " ".join(text.split())
    return line if len(line) <= longest else f"{line[:longest]}…"
