"""Task `niah_multi`: several needles in one haystack, all asked for at once.

The multi-needle form of LLMTest_NeedleInAHaystack: the first needle goes in at the depth, the rest evenly after it; ten
from 0.40 stand at 0.40, 0.46 … 0.94. RULER (Hsieh et al. 2024, arXiv:2404.06654) scatters them (`spread=anywhere`),
with a key each (multi-query) or one for all (multi-value, `one_key=true`). Scored by the share found."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from contextcliff.records.generation import Generation, Score
from contextcliff.records.sample import Sample
from contextcliff.settings import Count, settings
from contextcliff.tasks.grid import Depths, filled, naming
from contextcliff.tasks.needles.haystack import fact
from contextcliff.tasks.needles.niah import refuse_held, refuse_hidden_elsewhere
from contextcliff.tasks.needles.planting import MOST_CITIES, KeyKind, Planted, PlantingTask, SampleSite, ValueKind
from contextcliff.tasks.task import ScoringContext
from contextcliff.tasks.values import score_share, stands_in
from contextcliff.text.value_forms import FORMS, NUMBER


@settings
class StaticNeedle:
    """A sentence as it is hidden, and the words by which it is recognised in an answer. They stand in the sentence, or
    with `inferred` have to be worked out of it."""

    text: str = Field(min_length=1)
    answer: str = Field(min_length=1)
    inferred: bool = False


@settings
class NiahMulti(Depths, PlantingTask):
    """`needles` are hidden as they stand; where there are none, `count` sentences of `template` are drawn."""

    name = "niah_multi"
    inert: ClassVar[Mapping[str, object]] = {"key": "city", "value": "number", "one_key": False, "spread": "even"}

    needles: tuple[StaticNeedle, ...] = ()
    count: Count
    template: Annotated[str, naming("{city}", "{number}")]
    question: str = Field(min_length=1)
    key: KeyKind = "city"
    value: ValueKind = "number"
    one_key: bool = False
    spread: Literal["even", "anywhere"] = "even"

    def __post_init__(self) -> None:
        super().__post_init__()
        for position, needle in enumerate(self.needles):
            name = f"task.needles[{position}]"
            if not needle.answer.strip():
                raise ValueError(f"{name}.answer: is blank; give a word, or leave the needle out")
            if not needle.inferred and not _found(needle.answer, needle.text):
                refuse_hidden_elsewhere(f"{name}.answer", needle.answer, name, "words that do")
        if self.needles and "{cities}" in self.question:
            raise ValueError(
                f"task.question={self.question!r}: {{cities}} are the keys of drawn needles, and task.needles has "
                "none; leave it out, or give no needles"
            )
        if self.key == "city" and self.count > MOST_CITIES:
            raise ValueError(f"task.count={self.count}: at most {MOST_CITIES} needles can be drawn; lower it")

    @property
    def goes_anywhere(self) -> bool:
        return self.spread == "anywhere"

    def answer_tokens(self, context_tokens: int) -> int:  # noqa: ARG002 - the same at every length
        return FORMS[self.value].tokens * (1 + (len(self.needles) or self.count))

    def check_text(self, text: str) -> None:
        for needle in self.needles:
            if stands_in(needle.answer, text):
                refuse_held("task.needles", (needle.answer,))

    def plant(self, site: SampleSite) -> Planted:
        hidden, keys = [(needle.text, needle.answer) for needle in self.needles], [""]
        if not hidden:
            pairs = site.pairs(count=self.count, key=self.key, value=self.value)
            keys = [pairs[0][0] if self.one_key else key for key, _ in pairs]
            hidden = [
                (filled(self.template, city=key, number=value), value)
                for key, (_, value) in zip(keys, pairs, strict=True)
            ]
        start = site.depth or 0.0
        step = (1.0 - start) / len(hidden)
        depths = [site.rng.random() if self.goes_anywhere else start + step * place for place in range(len(hidden))]
        return Planted(
            facts=[fact(text, depth) for (text, _), depth in zip(hidden, depths, strict=True)],
            evidence=range(len(hidden)),
            question=filled(self.question, cities=", ".join(dict.fromkeys(keys))),
            answers=tuple(answer for _, answer in hidden),
            metadata={"needles": len(hidden)},
        )

    def score(self, sample: Sample, generation: Generation, context: ScoringContext) -> Score:  # noqa: ARG002
        return score_share(sample, generation, _found)


def _found(answer: str, text: str) -> bool:
    """Whether an answer stands in a text; a number in any writing."""
    return answer in NUMBER.found(text) or stands_in(answer, text)
