"""Contexts of the task `continuation`: their lengths, the point where all end, and how far back each reaches."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise

from contextcliff.errors import ConfigError
from contextcliff.records.corpus import Document
from contextcliff.tasks.needles.haystack import Haystack, prepare
from contextcliff.text.sentences import parts_sentences
from contextcliff.text.tokens import Tokenizer


def context_tiers(*, start: int, longest: int, divisions: int, answer_tokens: int) -> tuple[int, ...]:
    """Lengths in tokens: powers of two from `start` and twice the answer on, up to `longest`, which is one itself.

    `divisions` geometric points are put inside each octave: one between 2,048 and 4,096 is 2,896. Raises `ConfigError`
    for divisions that are neither 0 nor a power of two, and where `longest` has no room for twice the answer."""
    if divisions < 0 or divisions & (divisions - 1):
        below = 1 << (divisions.bit_length() - 1) if divisions > 0 else 0
        raise ConfigError(f"task.divisions={divisions}: must be 0 or a power of two; take {below} or {2 * below or 1}")
    least = 2 * answer_tokens
    if longest < max(least, 1):
        raise ConfigError(
            f"the longest context has {longest:,} tokens, and an answer of {answer_tokens:,} needs {least:,}; ask for "
            "a shorter answer, or give a longer context"
        )
    tiers = {longest}
    octave = 1 << (max(start, least, 1) - 1).bit_length()
    while octave <= longest:
        steps = (round(octave * 2 ** (step / (divisions + 1))) for step in range(divisions + 1))
        tiers.update(tier for tier in steps if tier <= longest)
        octave *= 2
    return tuple(sorted(tiers))


_QUOTES = "\"'”’»」』)]*_"
_STOPS = ".!?…。！？।॥۔؟։။។።"
"""What a sentence ends in, with quotes and brackets after it: a heading has none of it."""
_LONGEST_CLOSE = 8


def points_for(
    document: Document, tokenizer: Tokenizer, *, before_tokens: int, answer_tokens: int
) -> tuple[Haystack, tuple[int, ...]]:
    """A text and its points, ascending, after which it goes on for at least `answer_tokens` tokens.

    As much of the text is tokenised as it takes to find one with `before_tokens` tokens before it; all where none has.
    Raises `ConfigError` for a text without any."""
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
        return source, places
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
    text = source.text.text
    ends = [(_end_before(text, start), parts_sentences(text, start)) for start in source.boundaries[1:]]
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


_LEFT_OVER, _LONG_SENTENCE_TOKENS = 0.02, 64
"""What a context may fall short of its length to begin with a sentence: a share, and tokens of a short length."""


def starts_for(source: Haystack, point: int, tiers: Sequence[int], *, taken: int) -> Mapping[int, int]:
    """Where the text of each of `tiers`, ascending, begins; `taken` of its tokens are not the text's. Raises
    `ConfigError` for a length with no room for a word, and for two that would make the same prompt."""
    starts: dict[int, int] = {}
    for context_tokens in tiers:
        tokens, last = context_tokens - taken, next(reversed(starts), 0)
        earliest = source.text.start_for(point, tokens)
        if earliest == point:
            raise ConfigError(
                f"dataset: the last word of {source.document.title} before the continuation point takes more "
                f"than the {tokens:,} tokens that a context of {context_tokens:,} has for text; give another text, or "
                "longer contexts"
            )
        spare = max(round(_LEFT_OVER * context_tokens), _LONG_SENTENCE_TOKENS)
        candidates = (_start(source, point, tokens, earliest=earliest, spare=spare), earliest)
        start = next((each for each in candidates if each < starts.get(last, point)), None)
        if start is None:
            raise ConfigError(
                f"task.lengths: {last:,} and {context_tokens:,} tokens make the same prompt; ask "
                "for lengths that are further apart, or lower task.divisions"
            )
        starts[context_tokens] = start
    return starts


def start_notes(source: Haystack, starts: Mapping[int, int]) -> Iterator[str]:
    """What a reader has to know of contexts that begin inside a sentence."""
    inside = [f"{tokens:,}" for tokens, start in starts.items() if start not in source.boundaries]
    if inside:
        yield (
            f"{len(inside)} of {len(starts)} contexts begin inside a sentence, at a word: those of "
            f"{', '.join(inside)} tokens; to begin with one they would be more than {_LEFT_OVER:.0%} and "
            f"{_LONG_SENTENCE_TOKENS} tokens short, or the same as another"
        )


def _start(source: Haystack, point: int, tokens: int, *, earliest: int, spare: int) -> int:
    """The first paragraph that leaves at most `spare` tokens over, else the first sentence, else the word."""
    text = source.text
    near = [
        at for at in source.boundaries if earliest <= at < point and tokens - text.tokens_between(at, point) <= spare
    ]
    paragraphs = (at for at in near if at == 0 or text.text.endswith("\n\n", 0, at))
    return next(paragraphs, near[0] if near else earliest)
