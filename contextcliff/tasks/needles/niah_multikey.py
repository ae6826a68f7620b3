"""Task `niah_multikey`: many needles of one form in a context, each asked for by its own question.

The multi-key test of RULER (Hsieh et al. 2024, arXiv:2404.06654): the other needles are distractors of the very
form that is asked for. `layout=packed` asks for all of them over one context, one at each depth, so that a server
with a prefix cache reads the context once for the whole row of depths. `isolated` asks one question of each context:
its needle stands at the depth and the `distractors`, if there are any, anywhere, as RULER has it. Scored 1 where the
value asked for stands in the answer and no other needle's does; RULER allows the others (`hedging=allowed`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache
from typing import ClassVar, Literal

from contextcliff.records.generation import Generation, Score
from contextcliff.records.sample import Sample
from contextcliff.settings import NonNegativeInt, settings
from contextcliff.tasks.grid import NOT_IN_A_SAMPLE, Depths, filled, require_fields
from contextcliff.tasks.needles.drawing import CITIES, MOST_CITIES, KeyKind, ValueKind, draw_pairs, room_for
from contextcliff.tasks.needles.haystack import Fact, as_sentence
from contextcliff.tasks.needles.planter import Planted, SampleSite
from contextcliff.tasks.needles.planting import PlantingTask, score_planted
from contextcliff.tasks.task import ScoringContext, Traits
from contextcliff.text.value_forms import FORMS, UUID, WORD


@settings
class NiahMultikey(Depths, PlantingTask):
    """A grid of lengths and depths; `distractors` more needles that no question asks for.

    With `packed` they are evenly spread, with `isolated` they stand anywhere.
    """

    name = "niah_multikey"
    inert: ClassVar[Mapping[str, object]] = {"key": "city", "value": "number"}

    layout: Literal["packed", "isolated"]
    distractors: NonNegativeInt = 0
    """Needles beyond those that are asked for."""
    template: str
    """Names `{city}` and `{number}`."""
    question: str
    """Names `{city}`."""
    key: KeyKind = "city"
    """What stands for the city."""
    value: ValueKind = "number"
    """What stands for the number."""
    hedging: Literal["wrong", "allowed"] = "wrong"
    """What an answer is that names another needle's value beside the right one."""

    def __post_init__(self) -> None:
        super().__post_init__()
        require_fields("task.template", self.template, ("{city}", "{number}"))
        require_fields("task.question", self.question, ("{city}",))
        needles = (len(self.places) if self.layout == "packed" else 1) + self.distractors
        if self.key == "city" and needles > MOST_CITIES:
            raise ValueError(
                f"task.distractors={self.distractors}: {needles} needles in one context; at most {MOST_CITIES} "
                "can be drawn"
            )

    @property
    def traits(self) -> Traits:
        return replace(super().traits, not_asked=(*NOT_IN_A_SAMPLE, "hedging"))

    def asked(self) -> dict[str, object]:
        asked = dict(super().asked())
        return {**asked, "depths": list(self.places)} if self.layout == "packed" else asked

    def answer_tokens(self, context_tokens: int) -> int | None:  # noqa: ARG002 - the same at every length
        return room_for(self.value)

    @property
    def shares_context(self) -> bool:
        """With `packed`."""
        return self.layout == "packed"

    def haystack_of(self, depth: float | None, trial: int) -> int:
        """One haystack for the whole row of depths, where they share their context."""
        return super().haystack_of(None if self.layout == "packed" else depth, trial)

    def plant(self, site: SampleSite) -> Planted:
        """Every needle of the row, or the one that is asked for; and the distractors."""
        return _LAYOUTS[self.layout](self, site)

    def score(self, sample: Sample, generation: Generation, context: ScoringContext) -> Score:
        """1 where the right value stands in the answer, and none of the other needles' unless that is allowed."""
        return score_planted(sample, generation, context, FORMS[self.value], may_hedge=self.hedging == "allowed")

    def fact(self, key: str, value: str, depth: float | None) -> Fact:
        """The needle of one key and value."""
        return Fact(text=as_sentence(filled(self.template, city=key, number=value)), depth=depth or 0.0)


def _isolated(task: NiahMultikey, site: SampleSite) -> Planted:
    rng = site.rng()
    pairs, redrawn = draw_pairs(site, rng, count=1 + task.distractors, key=task.key, value=task.value)
    (asked, answer), *others = pairs
    return Planted(
        facts=(task.fact(asked, answer, site.depth), *(task.fact(*other, rng.random()) for other in others)),
        evidence=(0,),
        question=filled(task.question, city=asked),
        answers=(answer,),
        distractors=tuple(value for _, value in others),
        metadata={"needles": len(pairs)} if others else {},
        redrawn=redrawn,
    )


def _packed(task: NiahMultikey, site: SampleSite) -> Planted:
    rng = site.context_rng()
    spread = [(position + 0.5) / task.distractors for position in range(task.distractors)]
    depths = [*task.places, *spread]
    if task.key == "city":
        chosen = rng.sample([city for city in CITIES if not site.holds(city)], len(depths))
    else:
        chosen = site.distinct(UUID if task.key == "uuid" else WORD, rng, count=len(depths))
    values = site.distinct(FORMS[task.value], rng, count=len(depths))
    asked = task.places.index(site.depth)
    return Planted(
        facts=tuple(task.fact(*pair) for pair in zip(chosen, values, depths, strict=True)),
        evidence=(asked,),
        question=filled(task.question, city=chosen[asked]),
        answers=(values[asked],),
        distractors=tuple(value for position, value in enumerate(values) if position != asked),
        metadata={"needles": len(depths)},
        context=f"context-{site.trial:02d}",
        context_questions=tuple(filled(task.question, city=city) for city in chosen[: len(task.places)]),
    )


_LAYOUTS = {"packed": _packed, "isolated": _isolated}


@settings
class NiahAmongNeedles(NiahMultikey):
    """`niah_multikey` whose distractors are the sentences of the text."""

    @property
    def traits(self) -> Traits:
        return replace(super().traits, reads_documents=True)

    def score(self, sample: Sample, generation: Generation, context: ScoringContext) -> Score:
        """As `niah_multikey`, with every value of the text as another needle's."""
        text = "" if context.document is None else context.document.text
        others = (*sample.reference.distractors, *_values(text, self.value))
        known = replace(sample, reference=replace(sample.reference, distractors=others))
        return super().score(known, generation, context)


@lru_cache(maxsize=2)
def _values(text: str, form: str) -> tuple[str, ...]:
    return tuple(FORMS[form].found(text))
