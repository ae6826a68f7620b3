"""Task `niah`: one needle in a haystack.

Kamradt's test (2023, LLMTest_NeedleInAHaystack). A dynamic needle is that of the Gemini 1.5 report (Gemini Team 2024,
arXiv:2403.05530), a city and its number; coined words as keys make it RULER's (Hsieh et al. 2024, arXiv:2404.06654). A
static one is one statement for all samples. Scored 1 where the answer holds what was hidden, else 0 with a tag."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar, Literal, NoReturn

from contextcliff.errors import ConfigError
from contextcliff.records.generation import Generation, Score
from contextcliff.records.sample import Sample
from contextcliff.settings import settings
from contextcliff.tasks.grid import Depths, filled
from contextcliff.tasks.needles.haystack import fact
from contextcliff.tasks.needles.planting import KeyKind, Planted, PlantingTask, SampleSite, ValueKind, room_for
from contextcliff.tasks.task import ScoringContext
from contextcliff.tasks.values import score_value, stands_in, tag_without_value
from contextcliff.text.value_forms import FORMS


@settings
class Needle:
    """What is hidden and what is asked.

    A dynamic text names `{city}` and `{number}`, its question `{city}`. A static one is hidden as it is; it is found
    where `answer` (`match=answer`) or every one of `keywords` (`match=keywords`) stands in what the model says."""

    kind: Literal["dynamic", "static"] = "dynamic"
    text: str
    question: str
    key: KeyKind = "city"
    value: ValueKind = "number"
    answer: str = ""
    match: Literal["answer", "keywords"] = "answer"
    keywords: tuple[str, ...] = ()
    inferred: bool = False

    def __post_init__(self) -> None:
        named = {"text": ("{city}", "{number}"), "question": ("{city}",)}
        for key, words in (("text", self.text), ("question", self.question)):
            if not words.strip():
                raise ValueError(f"task.needle.{key}: must not be empty")
            missing = [name for name in named[key] if name not in words]
            if missing and self.kind == "dynamic":
                raise ValueError(f"task.needle.{key}={words}: {' and '.join(missing)} must stand in it")
        if self.kind == "static":
            self._check_static()

    @property
    def accepted(self) -> tuple[str, ...]:
        return (self.answer,) if self.match == "answer" else self.keywords

    def _check_static(self) -> None:
        if self.match == "answer" and not self.answer.strip():
            raise ValueError("task.needle.answer: must not be empty with task.needle.kind=static; say what is right")
        if not self.keywords and self.match == "keywords":
            raise ValueError("task.needle.keywords: must not be empty with task.needle.match=keywords; give [WORD,…]")
        for position, words in enumerate(self.accepted):
            key = "task.needle.answer" if self.match == "answer" else f"task.needle.keywords[{position}]"
            way = f"{key}=WORDS" if self.match == "answer" else "task.needle.keywords=[WORD,…]"
            if not words.strip():
                raise ValueError(f"{key}: is blank; give a word, or leave it out")
            if not self.inferred and not stands_in(words, self.text):
                refuse_hidden_elsewhere(key, words, "task.needle", way)


@settings
class Niah(Depths, PlantingTask):
    """A grid of lengths and depths with `trials` samples a cell."""

    name = "niah"
    inert: ClassVar[Mapping[str, object]] = {"needle.key": "city"}

    needle: Needle

    def answer_tokens(self, context_tokens: int) -> int | None:  # noqa: ARG002 - the same at every length
        return room_for(self.needle.value) if self.needle.kind == "dynamic" else None

    def check_text(self, text: str) -> None:
        if self.needle.kind == "static" and all(stands_in(words, text) for words in self.needle.accepted):
            refuse_held("task.needle", self.needle.accepted)

    def plant(self, site: SampleSite) -> Planted:
        needle = self.needle
        if needle.kind == "static":
            hidden, question, answers = fact(needle.text.strip(), site.depth), needle.question, needle.accepted
        else:
            [(city, value)] = site.pairs(count=1, key=needle.key, value=needle.value)
            hidden = fact(needle.text, site.depth, city=city, number=value)
            question, answers = filled(needle.question, city=city), (value,)
        return Planted(facts=(hidden,), evidence=(0,), question=question, answers=answers)

    def score(self, sample: Sample, generation: Generation, context: ScoringContext) -> Score:
        if self.needle.kind == "dynamic":
            return score_value(sample, generation, context, FORMS[self.needle.value])
        text, accepted = generation.text.strip(), self.needle.accepted
        if all(stands_in(words, text) for words in accepted):
            return Score(value=1.0, prediction=" ".join(accepted), failure=None)
        return Score(value=0.0, prediction=text, failure=tag_without_value(generation))


def refuse_held(key: str, words: Sequence[str]) -> NoReturn:
    """Raise `ConfigError` for a text that holds the answer."""
    raise ConfigError(
        f"{key}: the text holds {' and '.join(map(repr, words))} already, so finding it would show nothing; take "
        "another needle, or another dataset"
    )


def refuse_hidden_elsewhere(key: str, words: str, needle: str, way: str) -> NoReturn:
    """Raise `ValueError` for an answer that its needle does not show."""
    raise ValueError(
        f"{key}={words!r}: does not stand in {needle}.text; give {way}, or {needle}.inferred=true where it has to be "
        "worked out"
    )
