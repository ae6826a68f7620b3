"""Tasks `common_words` and `frequent_words`: which words of a long list occur most often?

After RULER's aggregation tasks (Hsieh et al. 2024, arXiv:2404.06654). A control asks the same over a few dozen words:
with the words that are asked for (its score is the ceiling), and without them (the floor). Scored by the share of the
words asked for that the answer names; `docs/ruler.md` has what differs."""

from __future__ import annotations

import math
import random
import re
from abc import abstractmethod
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files
from string import ascii_lowercase
from sys import maxsize
from typing import Annotated, Literal

from pydantic import Field

from contextcliff.records.generation import Generation, Score
from contextcliff.records.note import Note
from contextcliff.records.sample import Prompt, Recipe, Sample, Words
from contextcliff.seeding import digest_of, seed_of
from contextcliff.settings import Count, Float, Int, NonNegativeInt, PositiveInt, settings
from contextcliff.tasks.grid import WHICH_SAMPLES, DesignedLengths, filled, fit
from contextcliff.tasks.task import Cell, Maker, Materials, ScoringContext, Traits, configured, control_of, sample_at
from contextcliff.tasks.values import tag_without_value
from contextcliff.text.value_forms import WORD

_WORD = re.compile(r"[^\W\d_]+")
_NEARLY_FULL_TOKENS = 4
"""A list this near to its length is long enough."""
_CONTROL_LEADS = 2


@dataclass(frozen=True, kw_only=True, slots=True)
class Listing:
    """A list of any size, drawn once; its size is a number of words that the task counts by."""

    answers: tuple[str, ...]
    opening: str = ""
    least: int
    most: int = maxsize
    text: Callable[[int], str]
    short: Callable[[bool], str]
    """A few dozen words in which the answer is right as well; or, not answered, without the words asked for."""


@settings
class WordListTask(DesignedLengths):
    """A row of lengths; every sample is a list of its own."""

    claim = Note("In a test of word lists {whether}the model names {share} words asked for in prompts of {lengths}")
    instruction: str
    question: Annotated[str, Field(min_length=1)]
    answer_format: str
    max_tokens: PositiveInt

    @property
    def traits(self) -> Traits:
        return replace(super().traits, takes_texts=False)

    @property
    @abstractmethod
    def asked_for(self) -> int:
        """How many words are asked for."""

    @abstractmethod
    def listings(self, rng: random.Random, context_tokens: int) -> Iterator[Listing]:
        """Lists for one sample: the first that has words enough to fill the length is taken."""

    def answer_tokens(self, context_tokens: int) -> int:  # noqa: ARG002 - the same at every length
        return self.max_tokens

    def maker(self, materials: Materials) -> WordListMaker:
        asked = digest_of(configured(self, but=(*WHICH_SAMPLES, "max_tokens")))
        return WordListMaker(task=self, materials=materials, asked=asked)

    def score(self, sample: Sample, generation: Generation, context: ScoringContext) -> Score:  # noqa: ARG002
        """The share of the words asked for among the first words of the list that an answer names, whole words each.

        As many count as are asked for, so that an answer that recites the list finds no more than its beginning holds.
        Tags below 1: `partial`, `wrong_words` (none is right), else those of an answer that names none."""
        text, wanted = generation.text.strip(), sample.answers
        listed = next(piece.text for piece in sample.recipe.user[1:] if isinstance(piece, Words))
        known = {*_words_of(listed), *wanted}
        named = list(dict.fromkeys(word for word in _WORD.findall(text.casefold()) if word in known))[: len(wanted)]
        found = sum(word in named for word in wanted)
        failure = None if found == len(wanted) else "partial" if found else "wrong_words"
        failure = failure if named else tag_without_value(generation)
        return Score(value=found / len(wanted), prediction="; ".join(named) or text, failure=failure)

    @property
    def asking(self) -> str:
        return filled(self.question, count=str(self.asked_for))

    def framed(self, opening: str, text: str) -> tuple[str, str, str]:
        return f"{opening}{self.instruction}\n\n", text, f"\n\n{self.asking} {self.answer_format}".rstrip()


@dataclass(frozen=True, kw_only=True, slots=True)
class WordListMaker(Maker):
    """Makes the samples of a run. `asked` names what of the configuration determines a single sample."""

    task: WordListTask
    materials: Materials
    asked: str

    def make(self, at: Cell) -> Iterator[Sample]:
        task = self.task
        coordinates = (self.materials.seed, task.name, self.asked, *at)
        listing, text = self._longest(random.Random(seed_of(*coordinates)), at[0])
        recipe, tokens = self._asking(listing, text)
        sample = sample_at(
            task,
            coordinates,
            at,
            built_tokens=tokens,
            document_id=f"words {digest_of(*coordinates)[:8]}",
            question=task.asking,
            answers=listing.answers,
            recipe=recipe,
            answer_tokens=task.max_tokens,
        )
        yield sample
        if task.controls:
            yield self._control(sample, "ceiling", listing)
            yield self._control(sample, "floor", listing)

    def _longest(self, rng: random.Random, context_tokens: int) -> tuple[Listing, str]:
        for listing in self.task.listings(rng, context_tokens):
            size = fit(
                lambda size: self._asking(listing, listing.text(size))[1],  # noqa: B023 - called here alone
                context_tokens,
                least=listing.least,
                most=listing.most,
                near=_NEARLY_FULL_TOKENS,
            )
            if size != listing.most:
                break
        return listing, listing.text(size)

    def _control(self, sample: Sample, kind: Literal["ceiling", "floor"], listing: Listing) -> Sample:
        text = listing.short(kind == "ceiling")
        identity = (self.task.framed(listing.opening, text), listing.answers)
        recipe, tokens = self._asking(listing, text)
        return control_of(sample, kind, identity, recipe=recipe, tokens=tokens, named="control")

    def _asking(self, listing: Listing, text: str) -> tuple[Recipe, int]:
        pieces = self.task.framed(listing.opening, text)
        tokens = self.materials.tokenizer.count_prompt(Prompt(user="".join(pieces)))
        return Recipe(user=tuple(Words(text=piece) for piece in pieces)), tokens


@settings
class CommonWords(WordListTask):
    """A row of lengths. `common_words` words occur `common_count` times, all others `other_count` times.

    RULER's common word extraction: as a list gets longer, these counts stay and the number of other words grows. A
    short list with its answer stands before it; its words are none of the list's."""

    name = "common_words"

    common_words: Annotated[Int, Field(ge=1, le=100)]
    common_count: Count
    other_count: Count
    short_below: NonNegativeInt
    short_common_count: Count
    short_other_count: Count
    example: bool

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

    def listings(self, rng: random.Random, context_tokens: int) -> Iterator[Listing]:
        is_short = context_tokens < self.short_below
        framing = _words_of("".join(self.framed("", "")))
        known = [word for word in english_words() if word not in framing]
        words = rng.sample(known, len(known))
        seed = rng.getrandbits(32)
        yield self._listing(words, seed, is_short=is_short, is_endless=False)
        other_count = self.short_other_count if is_short else self.other_count
        coined = list(dict.fromkeys(WORD.draw(rng) for _ in range(context_tokens // other_count + len(words))))
        yield self._listing(coined, seed, is_short=is_short, is_endless=True)

    def _listing(self, words: Sequence[str], seed: int, *, is_short: bool, is_endless: bool) -> Listing:
        """The first words are asked for, those of the worked example follow; its counts are RULER's."""
        count = self.common_words
        common = self.short_common_count if is_short else self.common_count
        other = self.short_other_count if is_short else self.other_count
        example_common, example_other, for_each = (3, 1, 2) if is_short else (10, 3, 4)
        answers, example = words[:count], words[count : count + count * for_each] if self.example else []
        others = words[count + len(example) :]

        def numbered(words: Sequence[str], others: Sequence[str], times: int, other_times: int) -> str:
            found = [word for word in words for _ in range(times)]
            found += [word for word in others for _ in range(other_times)]
            random.Random(seed).shuffle(found)
            return _numbered(found)

        opening = ""
        if example:
            shown, besides = example[:count], example[count:]
            pieces = self.framed("", numbered(shown, besides, example_common, example_other))
            opening = f"{''.join(pieces)}\n{_numbered(shown)}\n\n"
        return Listing(
            answers=tuple(answers),
            opening=opening,
            least=count,
            most=maxsize if is_endless else len(others),
            text=lambda size: numbered(answers, others[:size], common, other),
            short=lambda answered: numbered(answers if answered else [], others[:count], 3, 1),
        )


@settings
class FrequentWords(WordListTask):
    """A row of lengths. The words after the first in frequency are asked for, `frequent_words` of them.

    RULER's frequent word extraction: of N words of random letters the k-th most frequent occurs N·k^−α / ζ(α) times,
    rounded down; the most frequent of all is a noise word (dots). Length grows N and the vocabulary."""

    name = "frequent_words"

    frequent_words: Annotated[Int, Field(ge=1, le=20)]
    alpha: Annotated[Float, Field(gt=1.0, le=4.0)]
    letters: Annotated[Int, Field(ge=4, le=20)]
    tokens_per_word: PositiveInt
    noise: Annotated[str, Field(min_length=1)]

    @property
    def asked_for(self) -> int:
        return self.frequent_words

    def listings(self, rng: random.Random, context_tokens: int) -> Iterator[Listing]:
        from scipy.special import zeta

        asked = self.frequent_words
        words = {self.noise: None}
        for_length = 1 + max(asked + 1, context_tokens // self.tokens_per_word - 1)
        while len(words) < for_length:
            words["".join(rng.choices(ascii_lowercase, k=self.letters))] = None
        whole = float(zeta(self.alpha))
        shares = [rank**-self.alpha / whole for rank in range(1, for_length + 1)]
        answers, seed = tuple(words)[1 : 1 + asked], rng.getrandbits(32)
        lead = shares[asked] - shares[asked + 1]

        def text(size: int, without: Collection[str] = ()) -> str:
            pairs = zip(words, shares, strict=True)
            found = [word for word, share in pairs if word not in without for _ in range(int(size * share))]
            random.Random(seed).shuffle(found)
            return " ".join(found)

        yield Listing(
            answers=answers,
            least=math.ceil(1 / lead),
            text=text,
            short=lambda answered: text(math.ceil(_CONTROL_LEADS / lead), () if answered else answers),
        )


def _numbered(words: Sequence[str]) -> str:
    return " ".join(f"{place}. {word}" for place, word in enumerate(words, start=1))


def _words_of(text: str) -> frozenset[str]:
    return frozenset(_WORD.findall(text.casefold()))


@cache
def english_words() -> tuple[str, ...]:
    """Words of this project's stories, four to ten letters each, none of them a word that answers begin with."""
    return tuple(files("contextcliff.tasks").joinpath("english_words.txt").read_text(encoding="utf-8").split())
