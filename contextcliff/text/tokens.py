"""What a tokenizer has to tell, and texts that are tokenised once and sliced by offset."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from contextcliff.records import Prompt


class Tokenizer(Protocol):
    """Counts and places tokens as the model under test does."""

    @property
    def name(self) -> str:
        """Where the tokens come from, for the report: `llamacpp:SmolLM2…gguf`, `words`."""
        ...

    def starts(self, text: str) -> Sequence[int]:
        """Character offset at which each token of `text` begins: ascending, the first is 0."""
        ...

    def count_prompt(self, prompt: Prompt) -> int:
        """Tokens of the whole request, chat template and generation prompt included."""
        ...


@dataclass(frozen=True, kw_only=True, slots=True)
class TokenisedText:
    """A text with its token offsets: any slice is then a lookup, also at a million tokens."""

    text: str
    starts: Sequence[int]

    @property
    def tokens(self) -> int:
        """Tokens of the whole text."""
        return len(self.starts)

    def tokens_between(self, start: int, end: int) -> int:
        """Tokens that begin in `text[start:end]`."""
        return bisect_left(self.starts, end) - bisect_left(self.starts, start)

    def end_for(self, start: int, tokens: int) -> int:
        """Largest end so that `text[start:end]` holds at most `tokens` tokens and breaks no word.

        Returns `start` where not even one word fits.
        """
        first = bisect_left(self.starts, start)
        last = first + tokens
        if last >= len(self.starts):
            return len(self.text)
        return self._word_end(start, self.starts[last])

    def _word_end(self, start: int, end: int) -> int:
        # A cut at a token's start can fall inside a word; texts without spaces (Japanese) are cut there.
        if end >= len(self.text) or self.text[end].isspace():
            return end
        space = max(self.text.rfind(" ", start, end), self.text.rfind("\n", start, end))
        longest_word = 40
        return space if space > start and end - space <= longest_word else end


def tokenise(text: str, tokenizer: Tokenizer) -> TokenisedText:
    """Tokenise a text once."""
    return TokenisedText(text=text, starts=tokenizer.starts(text))
