"""Task `niah_multikey`: many needles of one form in a context, each asked for by its own question.

The multi-key test of RULER (Hsieh et al. 2024, arXiv:2404.06654): the other needles are distractors of the very
form that is asked for. `layout=packed` asks for all of them over one context, one at each depth, so that a server
with a prefix cache reads the context once for the whole row of depths; `isolated` hides one needle a prompt, the
same test without distractors. Scored 1 where the number asked for stands in the answer and no other needle's does.
"""

from __future__ import annotations

from typing import Literal

from contextcliff.records.generation import Generation, Score
from contextcliff.records.sample import Sample
from contextcliff.settings import NonNegativeInt, settings
from contextcliff.tasks.grid import Depths
from contextcliff.tasks.needles.haystack import Fact, as_sentence
from contextcliff.tasks.needles.niah import draw_city_value, filled, require_fields
from contextcliff.tasks.needles.planter import Planted, SampleSite
from contextcliff.tasks.needles.planting import PlantingTask, score_planted
from contextcliff.tasks.needles.values import CITIES, NUMBER
from contextcliff.tasks.task import ScoringContext


@settings
class NiahMultikey(Depths, PlantingTask):
    """A grid of lengths and depths; `distractors` more needles, evenly spread, that no question asks for."""

    name = "niah_multikey"

    layout: Literal["packed", "isolated"]
    distractors: NonNegativeInt = 0
    """Only with `packed`: needles beyond those at the depths."""
    template: str
    """Names `{city}` and `{number}`."""
    question: str
    """Names `{city}`."""

    def __post_init__(self) -> None:
        super().__post_init__()
        require_fields("task.template", self.template, ("{city}", "{number}"))
        require_fields("task.question", self.question, ("{city}",))
        if self.layout == "isolated" and self.distractors:
            raise ValueError(
                f"task.distractors={self.distractors}: task.layout=isolated hides one needle a prompt; "
                "take task.layout=packed, or no distractors"
            )
        needles = len(self.places) + self.distractors
        if needles > len(CITIES) // 2:
            raise ValueError(
                f"task.distractors={self.distractors}: {needles} needles in one context; at most {len(CITIES) // 2} "
                "can be drawn"
            )

    def asked(self) -> dict[str, object]:
        """With `packed`, the depths too: every one of them is in every prompt."""
        asked = dict(super().asked())
        return {**asked, "depths": list(self.places)} if self.layout == "packed" else asked

    @property
    def shares_context(self) -> bool:
        """With `packed`."""
        return self.layout == "packed"

    def haystack_of(self, depth: float | None, trial: int) -> int:
        """One haystack for the whole row of depths, where they share their context."""
        return super().haystack_of(None if self.layout == "packed" else depth, trial)

    def plant(self, site: SampleSite) -> Planted:
        """Every needle of the row, or one alone."""
        return _LAYOUTS[self.layout](self, site)

    def score(self, sample: Sample, generation: Generation, context: ScoringContext) -> Score:
        """1 where the right number stands in the answer, and none of the other needles'."""
        return score_planted(sample, generation, context, NUMBER)


def _isolated(task: NiahMultikey, site: SampleSite) -> Planted:
    city, number, redrawn = draw_city_value(site, "number")
    return Planted(
        facts=(Fact(text=as_sentence(filled(task.template, city=city, number=number)), depth=site.depth or 0.0),),
        evidence=(0,),
        question=filled(task.question, city=city),
        answers=(number,),
        redrawn=redrawn,
    )


def _packed(task: NiahMultikey, site: SampleSite) -> Planted:
    rng = site.context_rng()
    cities = [city for city in CITIES if not site.holds(city)]
    spread = [(position + 0.5) / task.distractors for position in range(task.distractors)]
    depths = [*task.places, *spread]
    chosen = rng.sample(cities, len(depths))
    numbers: list[str] = []
    while len(numbers) < len(depths):
        number = NUMBER.draw(rng)
        if number not in numbers and not site.holds(number):
            numbers.append(number)
    asked = task.places.index(site.depth)
    facts = [
        Fact(text=as_sentence(filled(task.template, city=city, number=number)), depth=depth or 0.0)
        for city, number, depth in zip(chosen, numbers, depths, strict=True)
    ]
    return Planted(
        facts=tuple(facts),
        evidence=(asked,),
        question=filled(task.question, city=chosen[asked]),
        answers=(numbers[asked],),
        distractors=tuple(number for position, number in enumerate(numbers) if position != asked),
        metadata={"needles": len(facts)},
        context=f"context-{site.trial:02d}",
        context_questions=tuple(filled(task.question, city=city) for city in chosen[: len(task.places)]),
    )


_LAYOUTS = {"packed": _packed, "isolated": _isolated}
