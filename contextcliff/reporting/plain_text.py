"""Text from outside in files that a person opens in a terminal or a spreadsheet."""

from __future__ import annotations

import unicodedata

JOINERS = "\u200c\u200d"
"""Between letters of many scripts and parts of a sign: nothing that a terminal obeys."""

_RUN_BY_A_SPREADSHEET = ("=", "+", "-", "@", "\t", "\r")


def tame(text: str) -> str:
    """The text with line feeds, tabs and spaces as they are, and everything else that has no shape as an escape.

    What a model says can't move the cursor, set colours or turn the direction of writing where a file is shown raw.
    """
    lines = text.replace("\r\n", "\n").replace("\r", "\n")
    return "".join(char if _harmless(char) else char.encode("unicode_escape").decode("ascii") for char in lines)


def tame_cell(text: str) -> str:
    """As `tame`, for a cell of a table: a text that a spreadsheet would run as a formula begins with an apostrophe."""
    shown = tame(text)
    return f"'{shown}" if shown.startswith(_RUN_BY_A_SPREADSHEET) else shown


def _harmless(char: str) -> bool:
    return char.isprintable() or char in "\n\t" or char in JOINERS or unicodedata.category(char) == "Zs"
