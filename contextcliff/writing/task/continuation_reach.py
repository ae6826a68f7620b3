"""How far back from the continuation point each context reaches.

A context is as long as was asked for, less a fiftieth or a long sentence at most: it begins with a paragraph or a
sentence where that costs no more, else with a word, and a note says so.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from contextcliff.errors import ConfigError
from contextcliff.writing.task.continuation_point import Origin

_LEFT_OVER = 0.02
"""Of the length asked for: what a context may fall short of it to begin with a sentence."""
_LONG_SENTENCE_TOKENS = 64
"""What it may fall short of a short length: prose then begins with a sentence at every length."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Reach:
    """Where the text of one length begins."""

    context_tokens: int
    start: int
    inside: bool
    """Whether that is inside a sentence."""


def reaches(origin: Origin, tiers: Sequence[int], *, taken: int) -> tuple[Reach, ...]:
    """One for each of `tiers`, ascending, `taken` tokens of which are not the text's; each holds more than the last.

    Raises `ConfigError` for a length with no room for a word, and for two that would make the same prompt.
    """
    reached: list[Reach] = []
    for context_tokens in tiers:
        tokens = context_tokens - taken
        earliest = origin.source.text.start_for(origin.point, tokens)
        if earliest == origin.point:
            raise ConfigError(
                f"dataset: the last word of {origin.source.document.title} before the continuation point takes more "
                f"than the {tokens:,} tokens that a context of {context_tokens:,} has for text; give another text, or "
                "longer contexts"
            )
        start = _start(origin, tokens, earliest=earliest, spare=_spare(context_tokens))
        if reached and start >= reached[-1].start:
            start = earliest
        if reached and start >= reached[-1].start:
            raise ConfigError(
                f"task.lengths: {reached[-1].context_tokens:,} and {context_tokens:,} tokens make the same prompt; ask "
                "for lengths that are further apart, or lower task.divisions"
            )
        is_inside = start not in origin.source.boundaries
        reached.append(Reach(context_tokens=context_tokens, start=start, inside=is_inside))
    return tuple(reached)


def reach_notes(reached: Sequence[Reach]) -> Iterator[str]:
    """What a reader has to know of contexts that begin inside a sentence."""
    inside = [f"{one.context_tokens:,}" for one in reached if one.inside]
    if inside:
        yield (
            f"{len(inside)} of {len(reached)} contexts begin inside a sentence, at a word: those of "
            f"{', '.join(inside)} tokens; to begin with one they would be more than {_LEFT_OVER:.0%} and "
            f"{_LONG_SENTENCE_TOKENS} tokens short, or the same as another"
        )


def _spare(context_tokens: int) -> int:
    return max(round(_LEFT_OVER * context_tokens), _LONG_SENTENCE_TOKENS)


def _start(origin: Origin, tokens: int, *, earliest: int, spare: int) -> int:
    """The first paragraph that leaves at most `spare` tokens over, else the first sentence, else the word."""
    text = origin.source.text
    near = [
        at
        for at in origin.source.boundaries
        if earliest <= at < origin.point and tokens - text.tokens_between(at, origin.point) <= spare
    ]
    paragraphs = (at for at in near if at == 0 or text.text.endswith("\n\n", 0, at))
    return next(paragraphs, near[0] if near else earliest)
