"""Task `aggregation`: how often does a coded word occur, or which occurs most often?

After RULER's common- and frequent-word extraction (Hsieh et al. 2024, arXiv:2404.06654), scattered through prose: the
answer stands nowhere, and takes every occurrence. Scored 1 for the right count or word."""

from __future__ import annotations

import random
import re
from typing import Annotated, Literal

from pydantic import Field

from contextcliff.records.generation import Generation, Score
from contextcliff.records.note import Note
from contextcliff.records.sample import Sample
from contextcliff.settings import Count, Int, settings
from contextcliff.tasks.grid import filled, naming
from contextcliff.tasks.needles.haystack import fact
from contextcliff.tasks.needles.planting import Planted, PlantingTask, SampleSite, word_file
from contextcliff.tasks.task import ScoringContext
from contextcliff.tasks.values import score_value, tag_without_value
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
    claim = Note("In a counting test {whether}the model answers {share} questions right in prompts of {lengths}")

    mode: Literal["count", "most_frequent"]
    words: Annotated[Int, Field(ge=2, le=20)]
    min_count: Count
    max_count: Count
    template: Annotated[str, naming("{word}")]
    count_question: Annotated[str, naming("{word}")]
    most_frequent_question: str

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.max_count < self.min_count + _MARGIN or self.max_count >= len(_NUMERALS):
            raise ValueError(
                f"task.max_count={self.max_count}: must be at least task.min_count + {_MARGIN} and at most "
                f"{len(_NUMERALS) - 1}"
            )

    def plant(self, site: SampleSite) -> Planted:
        rng = site.rng
        words = rng.sample([word for word in word_file("coded_words.json") if not site.holds(word)], self.words)
        counts = self._counts(rng)
        occurrences = [word for word, count in zip(words, counts, strict=True) for _ in range(count)]
        rng.shuffle(occurrences)
        counts_it = self.mode == "count"
        return Planted(
            facts=[
                fact(self.template, (position + rng.random()) / len(occurrences), word=word)
                for position, word in enumerate(occurrences)
            ],
            evidence=range(len(occurrences)),
            question=filled(self.count_question, word=words[0]) if counts_it else self.most_frequent_question,
            answers=(str(counts[0]),) if counts_it else (words[0],),
            distractors=() if counts_it else tuple(words[1:]),
            metadata={"occurrences": counts[0]},
        )

    def score(self, sample: Sample, generation: Generation, context: ScoringContext) -> Score:
        if self.mode != "count":
            return score_value(sample, generation, context, WORD)
        text = generation.text.strip()
        said = numbers(_NUMERAL.sub(lambda numeral: str(_NUMERALS.index(numeral[0].lower())), text))
        if not said:
            return Score(value=0.0, prediction=text, failure=tag_without_value(generation))
        right = said[-1] == sample.answers[0]
        return Score(value=float(right), prediction=said[-1], failure=None if right else "miscount")

    def _counts(self, rng: random.Random) -> list[int]:
        if self.mode == "count":
            return [rng.randint(self.min_count, self.max_count) for _ in range(self.words)]
        most = rng.randint(self.min_count + _MARGIN, self.max_count)
        return [most, *(rng.randint(self.min_count, most - _MARGIN) for _ in range(self.words - 1))]
