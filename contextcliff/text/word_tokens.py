"""A tokenizer that needs no model: words, numbers in threes, signs. For engines without weights."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from contextcliff.records.prompt import Prompt
from contextcliff.text.framing import framed_tokens

# A leading blank belongs to its word, as in byte-pair vocabularies; long words fall into pieces, so that
# English prose comes to about 1.3 tokens a word.
_PIECE = re.compile(r" ?[^\W\d_]{1,7}| ?\d{1,3}|\s+|.", re.DOTALL)


@dataclass(frozen=True, kw_only=True, slots=True)
class WordTokenizer:
    """Counts pieces of words; the same on every machine and without a download."""

    @property
    def name(self) -> str:
        """Name in reports."""
        return "words"

    def starts(self, text: str) -> Sequence[int]:
        """Character offset of every piece."""
        return [match.start() for match in _PIECE.finditer(text)]

    def count_prompt(self, prompt: Prompt) -> int:
        """Pieces of the messages plus a fixed frame a message, the answer's opening included."""
        return framed_tokens(prompt, lambda text: len(self.starts(text)))
