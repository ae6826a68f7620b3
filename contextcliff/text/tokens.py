"""What a tokenizer has to tell, and texts that are tokenised once and sliced by offset."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol
from unicodedata import category, east_asian_width

from contextcliff.records.prompt import Prompt

_LONGEST_WORD = 40
_CLOSING = frozenset({"Pe", "Pf", "Po"})
"""Brackets and quotation marks that close, and other punctuation: no line of Japanese begins with one."""


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

        Returns `start` where not even one word fits; what comes before `start` is taken as another word.
        """
        first = bisect_left(self.starts, start)
        last = first + tokens
        if last >= len(self.starts):
            return len(self.text)
        return self._word_end(start, self.starts[last])

    def start_for(self, end: int, tokens: int) -> int:
        """Smallest start so that `text[start:end]` holds at most `tokens` tokens and begins inside no word.

        Returns `end` where not even one word fits.
        """
        last = bisect_left(self.starts, end)
        if tokens >= last:
            return 0
        return self._word_start(self.starts[last - tokens], end) if tokens > 0 else end

    def _word_start(self, start: int, end: int) -> int:
        """The first place in `[start, end)` that is inside no word; `end` where the last word is longer.

        An unbroken run longer than any word is cut at the token.
        """
        latest = min(end, start + _LONGEST_WORD)
        place = next((place for place in range(start, latest) if _begins_word(self.text, place)), None)
        if place is not None:
            return place
        return end if latest == end else start

    def _word_end(self, start: int, end: int) -> int:
        """The last place in `(start, end]` that is inside no word; `start` where the first word is longer.

        A cut at a token's start can fall inside a word. An unbroken run longer than any word is cut at the token.
        """
        if end >= len(self.text):
            return end
        earliest = max(start, end - _LONGEST_WORD)
        place = next((place for place in range(end, earliest, -1) if is_between_words(self.text, place)), None)
        if place is not None:
            return place
        return start if earliest == start else end


def is_between_words(text: str, place: int) -> bool:
    """Whether a text may be cut before the character at `place`, which is inside it."""
    before, after = text[place - 1], text[place]
    # Chinese and Japanese write no spaces: every character there is a place to cut.
    return after.isspace() or _is_wide(after) or _is_wide(before)


def _begins_word(text: str, place: int) -> bool:
    """Whether a text may begin with the character at `place`: after a blank, or in a script that sets none."""
    if place == 0 or text[place].isspace():
        return place == 0
    if text[place - 1].isspace():
        return True
    return (_is_wide(text[place]) or _is_wide(text[place - 1])) and category(text[place]) not in _CLOSING


def _is_wide(character: str) -> bool:
    return east_asian_width(character) in "WF"


def tokenise(text: str, tokenizer: Tokenizer) -> TokenisedText:
    """Tokenise a text once."""
    return TokenisedText(text=text, starts=tokenizer.starts(text))
