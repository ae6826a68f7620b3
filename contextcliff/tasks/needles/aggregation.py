"""Task `aggregation`: how often does a coded word occur, or which occurs most often?

After RULER's common- and frequent-word extraction (Hsieh et al. 2024, arXiv:2404.06654): the answer stands nowhere, it
takes every occurrence. Coined words are announced by sentences scattered evenly through the text, as often at every
length, so that only the text between them grows. Scored 1 for the right count or word.
"""

from __future__ import annotations

import json
import random
import re
from functools import cache
from importlib.resources import files
from typing import Annotated, Literal

from pydantic import Field

from contextcliff.records.generation import Generation, Score
from contextcliff.records.sample import Sample
from contextcliff.settings import Count, Int, settings
from contextcliff.tasks.grid import filled, require_fields
from contextcliff.tasks.needles.haystack import Fact, as_sentence
from contextcliff.tasks.needles.planter import Planted, SampleSite
from contextcliff.tasks.needles.planting import PlantingTask, score_planted
from contextcliff.tasks.needles.values import tag_without_value
from contextcliff.tasks.task import ScoringContext
from contextcliff.text.value_forms import WORD, numbers

_NUMERALS = tuple(
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen".split()  # noqa: SIM905
)
_NUMERAL = re.compile(rf"\b(?:{'|'.join(_NUMERALS)})\b", re.IGNORECASE)
_MARGIN = 2
"""By so many occurrences the most frequent word leads: a miscount by one is no wrong answer."""


@settings
class Aggregation(PlantingTask):
    """A row of lengths. Each of `words` coded words occurs `min_count` to `max_count` times."""

    name = "aggregation"

    mode: Literal["count", "most_frequent"]
    words: Annotated[Int, Field(ge=2, le=20)]
    min_count: Count
    max_count: Count
    template: str
    """The sentence of one occurrence; names `{word}`."""
    count_question: str
    """Names `{word}`."""
    most_frequent_question: str

    def __post_init__(self) -> None:
        super().__post_init__()
        require_fields("task.template", self.template, ("{word}",))
        require_fields("task.count_question", self.count_question, ("{word}",))
        if self.max_count < self.min_count + _MARGIN or self.max_count >= len(_NUMERALS):
            raise ValueError(
                f"task.max_count={self.max_count}: must be at least task.min_count + {_MARGIN} and at most "
                f"{len(_NUMERALS) - 1}"
            )

    def plant(self, site: SampleSite) -> Planted:
        """Every occurrence of every word, shuffled, evenly over the text."""
        rng = site.rng()
        words = rng.sample([word for word in coded_words() if not site.holds(word)], self.words)
        counts = self._counts(rng)
        occurrences = [word for word, count in zip(words, counts, strict=True) for _ in range(count)]
        rng.shuffle(occurrences)
        facts = tuple(
            Fact(text=as_sentence(filled(self.template, word=word)), depth=(position + rng.random()) / len(occurrences))
            for position, word in enumerate(occurrences)
        )
        questions = {
            "count": (filled(self.count_question, word=words[0]), str(counts[0])),
            "most_frequent": (self.most_frequent_question, words[0]),
        }
        question, answer = questions[self.mode]
        return Planted(
            facts=facts,
            evidence=tuple(range(len(facts))),
            question=question,
            answers=(answer,),
            distractors=tuple(words[1:]) if self.mode == "most_frequent" else (),
            metadata={"occurrences": counts[0]},
        )

    def score(self, sample: Sample, generation: Generation, context: ScoringContext) -> Score:
        """1 for the right count (in digits or letters), or for the right word alone."""
        if self.mode == "count":
            cut_off = generation.finish_reason == "length"
            return score_count(generation.text, expected=sample.answers[0], cut_off=cut_off)
        return score_planted(sample, generation, context, WORD)

    def _counts(self, rng: random.Random) -> list[int]:
        """How often each word occurs; the first is the one that is asked for, or the most frequent."""
        if self.mode == "count":
            return [rng.randint(self.min_count, self.max_count) for _ in range(self.words)]
        most = rng.randint(self.min_count + _MARGIN, self.max_count)
        return [most, *(rng.randint(self.min_count, most - _MARGIN) for _ in range(self.words - 1))]


def score_count(answer: str, *, expected: str, cut_off: bool) -> Score:
    """1 where the only number that an answer gives, or the last of several, is the right one."""
    text = answer.strip()
    said = numbers(_NUMERAL.sub(lambda numeral: str(_NUMERALS.index(numeral[0].lower())), text))
    if not said:
        return Score(value=0.0, prediction=text, failure=tag_without_value(text, cut_off=cut_off))
    right = said[-1] == expected
    return Score(value=float(right), prediction=said[-1], failure=None if right else "miscount")


@cache
def coded_words() -> tuple[str, ...]:
    """Coined words that occur in no ordinary text."""
    text = files("contextcliff.tasks").joinpath("needles", "coded_words.json").read_text(encoding="utf-8")
    return tuple(json.loads(text))
