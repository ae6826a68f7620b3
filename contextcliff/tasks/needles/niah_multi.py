"""Task `niah_multi`: several needles in one haystack, all asked for at once.

The multi-needle form of LLMTest_NeedleInAHaystack: the first needle goes in at the depth, the rest evenly after it,
(1 − depth) / needles apart; ten needles from 0.40 stand at 0.40, 0.46, 0.52 … 0.94. Scored by the share found.
"""

from __future__ import annotations

from pydantic import Field

from contextcliff.errors import ConfigError
from contextcliff.records.generation import Generation, Score
from contextcliff.records.sample import Sample
from contextcliff.settings import PositiveInt, settings
from contextcliff.tasks.answer_texts import stands_in
from contextcliff.tasks.grid import Depths
from contextcliff.tasks.needles.haystack import Fact, as_sentence
from contextcliff.tasks.needles.niah import filled, refuse_hidden_elsewhere, require_fields
from contextcliff.tasks.needles.planter import Planted, SampleSite
from contextcliff.tasks.needles.planting import PlantingTask
from contextcliff.tasks.needles.values import CITIES, NUMBER, tag_without_value
from contextcliff.tasks.task import ScoringContext

_TOKENS_AN_ANSWER = 24


@settings
class StaticNeedle:
    """A sentence as it is hidden, and the words by which it is recognised in an answer.

    They stand in the sentence, or with `inferred` have to be worked out of it.
    """

    text: str = Field(min_length=1)
    answer: str = Field(min_length=1)
    inferred: bool = False


@settings
class NiahMulti(Depths, PlantingTask):
    """`needles` are hidden as they stand; where there are none, `count` sentences of `template` are drawn."""

    name = "niah_multi"

    needles: tuple[StaticNeedle, ...] = ()
    count: PositiveInt
    template: str
    """Names `{city}` and `{number}`."""
    question: str = Field(min_length=1)

    def __post_init__(self) -> None:
        super().__post_init__()
        require_fields("task.template", self.template, ("{city}", "{number}"))
        for position, needle in enumerate(self.needles):
            name = f"task.needles[{position}]"
            if not needle.answer.strip():
                raise ValueError(f"{name}.answer: is blank; give a word, or leave the needle out")
            if not needle.inferred and not _found(needle.answer, needle.text):
                refuse_hidden_elsewhere(f"{name}.answer", needle.answer, name, "words that do")
        if self.count > len(CITIES) // 2:
            raise ValueError(f"task.count={self.count}: at most {len(CITIES) // 2} needles can be drawn; lower it")

    @property
    def how_many(self) -> int:
        """Needles in a prompt."""
        return len(self.needles) or self.count

    def answer_tokens(self, context_tokens: int) -> int:  # noqa: ARG002 - the same at every length
        """Room for every needle."""
        return _TOKENS_AN_ANSWER * (1 + self.how_many)

    def check_text(self, text: str) -> None:
        """Refuse a text that holds the answer of a static needle."""
        for needle in self.needles:
            if stands_in(needle.answer, text):
                raise ConfigError(
                    f"task.needles: the text holds {needle.answer!r} already, so finding it would show nothing; "
                    "take another needle, or another dataset"
                )

    def plant(self, site: SampleSite) -> Planted:
        """The first at the depth, the rest evenly after it."""
        drawn, redrawn = self._drawn(site)
        start = site.depth or 0.0
        step = (1.0 - start) / len(drawn)
        return Planted(
            facts=tuple(
                Fact(text=as_sentence(needle.text), depth=start + step * position)
                for position, needle in enumerate(drawn)
            ),
            evidence=tuple(range(len(drawn))),
            question=self.question,
            answers=tuple(needle.answer for needle in drawn),
            metadata={"needles": len(drawn)},
            redrawn=redrawn,
        )

    def score(self, sample: Sample, generation: Generation, context: ScoringContext) -> Score:  # noqa: ARG002
        """The share of the needles that the answer names; the prediction lists which."""
        text = generation.text.strip()
        named = [wanted for wanted in sample.answers if _found(wanted, text)]
        value = len(named) / len(sample.answers)
        if value == 1.0:
            return Score(value=1.0, prediction="; ".join(named), failure=None)
        failure = "partial" if named else tag_without_value(text, cut_off=generation.finish_reason == "length")
        return Score(value=value, prediction="; ".join(named) or text, failure=failure)

    def _drawn(self, site: SampleSite) -> tuple[tuple[StaticNeedle, ...], int]:
        if self.needles:
            return self.needles, 0
        rng, redrawn = site.rng(), 0
        drawn: dict[str, str] = {}
        while len(drawn) < self.count:
            city, number = rng.choice(CITIES), NUMBER.draw(rng)
            if site.holds(city) or site.holds(number):
                redrawn += 1
            elif city not in drawn:
                drawn[city] = number
        needles = (
            StaticNeedle(text=filled(self.template, city=city, number=number), answer=number)
            for city, number in drawn.items()
        )
        return tuple(needles), redrawn


def _found(wanted: str, text: str) -> bool:
    return wanted in NUMBER.found(text) or stands_in(wanted, text)
