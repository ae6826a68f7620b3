"""The longest common subsequence of two texts' words, which ROUGE-L counts (C.-Y. Lin 2004).

Own code: `rouge-score` fills a table of as many cells as one text's words times the other's, in Python, and difflib
finds matching blocks, which is another figure. This keeps one row of that table in the bits of one integer (H. Hyyrö,
"Bit-parallel LCS-length computation revisited", 2004).
"""

from __future__ import annotations

from collections.abc import Sequence


def common_subsequence_length(first: Sequence[str], second: Sequence[str]) -> int:
    """Words of the longest sequence that both texts hold in this order, not necessarily side by side."""
    positions: dict[str, int] = {}
    for position, word in enumerate(first):
        positions[word] = positions.get(word, 0) | 1 << position
    all_bits = (1 << len(first)) - 1
    row = all_bits
    for word in second:
        matching = row & positions.get(word, 0)
        row = ((row + matching) | (row - matching)) & all_bits
    return len(first) - row.bit_count()
