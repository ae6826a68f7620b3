"""One continuation point of a text for all context lengths, and how far back from it each length reaches.

The method of Context-Tester: contexts grow backward from a fixed point, so that every length goes on from the same
words. The point is the end of a sentence; what the author wrote next begins there, without a gap.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from contextcliff.errors import ConfigError
from contextcliff.tasks.haystack import Haystack

_QUOTES = "\"'”’»」』)]*_"
_STOPS = ".!?…。！？।॥۔؟։။។።"
"""What a sentence ends in, with quotes and brackets after it: a heading has none of it."""
_LONGEST_CLOSE = 8
_NEAR_SHARE = 0.02
_NEAR_TOKENS = 64
"""A paragraph's beginning is taken where it lies within a fiftieth of the context, or so many tokens."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Origin:
    """A text and the character at which every prompt of it ends."""

    source: Haystack
    point: int

    def start_for(self, tokens: int) -> int:
        """The character at which a context of at most so many tokens starts: a sentence's, a paragraph's where near."""
        text, boundaries = self.source.text, self.source.boundaries
        before = [start for start in boundaries if start < self.point]
        first = next((start for start in before if text.tokens_between(start, self.point) <= tokens), None)
        if first is None:
            shortest = text.tokens_between(before[-1], self.point)
            raise ConfigError(
                f"dataset: the last sentence of {self.source.document.title} before the continuation point takes "
                f"{shortest:,} tokens, and there is room for {tokens:,}; give another text, or longer contexts"
            )
        near = max(_NEAR_TOKENS, round(_NEAR_SHARE * tokens))
        paragraph = next((start for start in before if start >= first and _begins_paragraph(text.text, start)), None)
        if paragraph is not None and text.tokens_between(first, paragraph) <= near:
            return paragraph
        return first


def last_point(source: Haystack, points: Sequence[int], *, answer_tokens: int) -> Origin:
    """The last point of the text after which the original goes on for at least `answer_tokens` tokens.

    Raises `ConfigError` for a text without one.
    """
    text = source.text
    starts = [at for at in points if text.tokens_between(at, len(text.text)) >= answer_tokens]
    if starts:
        return Origin(source=source, point=starts[-1])
    if not points:
        raise ConfigError(
            f"dataset: no sentence ends in {source.document.title} ({len(text.text):,} characters), so there is no "
            "place to go on from; give prose with punctuation, or set dataset.language"
        )
    raise ConfigError(
        f"dataset: {source.document.title} has {text.tokens:,} tokens, and after its first sentence fewer than the "
        f"{answer_tokens:,} that an answer may take; give a longer text (dataset.path), or lower task.max_tokens"
    )


def point_after(source: Haystack, points: Sequence[int], *, tokens: int, latest: Origin) -> Origin:
    """The last point with at most `tokens` tokens of text before it, and no later than `latest`."""
    text = source.text
    possible = [at for at in points if at <= latest.point]
    position = bisect_right([text.tokens_between(0, at) for at in possible], tokens)
    return Origin(source=source, point=possible[max(0, position - 1)])


def points_of(source: Haystack) -> tuple[int, ...]:
    """Where one sentence ends and another begins, neither of them a heading: the end of the first, without blanks."""
    text = source.text.text
    ends = [_end_before(text, start) for start in source.boundaries[1:]]
    # The last sentence of a text that was tokenised in part may be cut: its end is none.
    neighbours = pairwise([*ends, _end_before(text, len(text))])
    return tuple(end for end, after in neighbours if _ends_sentence(text, end) and _ends_sentence(text, after))


def _ends_sentence(text: str, end: int) -> bool:
    return text[max(0, end - _LONGEST_CLOSE) : end].rstrip(_QUOTES).endswith(tuple(_STOPS))


def _end_before(text: str, place: int) -> int:
    """The end of what stands before `place`, without the blanks between."""
    while place > 0 and text[place - 1].isspace():
        place -= 1
    return place


def _begins_paragraph(text: str, start: int) -> bool:
    return start == 0 or text.endswith("\n\n", 0, start)
