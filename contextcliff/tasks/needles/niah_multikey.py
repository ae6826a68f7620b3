"""Task `niah_multikey`: many needles of one form in a context, each asked for by its own question.

The multi-key test of RULER (Hsieh et al. 2024, arXiv:2404.06654). `layout=packed` asks for all of them over one
context, one at each depth, so that a server's prefix cache reads it once; `isolated` asks one question of each context.
Scored 1 where the value asked for stands in the answer and no other needle's does; RULER allows the others
(`hedging=allowed`)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from contextcliff.records.generation import Generation, Score
from contextcliff.records.sample import Sample
from contextcliff.settings import Int, settings
from contextcliff.tasks.grid import NOT_IN_A_SAMPLE, Depths, filled, naming
from contextcliff.tasks.needles.haystack import Fact, fact
from contextcliff.tasks.needles.planting import (
    CITIES,
    MOST_CITIES,
    KeyKind,
    Planted,
    PlantingTask,
    SampleSite,
    ValueKind,
    room_for,
)
from contextcliff.tasks.task import ScoringContext, Traits
from contextcliff.tasks.values import score_value
from contextcliff.text.value_forms import FORMS


@settings
class NiahMultikey(Depths, PlantingTask):
    """A grid of lengths and depths; `distractors` more needles that no question asks for. With `packed` they are evenly
    spread, with `isolated` they stand anywhere."""

    name = "niah_multikey"
    inert: ClassVar[Mapping[str, object]] = {"key": "city", "value": "number"}

    layout: Literal["packed", "isolated"]
    distractors: Annotated[Int, Field(ge=0, le=1_000)] = 0
    template: Annotated[str, naming("{city}", "{number}")]
    question: Annotated[str, naming("{city}")]
    key: KeyKind = "city"
    value: ValueKind = "number"
    hedging: Literal["wrong", "allowed"] = "wrong"

    def __post_init__(self) -> None:
        super().__post_init__()
        needles = (len(self.places) if self.layout == "packed" else 1) + self.distractors
        if self.key == "city" and needles > MOST_CITIES:
            raise ValueError(
                f"task.distractors={self.distractors}: {needles} needles in one context; at most {MOST_CITIES} "
                "can be drawn"
            )

    @property
    def traits(self) -> Traits:
        return replace(super().traits, not_asked=(*NOT_IN_A_SAMPLE, "hedging"))

    def answer_tokens(self, context_tokens: int) -> int | None:  # noqa: ARG002 - the same at every length
        return room_for(self.value)

    @property
    def shares_context(self) -> bool:
        return self.layout == "packed"

    def plant(self, site: SampleSite) -> Planted:
        return self._packed(site) if self.layout == "packed" else self._isolated(site)

    def _isolated(self, site: SampleSite) -> Planted:
        pairs = site.pairs(count=1 + self.distractors, key=self.key, value=self.value)
        (asked, answer), *others = pairs
        return Planted(
            facts=[self._fact(asked, answer, site.depth), *(self._fact(*each, site.rng.random()) for each in others)],
            evidence=(0,),
            question=filled(self.question, city=asked),
            answers=(answer,),
            distractors=tuple(value for _, value in others),
            metadata={"needles": len(pairs)} if others else {},
        )

    def _packed(self, site: SampleSite) -> Planted:
        depths = [*self.places, *((position + 0.5) / self.distractors for position in range(self.distractors))]
        if self.key == "city":
            keys = site.rng.sample([city for city in CITIES if not site.holds(city)], len(depths))
        else:
            keys = site.distinct(FORMS[self.key], count=len(depths))
        values = site.distinct(FORMS[self.value], count=len(depths))
        asked = self.places.index(site.depth)
        return Planted(
            facts=[self._fact(*each) for each in zip(keys, values, depths, strict=True)],
            evidence=(asked,),
            question=filled(self.question, city=keys[asked]),
            answers=(values[asked],),
            distractors=(*values[:asked], *values[asked + 1 :]),
            metadata={"needles": len(depths)},
            context=f"context-{site.trial:02d}",
            context_questions=tuple(filled(self.question, city=city) for city in keys[: len(self.places)]),
        )

    def _fact(self, key: str, value: str, depth: float | None) -> Fact:
        return fact(self.template, depth, city=key, number=value)

    def score(self, sample: Sample, generation: Generation, context: ScoringContext) -> Score:
        return score_value(sample, generation, context, FORMS[self.value], may_hedge=self.hedging == "allowed")


@settings
class NiahAmongNeedles(NiahMultikey):
    """`niah_multikey` whose distractors are the sentences of the text."""

    @property
    def traits(self) -> Traits:
        return replace(super().traits, reads_documents=True)

    def score(self, sample: Sample, generation: Generation, context: ScoringContext) -> Score:
        text = "" if context.document is None else context.document.text
        others = (*sample.reference.distractors, *_values(text, self.value))
        known = replace(sample, reference=replace(sample.reference, distractors=others))
        return super().score(known, generation, context)


@lru_cache(maxsize=2)
def _values(text: str, form: str) -> tuple[str, ...]:
    return tuple(FORMS[form].found(text))
