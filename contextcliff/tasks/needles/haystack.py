"""A text cut to an exact budget with sentences hidden in it: what every needle task builds on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from unicodedata import east_asian_width

from contextcliff.errors import ConfigError
from contextcliff.records.corpus import Document
from contextcliff.records.sample import Passage, Prompt, Recipe, Words
from contextcliff.text.sentences import nearest_start, sentence_starts
from contextcliff.text.tokens import TokenisedText, Tokenizer, tokenise

_PROBED_CHARACTERS = 100_000
_MARGIN = 1.1
SEAM_TOKENS = 3
"""Where text meets frame, tokens may split anew: so much is kept free that a prompt never exceeds its budget."""
_SEAM_CHARACTERS = 60
"""Tokens are counted anew so far around a hidden sentence; no token reaches further than a word."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Fact:
    """A sentence to hide, and the depth at which it goes in."""

    text: str
    depth: float


@dataclass(frozen=True, kw_only=True, slots=True)
class Hidden:
    """A recipe with its facts in place. `token_places` are the tokens of the text before each fact, in their order."""

    recipe: Recipe
    built_tokens: int
    token_places: tuple[int, ...]
    off: float = 0.0
    """The most that a fact stands from its depth, as a share of the text: sentences begin where they do."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Haystack:
    """A document, tokenised once as far as it is needed, with its sentence starts."""

    document: Document
    text: TokenisedText
    boundaries: tuple[int, ...]
    tokenizer: Tokenizer

    def end_for(self, context_tokens: int) -> int:
        """A character beyond which no prompt of this length reaches."""
        return self.text.end_for(0, context_tokens)

    def hide(
        self, facts: Sequence[Fact], *, context_tokens: int, before: str, after: str, cut_for: str | None = None
    ) -> Hidden:
        """Put each fact between two sentences nearest to its depth, in a text that fills `context_tokens`.

        The budget covers chat template, `before`, text, facts and `after`. Facts that fall between the same two
        sentences stand there in the order given. With `cut_for`, the text is cut as if that stood in the place of
        `after`: prompts that differ in their question alone then share their text. Raises `ConfigError` where the
        frame and the facts leave no room for text, and where the text is too short.
        """
        pieces = [_spaced(fact.text) for fact in facts]
        longest = after if cut_for is None else cut_for
        together = self.tokenizer.count_prompt(Prompt(user=f"{before}{''.join(pieces)}{longest}")) + SEAM_TOKENS
        roughly = context_tokens - together - len(facts)
        if roughly < 1:
            raise ConfigError(
                f"task.lengths: {context_tokens:,} is too short: template, question and needle alone take "
                f"{together + len(facts):,} tokens; ask for longer ones"
            )
        reach = self.text.end_for(0, roughly)
        places = [nearest_start(self.boundaries, self._character_at(fact.depth, reach), before=reach) for fact in facts]
        inserted: dict[int, str] = {}
        for place, piece in sorted(zip(places, pieces, strict=True), key=lambda item: item[0]):
            inserted[place] = inserted.get(place, "") + piece

        frame = self.tokenizer.count_prompt(Prompt(user=f"{before}{after}"))
        reserved = frame if cut_for is None else self.tokenizer.count_prompt(Prompt(user=f"{before}{cut_for}"))
        added = sum(self._added_tokens(place, piece) for place, piece in inserted.items())
        budget = context_tokens - reserved - added - SEAM_TOKENS
        if budget > self.text.tokens:
            raise ConfigError(
                f"task.lengths: {context_tokens:,} tokens need {budget:,} tokens of text, and the dataset has "
                f"{self.text.tokens:,}; ask for shorter ones, give more text (dataset.paths), or take dataset=synthetic"
            )
        end = max(self.text.end_for(0, budget), *places) if places else self.text.end_for(0, budget)
        held, token_places = self.text.tokens_between(0, end), [self.text.tokens_between(0, place) for place in places]
        return Hidden(
            recipe=Recipe(user=(Words(text=before), *self._with(inserted, end), Words(text=after))),
            built_tokens=frame + added + held,
            token_places=tuple(token_places),
            off=max(
                (abs(place / held - fact.depth) for fact, place in zip(facts, token_places, strict=True)), default=0.0
            )
            if held
            else 0.0,
        )

    def _with(self, inserted: dict[int, str], end: int) -> tuple[Words | Passage, ...]:
        pieces: list[Words | Passage] = []
        start = 0
        for place, text in inserted.items():
            pieces += [Passage(document_id=self.document.document_id, start=start, end=place), Words(text=text)]
            start = place
        return (*pieces, Passage(document_id=self.document.document_id, start=start, end=end))

    def _added_tokens(self, place: int, piece: str) -> int:
        """Tokens by which a piece that goes in at `place` lengthens the text."""
        text = self.text.text
        left = text[max(0, place - _SEAM_CHARACTERS) : place]
        right = text[place : place + _SEAM_CHARACTERS]
        return len(self.tokenizer.starts(f"{left}{piece}{right}")) - len(self.tokenizer.starts(f"{left}{right}"))

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


def as_sentence(text: str) -> str:
    """A statement with its full stop."""
    return text if text.endswith((".", "!", "?", "。", "！", "？", "」")) else f"{text}."


def _spaced(sentence: str) -> str:
    """A sentence with the space that its script sets before the next one."""
    return sentence if east_asian_width(sentence[-1]) in "WF" else f"{sentence} "


def _characters_for(tokens: int, text: str, tokenizer: Tokenizer) -> int:
    """Characters that hold so many tokens with a margin, by the rate of the text's beginning."""
    if len(text) <= _PROBED_CHARACTERS:
        return len(text)
    probed = len(tokenizer.starts(text[:_PROBED_CHARACTERS]))
    return max(_PROBED_CHARACTERS, round(tokens * _PROBED_CHARACTERS / probed * _MARGIN))
