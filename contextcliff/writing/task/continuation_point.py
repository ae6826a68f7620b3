"""One continuation point of a text for all context lengths.

The method of Context-Tester: contexts grow backward from a fixed point, so that every length goes on from the same
words. The point is the end of a sentence; what the author wrote next begins there, without a gap.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from contextcliff.errors import ConfigError
from contextcliff.records.corpus import Document
from contextcliff.tasks.needles.haystack import Haystack, prepare
from contextcliff.text.sentences import parts_sentences
from contextcliff.text.tokens import Tokenizer

_QUOTES = "\"'”’»」』)]*_"
_STOPS = ".!?…。！？।॥۔؟։။។።"
"""What a sentence ends in, with quotes and brackets after it: a heading has none of it."""
_LONGEST_CLOSE = 8


@dataclass(frozen=True, kw_only=True, slots=True)
class Origin:
    """A text and the character at which every prompt of it ends."""

    source: Haystack
    point: int

    @property
    def tokens_before(self) -> int:
        """Tokens of the text up to the point."""
        return self.source.text.tokens_between(0, self.point)


@dataclass(frozen=True, kw_only=True, slots=True)
class Points:
    """The places of a text that an answer can go on from, ascending; there is one at least."""

    source: Haystack
    places: tuple[int, ...]

    def last(self) -> Origin:
        """The one with the most text before it."""
        return Origin(source=self.source, point=self.places[-1])

    def first_after(self, tokens: int) -> Origin:
        """The first one with at least `tokens` tokens of text before it; the last where none has."""
        text = self.source.text
        enough = (at for at in self.places if text.tokens_between(0, at) >= tokens)
        return Origin(source=self.source, point=next(enough, self.places[-1]))


def points_for(document: Document, tokenizer: Tokenizer, *, before_tokens: int, answer_tokens: int) -> Points:
    """The points of a text after which the original goes on for at least `answer_tokens` tokens.

    As much of the text is tokenised as it takes to find one with `before_tokens` tokens before it; all where none has.
    Raises `ConfigError` for a text without any.
    """
    tokens = before_tokens + 2 * answer_tokens
    while True:
        source = prepare(document, tokens=tokens, tokenizer=tokenizer)
        text, ends = source.text, points_of(source)
        places = tuple(at for at in ends if text.tokens_between(at, len(text.text)) >= answer_tokens)
        is_whole = len(text.text) == len(document.text)
        if is_whole or (places and text.tokens_between(0, places[-1]) >= before_tokens):
            break
        tokens *= 2
    if places:
        return Points(source=source, places=places)
    if not ends:
        raise ConfigError(
            f"dataset: no sentence ends in {document.title} ({len(text.text):,} characters), so there is no "
            "place to go on from; give prose with punctuation, or set dataset.language"
        )
    raise ConfigError(
        f"dataset: {document.title} has {text.tokens:,} tokens, and after its first sentence fewer than the "
        f"{answer_tokens:,} that an answer may take; give a longer text (dataset.path), or lower task.max_tokens"
    )


def points_of(source: Haystack) -> Sequence[int]:
    """Where one sentence ends and another begins, neither of them a heading: the end of the first, without blanks."""
    text, language = source.text.text, source.document.language
    ends = [
        (_end_before(text, start), parts_sentences(text, start, language=language)) for start in source.boundaries[1:]
    ]
    # The last sentence of a text that was tokenised in part may be cut: its end is none.
    neighbours = pairwise([*ends, (_end_before(text, len(text)), True)])
    return [
        end
        for (end, is_parted), (after, _) in neighbours
        if is_parted and _ends_sentence(text, end) and _ends_sentence(text, after)
    ]


def _ends_sentence(text: str, end: int) -> bool:
    return text[max(0, end - _LONGEST_CLOSE) : end].rstrip(_QUOTES).endswith(tuple(_STOPS))


def _end_before(text: str, place: int) -> int:
    """The end of what stands before `place`, without the blanks between."""
    while place > 0 and text[place - 1].isspace():
        place -= 1
    return place
