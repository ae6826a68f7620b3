"""The interface of a tokenizer, prompts as it counts them, and texts that are tokenised once and cut by offsets."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol, runtime_checkable
from unicodedata import category, east_asian_width

from contextcliff.records.sample import Prompt

_MAX_WORD = 40
"""Characters. A longer run without a blank is cut inside."""
_CLOSING = frozenset({"Pe", "Pf", "Po"})
"""Unicode categories of closing brackets and quotation marks and of other punctuation; no Japanese line begins so."""


class Tokenizer(Protocol):
    """Counts and locates tokens as the model under test does."""

    @property
    def name(self) -> str:
        """Where the tokens come from, for the report: `llamacpp:SmolLM2…gguf`, `words`."""
        ...

    def starts(self, text: str) -> Sequence[int]:
        """Character offset of every token of `text`, ascending; the first is 0."""
        ...

    def count_prompt(self, prompt: Prompt) -> int:
        """Tokens of the whole request, with chat template and generation prompt."""
        ...


@runtime_checkable
class CountsSeveral(Protocol):
    """A tokenizer that one question about several texts costs less than one about each."""

    def counts(self, texts: Sequence[str]) -> Sequence[int]:
        """Tokens of each text, without special tokens."""
        ...


def token_counts(texts: Sequence[str], tokenizer: Tokenizer) -> Sequence[int]:
    """Tokens of each text, without special tokens."""
    if isinstance(tokenizer, CountsSeveral):
        return tokenizer.counts(texts)
    return [len(tokenizer.starts(text)) for text in texts]


@dataclass(frozen=True, kw_only=True, slots=True)
class TokenisedText:
    """A text with its token offsets. Counting and cutting are then lookups, even at a million tokens."""

    text: str
    starts: Sequence[int]
    """Character offset of every token."""
    longest_word: int = _MAX_WORD

    @property
    def tokens(self) -> int:
        """Tokens of the whole text."""
        return len(self.starts)

    def tokens_between(self, start: int, end: int) -> int:
        """Tokens that begin in `text[start:end]`."""
        return bisect_left(self.starts, end) - bisect_left(self.starts, start)

    def end_for(self, start: int, tokens: int) -> int:
        """The largest end of a word with at most `tokens` tokens in `text[start:end]`; `start` if no word fits."""
        first = bisect_left(self.starts, start)
        last = first + tokens
        if last >= len(self.starts):
            return len(self.text)
        return self._word_end(start, self.starts[last])

    def start_for(self, end: int, tokens: int) -> int:
        """The smallest start of a word with at most `tokens` tokens in `text[start:end]`; `end` if no word fits."""
        last = bisect_left(self.starts, end)
        if tokens >= last:
            return 0
        return self._word_start(self.starts[last - tokens], end) if tokens > 0 else end

    def _word_start(self, start: int, end: int) -> int:
        """The first word start in `[start, end)`; `end` without one, or `start` in a run longer than any word."""
        latest = min(end, start + self.longest_word)
        place = next((place for place in range(start, latest) if _begins_word(self.text, place)), None)
        return place if place is not None else end if latest == end else start

    def _word_end(self, start: int, end: int) -> int:
        """The last word boundary in `(start, end]`; `start` without one, or `end` in a run longer than any word."""
        if end >= len(self.text):
            return end
        earliest = max(start, end - self.longest_word)
        place = next((place for place in range(end, earliest, -1) if is_between_words(self.text, place)), None)
        return place if place is not None else start if earliest == start else end


def is_between_words(text: str, place: int) -> bool:
    """Whether a text can be cut before the character at `place`, which must be inside the text."""
    before, after = text[place - 1], text[place]
    # Chinese and Japanese set no spaces: a text can be cut at every character.
    return after.isspace() or is_wide(after) or is_wide(before)


def _begins_word(text: str, place: int) -> bool:
    """Whether a text can start with the character at `place`: after a blank, or in a script without blanks."""
    if place == 0 or text[place].isspace():
        return place == 0
    if text[place - 1].isspace():
        return True
    return (is_wide(text[place]) or is_wide(text[place - 1])) and category(text[place]) not in _CLOSING


def is_wide(character: str) -> bool:
    """Whether a character is Chinese, Japanese or Korean, or as wide: such scripts set no blanks between words."""
    return east_asian_width(character) in "WF"


def tokenise(text: str, tokenizer: Tokenizer, *, longest_word: int = _MAX_WORD) -> TokenisedText:
    """The text with its token offsets."""
    return TokenisedText(text=text, starts=tokenizer.starts(text), longest_word=longest_word)


def counted_starts(text: str, count: Callable[[str], int]) -> Sequence[int]:
    """Character offset of every token of `text`, from the token counts of blocks of a line or two. Exact at the start
    of each block, and spread evenly inside it: off by a few tokens at most."""
    starts: list[int] = []
    for block in blocks(text):
        tokens = count(text[block])
        width = block.stop - block.start
        starts.extend(block.start + width * index // tokens for index in range(tokens))
    return starts


def blocks(text: str, *, characters: int = 160) -> Sequence[slice]:
    """Consecutive slices that cover `text`: up to `characters` each, ending before a blank where there is one.

    A blank goes with the word after it, as in the common vocabularies, so that the counts of the blocks add up to that
    of the text."""
    slices, start = list[slice](), 0
    while start < len(text):
        end = min(len(text), start + characters)
        if end < len(text):
            blank = max(text.rfind(" ", start + 1, end), text.rfind("\n", start + 1, end))
            end = blank if blank > start else end
        slices.append(slice(start, end))
        start = end
    return slices


_TOKENS_PER_MESSAGE = 4
"""Role and separators of a message in the common templates; the start of the answer takes as many."""


def framed_tokens(prompt: Prompt, count: Callable[[str], int]) -> int:
    """Tokens of the messages by `count`, plus an estimate for the template around each of them and the answer."""
    parts = messages(prompt)
    return sum(count(part["content"]) for part in parts) + _TOKENS_PER_MESSAGE * (len(parts) + 1)


def messages(prompt: Prompt) -> list[dict[str, str]]:
    """A prompt as chat messages, the last of them the user's."""
    said = [("system", prompt.system)] if prompt.system is not None else []
    for turn in prompt.turns:
        said += [("user", turn.user), ("assistant", turn.assistant)]
    return [{"role": role, "content": content} for role, content in (*said, ("user", prompt.user))]


PLAIN_USER = "User:"
_PLAIN_ASSISTANT = "Assistant:"


def plain_text(prompt: Prompt) -> str:
    """A prompt as one text, for base models: paragraphs with a blank line between them.

    In a conversation each message has its speaker before it, and the text ends with `Assistant:`. A prompt of one user
    message is that message, after the system's."""
    system = [] if prompt.system is None else [prompt.system]
    if not prompt.turns:
        return "\n\n".join([*system, prompt.user])
    turns = [f"{PLAIN_USER} {turn.user}\n\n{_PLAIN_ASSISTANT} {turn.assistant}" for turn in prompt.turns]
    return "\n\n".join([*system, *turns, f"{PLAIN_USER} {prompt.user}", _PLAIN_ASSISTANT])


def plain_tokens(prompt: Prompt, count: Callable[[str], int]) -> int:
    """Tokens of a prompt that is sent as plain text."""
    return count(plain_text(prompt))


# ---------------------------------------------------------------- what short texts add to a long one

_SEAM_CHARACTERS = 60
"""No token reaches further than a word."""
_PROBED_SEAMS = 16
_PROBED_CHARACTERS = 200
_PROBE, _WIDE_PROBE = "It is so. ", "これはそうです。"
_MOST_KEPT = 256
"""Counts. Needles hardly ever come again, and what stands around them does."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Seams:
    """The places between the sentences of a text, where other sentences go in.

    Tokens split anew where texts meet. A text is therefore counted between its neighbours, less their own count: at
    the place where a short sentence adds most, so that it is known before its place, or in its place."""

    text: str
    place: int
    """Where a short sentence adds most."""
    tokenizer: Tokenizer
    _kept: dict[str | Prompt, int] = field(default_factory=dict, repr=False, compare=False)

    def count(self, *, between: Sequence[str], behind: Sequence[str]) -> tuple[list[int], list[int]]:
        """Tokens that each text adds between two sentences, and behind the last one. One request at most."""
        left, right = _sides(self.text, self.place)
        inside = [f"{left}{text}{right}" for text in between]
        at_end = [f"{left}{text}" for text in behind]
        bare = f"{left}{right}"
        known = self._counted([*inside, *at_end, bare, left])
        return [known[text] - known[bare] for text in inside], [known[text] - known[left] for text in at_end]

    def before(self, text: str) -> int:
        """Tokens of the chat template and of a text before the first sentence."""
        right = _sides(self.text, self.place)[1].rstrip()  # chat templates strip messages
        if (prompt := Prompt(user=f"{text}{right}")) not in self._kept:
            self._kept[prompt] = self.tokenizer.count_prompt(prompt) - self._counted([right])[right]
        return self._kept[prompt]

    def added(self, texts: Mapping[int, str]) -> int:
        """Tokens that texts add at the places where they go in. One request at most."""
        sides = {place: _sides(self.text, place) for place in texts}
        filled = [f"{left}{texts[place]}{right}" for place, (left, right) in sides.items()]
        bare = [f"{left}{right}" for left, right in sides.values()]
        known = self._counted([*filled, *bare])
        return sum(known[text] for text in filled) - sum(known[text] for text in bare)

    def _counted(self, texts: Iterable[str]) -> dict[str, int]:
        texts = dict.fromkeys(texts)
        unknown = [text for text in texts if text not in self._kept]
        counts = {text: self._kept[text] for text in texts if text in self._kept}
        if unknown:
            counts |= zip(unknown, token_counts(unknown, self.tokenizer), strict=True)
            if len(self._kept) > _MOST_KEPT:
                self._kept.clear()
            self._kept.update(counts)
        return counts


def seams_of(text: str, boundaries: Sequence[int], tokenizer: Tokenizer) -> Seams:
    """The seams of a text whose sentences begin at `boundaries`. One request."""
    inside = [start for start in boundaries if 0 < start < len(text)] or [0]
    step = max(1, len(inside) // _PROBED_SEAMS)
    places = inside[::step][:_PROBED_SEAMS]
    wide = sum(map(is_wide, text[:_PROBED_CHARACTERS])) > min(len(text), _PROBED_CHARACTERS) // 2
    probe = _WIDE_PROBE if wide else _PROBE
    sides = [_sides(text, place) for place in places]
    counts = token_counts([f"{left}{said}{right}" for left, right in sides for said in (probe, "")], tokenizer)
    added = [with_probe - bare for with_probe, bare in zip(counts[::2], counts[1::2], strict=True)]
    return Seams(text=text, place=places[added.index(max(added))], tokenizer=tokenizer)


def _sides(text: str, place: int) -> tuple[str, str]:
    return text[max(0, place - _SEAM_CHARACTERS) : place], text[place : place + _SEAM_CHARACTERS]
