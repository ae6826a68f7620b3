"""What the tasks of word lists share: a list that fills the context, and the share of its foremost words in an answer.

After RULER's aggregation tasks (Hsieh et al. 2024, arXiv:2404.06654). There is no prose: the list is the context, and a
dataset has no part in it. A control asks the same question over a few dozen words: with the words that are asked for
(its score is the ceiling), and without them (the floor).
"""

from __future__ import annotations

import random
import re
from abc import abstractmethod
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Literal, Protocol

from pydantic import Field

from contextcliff.errors import ConfigError
from contextcliff.records.generation import Generation, Score
from contextcliff.records.sample import Prompt, Recipe, Sample, Words
from contextcliff.seeding import digest_of, seed_of
from contextcliff.settings import PositiveInt, settings
from contextcliff.tasks.grid import WHICH_SAMPLES, DesignedLengths, Maker, control_of, filled, sample_at
from contextcliff.tasks.needles.values import tag_without_value
from contextcliff.tasks.task import Materials, ScoringContext, Traits, configured

_WORD = re.compile(r"[^\W\d_]+")
_NEARLY_FULL_TOKENS = 4
"""A list this near to its length is long enough."""
_DIGEST_SHOWN = 8


class Listing(Protocol):
    """A list that is as long as it has to be, drawn once; a size is a number of words that the task counts by."""

    @property
    def answers(self) -> tuple[str, ...]:
        """The words that are asked for."""
        ...

    @property
    def opening(self) -> str:
        """What stands before the instruction: a worked example, or nothing."""
        ...

    @property
    def sizes(self) -> tuple[int, int | None]:
        """The smallest size in which the answer is right, and the largest for which there are words; None: none."""
        ...

    def text(self, size: int) -> str:
        """The list of one size."""
        ...

    def short(self, *, answered: bool) -> str:
        """A few dozen words in which the answer is right as well; or the same without the words that are asked for."""
        ...


@settings
class WordListTask(DesignedLengths):
    """A row of lengths; every sample is a list of its own."""

    instruction: str
    """Stands before the list."""
    question: Annotated[str, Field(min_length=1)]
    """Stands after it; `{count}` stands for the number of words asked for."""
    answer_format: str
    """Stands after the question."""
    max_tokens: PositiveInt
    """Tokens that an answer may take."""

    @property
    def traits(self) -> Traits:
        return replace(super().traits, takes_texts=False)

    @property
    @abstractmethod
    def asked_for(self) -> int:
        """How many words are asked for."""

    @property
    def asking(self) -> str:
        """The question with its number."""
        return filled(self.question, count=str(self.asked_for))

    @abstractmethod
    def listings(self, rng: random.Random, context_tokens: int) -> Iterator[Listing]:
        """Lists for one sample: the first that has words enough to fill the length is taken."""

    def answer_tokens(self, context_tokens: int) -> int:  # noqa: ARG002 - the same at every length
        return self.max_tokens

    def maker(self, materials: Materials) -> WordListMaker:
        return WordListMaker(
            task=self, materials=materials, asked=digest_of(dict(configured(self, but=(*WHICH_SAMPLES, "max_tokens"))))
        )

    def score(self, sample: Sample, generation: Generation, context: ScoringContext) -> Score:  # noqa: ARG002
        """The share of the words asked for that the answer names."""
        listed = next(piece.text for piece in sample.recipe.user[1:] if isinstance(piece, Words))
        return score_named(
            generation.text,
            wanted=sample.answers,
            listed=words_of(listed),
            cut_off=generation.finish_reason == "length",
        )

    def framed(self, opening: str, text: str) -> tuple[str, str, str]:
        """The three pieces of a prompt: what stands before the list, the list, and the question."""
        return f"{opening}{self.instruction}\n\n", text, f"\n\n{self.asking} {self.answer_format}".rstrip()


@dataclass(frozen=True, kw_only=True, slots=True)
class WordListMaker(Maker):
    """Makes the samples of a run. `asked` names what of the configuration determines a single sample."""

    task: WordListTask
    materials: Materials
    asked: str

    def make(self, *, context_tokens: int, depth: float | None, trial: int) -> Iterator[Sample]:
        task = self.task
        coordinates = (self.materials.seed, task.name, self.asked, context_tokens, depth, trial)
        listing, text, tokens = self._filled(seed_of(*coordinates), context_tokens)
        sample = sample_at(
            task,
            coordinates,
            context_tokens=context_tokens,
            depth=depth,
            trial=trial,
            built_tokens=tokens,
            document_id=f"words {digest_of(*coordinates)[:_DIGEST_SHOWN]}",
            question=task.asking,
            answers=listing.answers,
            recipe=self._recipe(listing, text),
            answer_tokens=task.max_tokens,
        )
        yield sample
        if task.controls:
            yield self._control(sample, "ceiling", listing)
            yield self._control(sample, "floor", listing)

    def _filled(self, seed: int, context_tokens: int) -> tuple[Listing, str, int]:
        """A list of the most words that the length holds, its text, and the tokens of the whole prompt."""
        for listing in self.task.listings(random.Random(seed), context_tokens):
            size, tokens = self._largest(listing, context_tokens)
            if size != listing.sizes[1]:
                break
        return listing, listing.text(size), tokens

    def _largest(self, listing: Listing, context_tokens: int) -> tuple[int, int]:
        """The largest size whose prompt fits, by interpolation, and the tokens of that prompt.

        Raises `ConfigError` where the smallest does not fit.
        """
        low, most = listing.sizes
        low_tokens = self._count(listing, listing.text(low))
        if low_tokens > context_tokens:
            raise ConfigError(
                f"task.lengths: {context_tokens:,} is too short: the shortest list in which the words asked for occur "
                f"most often takes {low_tokens:,} tokens with template and question; ask for longer ones"
            )
        high: int | None = None
        high_tokens = 0
        while low != most and low_tokens < context_tokens - _NEARLY_FULL_TOKENS and high != low + 1:
            if high is None:
                size = low + max(1, low * (context_tokens - low_tokens) // low_tokens)
                size = size if most is None else min(most, size)
            else:
                slope = (high - low) / (high_tokens - low_tokens)
                size = min(high - 1, max(low + 1, low + int(slope * (context_tokens - low_tokens))))
            tokens = self._count(listing, listing.text(size))
            if tokens <= context_tokens:
                low, low_tokens = size, tokens
            else:
                high, high_tokens = size, tokens
        return low, low_tokens

    def _count(self, listing: Listing, text: str) -> int:
        prompt = Prompt(user="".join(self.task.framed(listing.opening, text)))
        return self.materials.tokenizer.count_prompt(prompt)

    def _control(self, sample: Sample, kind: Literal["ceiling", "floor"], listing: Listing) -> Sample:
        text = listing.short(answered=kind == "ceiling")
        identity = (self.task.framed(listing.opening, text), listing.answers)
        recipe, tokens = self._recipe(listing, text), self._count(listing, text)
        return control_of(sample, kind, identity, recipe=recipe, tokens=tokens, named="control")

    def _recipe(self, listing: Listing, text: str) -> Recipe:
        return Recipe(user=tuple(Words(text=piece) for piece in self.task.framed(listing.opening, text)))


def words_of(text: str) -> frozenset[str]:
    """The different words of a text, in lower case."""
    return frozenset(_WORD.findall(text.casefold()))


def score_named(answer: str, *, wanted: Sequence[str], listed: Collection[str], cut_off: bool) -> Score:
    """The share of the words asked for among the first words of the list that an answer names, whole words each.

    As many count as are asked for, each once, so that an answer that recites the list finds no more than its beginning
    holds. Words that the list does not hold are talk. Tags below 1: `partial` where some are found, `wrong_words` where
    the list's other words are named, else those of an answer that names none.
    """
    text = answer.strip()
    known = {*listed, *wanted}
    named = list(dict.fromkeys(word for word in _WORD.findall(text.casefold()) if word in known))[: len(wanted)]
    found = sum(word in named for word in wanted)
    if found == len(wanted):
        failure = None
    elif named:
        failure = "partial" if found else "wrong_words"
    else:
        failure = tag_without_value(text, cut_off=cut_off)
    return Score(value=found / len(wanted), prediction="; ".join(named) or text, failure=failure)
