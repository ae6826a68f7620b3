"""A text cut to an exact budget with a sentence hidden in it: what every needle task builds on."""

from __future__ import annotations

from dataclasses import dataclass

from contextcliff.errors import ConfigError
from contextcliff.records import Document, Passage, Prompt, Recipe, Words
from contextcliff.text.sentences import nearest_start, sentence_starts
from contextcliff.text.tokens import TokenisedText, Tokenizer, tokenise

_PROBED_CHARACTERS = 100_000
_MARGIN = 1.1
_SEAM_TOKENS = 3
"""Where pieces meet, tokens may split anew: so much is kept free that a prompt never exceeds its budget."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Hidden:
    """A recipe with its needle in place. `depth` is where it really went, as a share of the text's tokens."""

    recipe: Recipe
    built_tokens: int
    depth: float


@dataclass(frozen=True, kw_only=True, slots=True)
class Haystack:
    """A document, tokenised once as far as it is needed, with its sentence starts."""

    document: Document
    text: TokenisedText
    boundaries: tuple[int, ...]
    tokenizer: Tokenizer

    def hide(self, needle: str, *, depth: float, context_tokens: int, before: str, after: str) -> Hidden:
        """Put `needle` between two sentences nearest to `depth` of a text that fills `context_tokens`.

        The budget covers chat template, `before`, text, needle and `after`. Raises `ConfigError`
        where they leave no room for text, and where the text is too short.
        """
        needle_piece = f"{needle} "
        frame = self.tokenizer.count_prompt(Prompt(user=f"{before}{needle_piece}{after}")) + _SEAM_TOKENS
        budget = context_tokens - frame
        if budget < 1:
            raise ConfigError(
                f"task.lengths: {context_tokens:,} is too short: template, question and needle alone take "
                f"{frame:,} tokens; ask for longer ones"
            )
        if budget > self.text.tokens:
            raise ConfigError(
                f"task.lengths: {context_tokens:,} tokens need {budget:,} tokens of text, and the dataset has "
                f"{self.text.tokens:,}; ask for shorter ones, give more text (dataset.paths), or take dataset=synthetic"
            )
        end = self.text.end_for(0, budget)
        place = nearest_start(self.boundaries, self._character_at(depth, end), before=end)
        text_tokens = self.text.tokens_between(0, end)
        recipe = Recipe(
            user=(
                Words(text=before),
                Passage(document_id=self.document.document_id, start=0, end=place),
                Words(text=needle_piece),
                Passage(document_id=self.document.document_id, start=place, end=end),
                Words(text=after),
            )
        )
        return Hidden(
            recipe=recipe,
            built_tokens=frame - _SEAM_TOKENS + text_tokens,
            depth=self.text.tokens_between(0, place) / max(1, text_tokens),
        )

    def _character_at(self, depth: float, end: int) -> int:
        index = round(depth * self.text.tokens_between(0, end))
        return end if index >= self.text.tokens else min(end, self.text.starts[index])


def prepare(document: Document, *, tokens: int, tokenizer: Tokenizer) -> Haystack:
    """Tokenise as much of a document as `tokens` tokens take, once, and find its sentences."""
    text = document.text[: _characters_for(tokens, document.text, tokenizer)]
    tokenised = tokenise(text, tokenizer)
    if tokenised.tokens < tokens and len(text) < len(document.text):
        tokenised = tokenise(document.text, tokenizer)
    return Haystack(
        document=document,
        text=tokenised,
        boundaries=sentence_starts(tokenised.text, language=document.language),
        tokenizer=tokenizer,
    )


def _characters_for(tokens: int, text: str, tokenizer: Tokenizer) -> int:
    """Characters that hold so many tokens with a margin, by the rate of the text's beginning."""
    if len(text) <= _PROBED_CHARACTERS:
        return len(text)
    probed = len(tokenizer.starts(text[:_PROBED_CHARACTERS]))
    return max(_PROBED_CHARACTERS, round(tokens * _PROBED_CHARACTERS / probed * _MARGIN))
