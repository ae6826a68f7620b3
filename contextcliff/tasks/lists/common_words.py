"""Task `common_words`: which words of a long numbered list occur more often than the others?

RULER's common word extraction (Hsieh et al. 2024, arXiv:2404.06654): ten words occur 30 times each among others that
occur 3 times each; below 4,096 tokens, where that leaves no room, 6 times among others that occur once. These counts
stay the same as the list gets longer, and the number of other words grows. A short list with its answer stands before
it, as in RULER. Scored by the share of the ten that the answer names.

Other than in RULER, the words are this project's, the worked example has none of the list's words, what is found are
whole words (`art` is not in `party`), and only the first ten words of the list that an answer names count.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Annotated

from pydantic import Field

from contextcliff.settings import Count, Int, NonNegativeInt, settings
from contextcliff.tasks.lists.word_list import WordListTask, words_of
from contextcliff.text.value_forms import WORD


@dataclass(frozen=True, kw_only=True, slots=True)
class Design:
    """How often the common words and the others occur, in the list and in the worked example before it."""

    common: int
    other: int
    example_common: int
    example_other: int
    example_words: int
    """For each common word, that one included."""


@settings
class CommonWords(WordListTask):
    """A row of lengths. `common_words` words occur `common_count` times, all others `other_count` times."""

    name = "common_words"

    common_words: Annotated[Int, Field(ge=1, le=100)]
    """How many words are asked for."""
    common_count: Count
    other_count: Count
    short_below: NonNegativeInt
    """Tokens below which the next two keys stand for the two before."""
    short_common_count: Count
    short_other_count: Count
    example: bool
    """Whether a short list with its answer stands before the list."""

    def __post_init__(self) -> None:
        super().__post_init__()
        for prefix, common, other in (
            ("", self.common_count, self.other_count),
            ("short_", self.short_common_count, self.short_other_count),
        ):
            if common <= other:
                raise ValueError(
                    f"task.{prefix}common_count={common}: must be above task.{prefix}other_count={other}, so that the "
                    "common words occur most often"
                )

    @property
    def asked_for(self) -> int:
        return self.common_words

    def design(self, context_tokens: int) -> Design:
        """How often words occur at a length; those of the example are RULER's."""
        if context_tokens < self.short_below:
            common, other = self.short_common_count, self.short_other_count
            return Design(common=common, other=other, example_common=3, example_other=1, example_words=2)
        return Design(
            common=self.common_count, other=self.other_count, example_common=10, example_other=3, example_words=4
        )

    def listings(self, rng: random.Random, context_tokens: int) -> Iterator[NumberedList]:
        """A list of English words; where it would need more of them than there are, one of coined words alone."""
        design = self.design(context_tokens)
        framing = words_of("".join(self.framed("", "")))
        known = [word for word in english_words() if word not in framing]
        words = rng.sample(known, len(known))
        seed = rng.getrandbits(32)
        yield self._of(words, design, seed, endless=False)
        coined = list(dict.fromkeys(WORD.draw(rng) for _ in range(context_tokens // design.other + len(words))))
        yield self._of(coined, design, seed, endless=True)

    def _of(self, words: Sequence[str], design: Design, seed: int, *, endless: bool) -> NumberedList:
        count, in_example = self.common_words, self.common_words * design.example_words
        example = words[count : count + in_example] if self.example else ()
        opening = ""
        if example:
            shown = repeated(example[:count], design.example_common) + repeated(example[count:], design.example_other)
            random.Random(seed).shuffle(shown)
            pieces = self.framed("", numbered(shown))
            opening = f"{''.join(pieces)}\n{numbered(example[:count])}\n\n"
        return NumberedList(
            answers=tuple(words[:count]),
            opening=opening,
            others=words[count + len(example) :],
            design=design,
            seed=seed,
            endless=endless,
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class NumberedList:
    """A shuffled, numbered list; its size is the number of other words in it."""

    answers: tuple[str, ...]
    opening: str
    others: Sequence[str]
    design: Design
    seed: int
    endless: bool
    """Whether there are more other words than any length takes."""

    @property
    def sizes(self) -> tuple[int, int | None]:
        """From as many other words as common ones to all of them."""
        return len(self.answers), None if self.endless else len(self.others)

    def text(self, size: int) -> str:
        """The common words and `size` others, each as often as the design says."""
        return self._shuffled(
            repeated(self.answers, self.design.common) + repeated(self.others[:size], self.design.other)
        )

    def short(self, *, answered: bool) -> str:
        """As many others as common words, each as often as in the worked example of a short list."""
        common = repeated(self.answers, 3) if answered else []
        return self._shuffled(common + list(self.others[: len(self.answers)]))

    def _shuffled(self, words: list[str]) -> str:
        random.Random(self.seed).shuffle(words)
        return numbered(words)


def repeated(words: Sequence[str], times: int) -> list[str]:
    """Every word so many times."""
    return [word for word in words for _ in range(times)]


def numbered(words: Sequence[str]) -> str:
    """The words on one line, each with its number."""
    return " ".join(f"{place}. {word}" for place, word in enumerate(words, start=1))


@cache
def english_words() -> tuple[str, ...]:
    """Words of this project's stories, four to ten letters each, none of them a word that answers begin with."""
    text = files("contextcliff.tasks").joinpath("lists", "english_words.txt").read_text(encoding="utf-8")
    return tuple(text.split())
