"""Text for an error message: on one line, and cut to a length."""

from __future__ import annotations


def one_line(text: str, *, longest: int) -> str:
    """`text` with its white space as single blanks, cut after `longest` characters with `…` where it is longer."""
    line = " ".join(text.split())
    return line if len(line) <= longest else f"{line[:longest]}…"
