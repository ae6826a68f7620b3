"""Words of a text: one spelling of their signs, the marks of their letters, and words of two texts in one order."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache, lru_cache
from unicodedata import category, decimal, normalize


def as_typed(text: str) -> str:
    """A text as a keyboard has it: compatibility forms resolved, ASCII digits and hyphens, no invisible characters."""
    if text.isascii():
        return text
    return "".join(map(_typed, normalize("NFKC", text)))


@lru_cache(maxsize=4096)
def _typed(sign: str) -> str:
    kind = category(sign)
    if kind == "Nd":
        return str(decimal(sign))
    if kind == "Pd" or sign == "−":
        return "-"
    return "" if kind == "Cf" else sign


@cache
def combining_marks() -> str:
    """Every vowel sign and accent that is a character of its own (categories Mn, Mc, Me) up to U+FFFF.

    For the inside of a regular expression's brackets: `\\w` of `re` does not match them. Scanning the characters takes
    some 10 ms, so it is done when words are first counted, and not at import.
    """
    return "".join(chr(code) for code in range(0x300, 0x10000) if category(chr(code)).startswith("M"))


def common_subsequence_length(first: Sequence[str], second: Sequence[str]) -> int:
    """Words of the longest sequence that both texts hold in this order, not necessarily side by side.

    ROUGE-L counts them (C.-Y. Lin 2004). Own code: `rouge-score` fills a table of as many cells as one text's words
    times the other's, in Python, and difflib finds matching blocks, which is another figure. This keeps one row of that
    table in the bits of one integer (H. Hyyrö, "Bit-parallel LCS-length computation revisited", 2004)."""
    positions: dict[str, int] = {}
    for position, word in enumerate(first):
        positions[word] = positions.get(word, 0) | 1 << position
    all_bits = (1 << len(first)) - 1
    row = all_bits
    for word in second:
        matching = row & positions.get(word, 0)
        row = ((row + matching) | (row - matching)) & all_bits
    return len(first) - row.bit_count()
