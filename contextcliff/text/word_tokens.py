"""A tokenizer that needs no model, for engines without weights: pieces of words, up to three digits, signs."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from unicodedata import category

from contextcliff.records.sample import Prompt
from contextcliff.text.tokens import framed_tokens

# A blank belongs to the word after it, as in byte-pair vocabularies. Long words are split, so that English prose has
# about 1.3 tokens per word.
_PIECE = re.compile(r" ?[^\W\d_]{1,7}| ?\d{1,3}|\s+|.", re.DOTALL)


@dataclass(frozen=True, kw_only=True, slots=True)
class WordTokenizer:
    """Counts pieces of words; needs no download and gives the same on every machine."""

    @property
    def name(self) -> str:
        """Name in reports."""
        return "words"

    def starts(self, text: str) -> Sequence[int]:
        """Character offset of every piece."""
        return [match.start() for match in _PIECE.finditer(text)]

    def count_prompt(self, prompt: Prompt) -> int:
        """Pieces of the messages, plus a constant for each message and for the start of the answer."""
        return framed_tokens(prompt, lambda text: len(self.starts(text)))


@cache
def combining_marks() -> str:
    """Every vowel sign and accent that is a character of its own (categories Mn, Mc, Me) up to U+FFFF.

    For the inside of a regular expression's brackets: `\\w` of `re` does not match them. Scanning the characters takes
    some 10 ms, so it is done when words are first counted, and not at import.
    """
    return "".join(chr(code) for code in range(0x300, 0x10000) if category(chr(code)).startswith("M"))
