"""A text cut to an exact budget with sentences hidden in it: what every needle task builds on.

Places are characters of `Haystack.text`. That is the document, and after its end its beginning again, where contexts
begin anywhere and a finite text is gone round.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from unicodedata import east_asian_width

from contextcliff.errors import ConfigError
from contextcliff.records.corpus import Document
from contextcliff.records.sample import Passage, Prompt, Recipe, Words
from contextcliff.text.sentences import ENDS, nearest_start, sentence_starts
from contextcliff.text.tokens import TokenisedText, Tokenizer, tokenise

_PROBED_CHARACTERS = 100_000
_MARGIN = 1.1
SEAM_TOKENS = 3
"""Where text meets frame, tokens may split anew: so much is kept free that a prompt never exceeds its budget."""
_ROUGHLY_TOKENS = 8
"""A context that is counted shorter than asked for by more is lengthened."""
_ROUND = "\n\n"
"""Stands between the end of a text and its beginning, where it is gone round."""
FRESH_CHARACTERS = 200_000
"""Of an endless text: contexts begin at one of the sentences up to here."""
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
    starts: tuple[int, ...] = (0,)
    """Where contexts may begin: at the start of the text, or at its sentences."""

    def end_for(self, context_tokens: int, *, start: int = 0) -> int:
        """A character beyond which no prompt of this length from `start` on reaches."""
        return self.text.end_for(start, context_tokens)

    def hide(
        self,
        facts: Sequence[Fact],
        *,
        context_tokens: int,
        before: str,
        after: str,
        cut_for: str | None = None,
        start: int = 0,
    ) -> Hidden:
        """Put each fact between two sentences nearest to its depth, in the text from `start` that fills the length.

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
        reach = self.text.end_for(start, roughly)
        places = [self._place(fact.depth, start, reach) for fact in facts]
        inserted: dict[int, str] = {}
        for place, piece in sorted(zip(places, pieces, strict=True), key=lambda item: item[0]):
            inserted[place] = inserted.get(place, "") + piece

        frame = self.tokenizer.count_prompt(Prompt(user=f"{before}{after}"))
        reserved = frame if cut_for is None else self.tokenizer.count_prompt(Prompt(user=f"{before}{cut_for}"))
        added = sum(self._added_tokens(place, piece) for place, piece in inserted.items())
        budget = context_tokens - reserved - added - SEAM_TOKENS
        if budget > self.tokens_of_text:
            raise ConfigError(
                f"task.lengths: {context_tokens:,} tokens need {budget:,} tokens of text, and the dataset has "
                f"{self.tokens_of_text:,}; ask for shorter ones, give more text (dataset.paths), or take "
                "dataset=synthetic"
            )
        end = max([self.text.end_for(start, budget), *places])
        counted = None
        if start:
            end, counted = self._recounted(end, budget, context_tokens, inserted, start, before=before, after=longest)
        held = self.text.tokens_between(start, end)
        token_places = [self.text.tokens_between(start, place) for place in places]
        return Hidden(
            recipe=Recipe(user=(Words(text=before), *self._with(inserted, start, end), Words(text=after))),
            built_tokens=frame + added + held if counted is None else counted - reserved + frame,
            token_places=tuple(token_places),
            off=max(
                (abs(place / held - fact.depth) for fact, place in zip(facts, token_places, strict=True)), default=0.0
            )
            if held
            else 0.0,
        )

    @property
    def tokens_of_text(self) -> int:
        """Tokens of the document as far as it was tokenised, each once."""
        return self.text.tokens_between(0, min(len(self.text.text), len(self.document.text)))

    def _recounted(
        self,
        end: int,
        budget: int,
        context_tokens: int,
        inserted: dict[int, str],
        start: int,
        *,
        before: str,
        after: str,
    ) -> tuple[int, int]:
        """Where the text from `start` on ends by a count of the whole prompt, and that count.

        Offsets are exact at the beginning of a text; of servers that only count tokens they are estimates elsewhere.
        """
        last = max(inserted, default=start)

        def beyond(end: int) -> int:
            pieces = self._with(inserted, start, end)
            text = "".join(
                piece.text if isinstance(piece, Words) else self.document.text[piece.start : piece.end]
                for piece in pieces
            )
            return self.tokenizer.count_prompt(Prompt(user=f"{before}{text}{after}")) - context_tokens

        off = beyond(end)
        if off < -_ROUGHLY_TOKENS:
            budget -= off + SEAM_TOKENS
            end = max(self.text.end_for(start, budget), last)
            off = beyond(end)
        while off > 0 and end > last:
            budget -= off
            end = max(self.text.end_for(start, budget), last)
            off = beyond(end)
        return end, context_tokens + off

    def _place(self, depth: float, start: int, reach: int) -> int:
        """The sentence start nearest to a depth of the text from `start` to `reach`."""
        place = nearest_start(self.boundaries, self._character_at(depth, start, reach), before=reach)
        return max(start, place)

    def _with(self, inserted: dict[int, str], start: int, end: int) -> tuple[Words | Passage, ...]:
        pieces: list[Words | Passage] = []
        for place, text in inserted.items():
            pieces += [*self._passages(start, place), Words(text=text)]
            start = place
        return (*pieces, *self._passages(start, end))

    def _passages(self, start: int, end: int) -> tuple[Words | Passage, ...]:
        """The text between two places; across the document's end, its end and its beginning."""
        name, size = self.document.document_id, len(self.document.text)
        again = size + len(_ROUND)
        if end <= size:
            return (Passage(document_id=name, start=start, end=end),)
        if start >= again:
            return (Passage(document_id=name, start=start - again, end=end - again),)
        before = (Passage(document_id=name, start=start, end=size),) if start < size else ()
        seam = Words(text=_ROUND[max(0, start - size) : end - size])
        after = (Passage(document_id=name, start=0, end=end - again),) if end > again else ()
        return (*before, seam, *after)

    def _added_tokens(self, place: int, piece: str) -> int:
        """Tokens by which a piece that goes in at `place` lengthens the text."""
        text = self.text.text
        left = text[max(0, place - _SEAM_CHARACTERS) : place]
        right = text[place : place + _SEAM_CHARACTERS]
        return len(self.tokenizer.starts(f"{left}{piece}{right}")) - len(self.tokenizer.starts(f"{left}{right}"))

    def _character_at(self, depth: float, start: int, end: int) -> int:
        index = self.text.tokens_between(0, start) + round(depth * self.text.tokens_between(start, end))
        return end if index >= self.text.tokens else min(end, self.text.starts[index])


def prepare_fresh(document: Document, *, tokens: int, tokenizer: Tokenizer) -> Haystack:
    """Tokenise a whole document, so that contexts of up to `tokens` tokens can begin at any of its sentences.

    A text that ends within a context is gone round. The places where contexts begin do not depend on `tokens`, so that
    another length changes no context.
    """
    text, longest = document.text, document.longest_word
    begins = sentence_starts(text[:FRESH_CHARACTERS] if document.endless else text, language=document.language)
    tokenised = tokenise(text, tokenizer, longest_word=longest) if document.endless else None
    if tokenised is None or tokenised.tokens_between(max(begins), len(text)) < tokens:
        again = _characters_for(tokens, text, tokenizer)
        tokenised = tokenise(f"{text}{_ROUND}{text[:again]}", tokenizer, longest_word=longest)
        if again < len(text) and tokenised.tokens_between(len(text), len(tokenised.text)) < tokens:
            tokenised = tokenise(f"{text}{_ROUND}{text}", tokenizer, longest_word=longest)
    return Haystack(
        document=document,
        text=tokenised,
        boundaries=sentence_starts(tokenised.text, language=document.language),
        tokenizer=tokenizer,
        starts=tuple(begins),
    )


def prepare(document: Document, *, tokens: int, tokenizer: Tokenizer) -> Haystack:
    """Tokenise as much of a document as `tokens` tokens take, once, and find its sentences."""
    longest = document.longest_word
    text = document.text[: _characters_for(tokens, document.text, tokenizer)]
    tokenised = tokenise(text, tokenizer, longest_word=longest)
    if tokenised.tokens < tokens and len(text) < len(document.text):
        tokenised = tokenise(document.text, tokenizer, longest_word=longest)
    return Haystack(
        document=document,
        text=tokenised,
        boundaries=sentence_starts(tokenised.text, language=document.language),
        tokenizer=tokenizer,
    )


def as_sentence(text: str) -> str:
    """A statement with its full stop."""
    return text if text.endswith(ENDS) else f"{text}."


def _spaced(sentence: str) -> str:
    """A sentence with the space that its script sets before the next one."""
    return sentence if east_asian_width(sentence[-1]) in "WF" else f"{sentence} "


def _characters_for(tokens: int, text: str, tokenizer: Tokenizer) -> int:
    """Characters that hold so many tokens with a margin, by the rate of the text's beginning."""
    if len(text) <= _PROBED_CHARACTERS:
        return len(text)
    probed = len(tokenizer.starts(text[:_PROBED_CHARACTERS]))
    return max(_PROBED_CHARACTERS, round(tokens * _PROBED_CHARACTERS / probed * _MARGIN))
