"""Combining marks of Unicode, which belong to the word that they stand in."""

from __future__ import annotations

from functools import cache
from unicodedata import category


@cache
def combining_marks() -> str:
    """Every vowel sign and accent that is a character of its own (categories Mn, Mc, Me) up to U+FFFF.

    For the inside of a regular expression's brackets: `\\w` of `re` does not match them. Scanning the characters takes
    some 10 ms, so it is done when words are first counted, and not at import.
    """
    return "".join(chr(code) for code in range(0x300, 0x10000) if category(chr(code)).startswith("M"))
