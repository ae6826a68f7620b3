"""A text cut to an exact budget with sentences hidden in it: what every needle task builds on.

Places are characters of `Haystack.text`. That is the document, and after its end its beginning again, where contexts
begin anywhere and a finite text is gone round."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from operator import itemgetter

from contextcliff.errors import ConfigError
from contextcliff.records.corpus import Document
from contextcliff.records.sample import Passage, Recipe, Words, render
from contextcliff.tasks.grid import filled, too_short
from contextcliff.text.sentences import ENDS, nearest_start, sentence_starts
from contextcliff.text.tokens import Seams, TokenisedText, Tokenizer, is_wide, seams_of, token_counts, tokenise

_PROBED_CHARACTERS, _MARGIN = 100_000, 1.1
SEAM_TOKENS = 3
"""Where text meets frame, tokens may split anew: so much is kept free that a prompt never exceeds its budget."""
_ROUGHLY_TOKENS = 8
"""A context that is counted shorter than asked for by more is lengthened."""
_ROUND = "\n\n"
FRESH_CHARACTERS = 200_000
"""Of an endless text: contexts begin at one of the sentences up to here."""
_FEW_FACTS = 2
"""What so many add is counted before their places are known, and a token or two are no matter; more are counted in
their places."""
_CHECKED_TOKENS = (500, 500, 500, 12_000)
"""Stretches of a text whose tokens are counted alone, to see whether its offsets are exact."""
_EXACT_WITHIN_TOKENS = 1


@dataclass(frozen=True, kw_only=True, slots=True)
class Fact:
    """A sentence to hide, and the depth at which it goes in."""

    text: str
    depth: float


def fact(template: str, depth: float | None, **values: str) -> Fact:
    """A sentence of a template with its full stop, at a depth; at the start of the text where there is none."""
    text = filled(template, **values)
    return Fact(text=text if text.endswith(ENDS) else f"{text}.", depth=depth or 0.0)


@dataclass(frozen=True, kw_only=True, slots=True)
class Hidden:
    """A recipe with its facts in place. `token_places` are the tokens of the text before each fact, in their order."""

    recipe: Recipe
    built_tokens: int
    token_places: Sequence[int]
    off: float


@dataclass(frozen=True, kw_only=True)
class Haystack:
    """A document, tokenised once as far as it is needed, with its sentence starts."""

    document: Document
    text: TokenisedText
    tokenizer: Tokenizer
    starts: tuple[int, ...] = (0,)
    is_exact: bool = True
    """Whether tokens between two places are those of the text alone. Some servers only count, and offsets are then
    estimates."""

    @cached_property
    def boundaries(self) -> tuple[int, ...]:
        return sentence_starts(self.text.text, language=self.document.language)

    @cached_property
    def seams(self) -> Seams:
        return seams_of(self.text.text, self.boundaries, self.tokenizer)

    def hide(
        self,
        facts: Sequence[Fact],
        *,
        context_tokens: int,
        before: str,
        after: str,
        cut_for: Sequence[str] = (),
        start: int = 0,
    ) -> Hidden:
        """Put each fact between two sentences nearest to its depth, in the text from `start` that fills the length.

        The budget covers chat template, `before`, text, facts and `after`, or the longest of `cut_for` in its place:
        prompts that differ in their question alone then share their text. Raises `ConfigError` where there is no room
        for text, and where the text is too short."""
        pieces = [each.text if is_wide(each.text[-1]) else f"{each.text} " for each in facts]
        added, behind = self.seams.count(between=pieces, behind=(after, *cut_for))
        most, longest = max(zip(behind, (after, *cut_for), strict=True), key=itemgetter(0))
        reserved = self.seams.before(before) + most
        room = context_tokens - reserved - SEAM_TOKENS
        budget = room - sum(added)
        if budget < 1:
            raise too_short(context_tokens, context_tokens - budget)
        if budget > self.tokens_of_text:
            raise ConfigError(
                f"task.lengths: {context_tokens:,} tokens need {budget:,} tokens of text, and the dataset has "
                f"{self.tokens_of_text:,}; ask for shorter ones, give more text (dataset.paths), or take "
                "dataset=synthetic"
            )
        reach = self.text.end_for(start, budget)
        places = [self._place(each.depth, start, reach) for each in facts]
        inserted: dict[int, str] = {}
        for place, piece in sorted(zip(places, pieces, strict=True), key=itemgetter(0)):
            inserted[place] = inserted.get(place, "") + piece
        if len(facts) > _FEW_FACTS:
            budget = room - self.seams.added(inserted)
        end = max([self.text.end_for(start, budget), *places])
        built = context_tokens - SEAM_TOKENS - budget + self.text.tokens_between(start, end)
        if start and not self.is_exact:
            end, built = self._recounted(end, budget, context_tokens, inserted, start, before, longest)
        held = self.text.tokens_between(start, end)
        token_places = [self.text.tokens_between(start, place) for place in places]
        off = (abs(at / held - each.depth) for each, at in zip(facts, token_places, strict=True) if held)
        return Hidden(
            recipe=Recipe(user=(_words(before), *self._with(inserted, start, end), _words(after))),
            built_tokens=built - most + behind[0],
            token_places=token_places,
            off=max(off, default=0.0),
        )

    @property
    def tokens_of_text(self) -> int:
        """Tokens of the document as far as it was tokenised, each once."""
        return self.text.tokens_between(0, min(len(self.text.text), len(self.document.text)))

    def _recounted(
        self, end: int, budget: int, context_tokens: int, inserted: dict[int, str], start: int, before: str, after: str
    ) -> tuple[int, int]:
        """Where the text from `start` on ends by a count of the whole prompt, and that count. Estimated offsets are
        exact at the beginning of a text alone."""
        last = max(inserted, default=start)

        def beyond(end: int) -> int:
            recipe = Recipe(user=(_words(before), *self._with(inserted, start, end), _words(after)))
            prompt = render(recipe, {self.document.document_id: self.document})
            return self.tokenizer.count_prompt(prompt) - context_tokens

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
        index = self.text.tokens_between(0, start) + round(depth * self.text.tokens_between(start, reach))
        at = reach if index >= self.text.tokens else min(reach, self.text.starts[index])
        return max(start, nearest_start(self.boundaries, at, before=reach))

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


def prepare_fresh(document: Document, *, tokens: int, tokenizer: Tokenizer) -> Haystack:
    """Tokenise a whole document, so that contexts of up to `tokens` tokens can begin at any of its sentences.

    A text that ends within a context is gone round. The places where contexts begin do not depend on `tokens`, so that
    another length changes no context."""
    text, longest = document.text, document.longest_word
    begins = sentence_starts(text[:FRESH_CHARACTERS] if document.endless else text, language=document.language)
    tokenised = tokenise(text, tokenizer, longest_word=longest) if document.endless else None
    if tokenised is None or tokenised.tokens_between(max(begins), len(text)) < tokens:
        again = _characters_for(tokens, text, tokenizer)
        tokenised = tokenise(f"{text}{_ROUND}{text[:again]}", tokenizer, longest_word=longest)
        if again < len(text) and tokenised.tokens_between(len(text), len(tokenised.text)) < tokens:
            tokenised = tokenise(f"{text}{_ROUND}{text}", tokenizer, longest_word=longest)
    is_exact = _is_exact(tokenised, begins, text, tokenizer)
    return Haystack(document=document, text=tokenised, tokenizer=tokenizer, starts=begins, is_exact=is_exact)


def prepare(document: Document, *, tokens: int, tokenizer: Tokenizer) -> Haystack:
    """Tokenise as much of a document as `tokens` tokens take, once, and find its sentences."""
    text, longest = document.text[: _characters_for(tokens, document.text, tokenizer)], document.longest_word
    tokenised = tokenise(text, tokenizer, longest_word=longest)
    if tokenised.tokens < tokens and len(text) < len(document.text):
        tokenised = tokenise(document.text, tokenizer, longest_word=longest)
    return Haystack(document=document, text=tokenised, tokenizer=tokenizer)


def _is_exact(text: TokenisedText, begins: Sequence[int], document: str, tokenizer: Tokenizer) -> bool:
    """Whether stretches from some sentences of the document on have the tokens that the offsets say. They do not depend
    on the lengths that are asked for, so that another length changes no context."""
    for number, tokens in enumerate(_CHECKED_TOKENS, start=1):
        start = begins[len(begins) * number // (len(_CHECKED_TOKENS) + 1)]
        end = min(text.end_for(start, tokens), len(document))
        [alone] = token_counts([document[start:end]], tokenizer)
        if abs(alone - text.tokens_between(start, end)) > _EXACT_WITHIN_TOKENS:
            return False
    return True


@lru_cache(maxsize=1024)
def _words(text: str) -> Words:
    """One object for all samples that begin or end alike."""
    return Words(text=text)


def _characters_for(tokens: int, text: str, tokenizer: Tokenizer) -> int:
    """Characters that hold so many tokens with a margin, by the rate of the text's beginning."""
    if len(text) <= _PROBED_CHARACTERS:
        return len(text)
    probed = len(tokenizer.starts(text[:_PROBED_CHARACTERS]))
    return max(_PROBED_CHARACTERS, round(tokens * _PROBED_CHARACTERS / probed * _MARGIN))
