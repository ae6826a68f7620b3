"""Task `tracing`: follow a chain of assignments whose links are scattered through the text.

After RULER's variable tracking (Hsieh et al. 2024, arXiv:2404.06654). One sentence gives a name a number, each further
one gives another name the value of the one before; the last name's value is asked for. Other chains run beside it.
RULER asks the other way round (`ask=names`), with links anywhere in the text in the order of the chain
(`distances=[]`)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from itertools import pairwise
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from contextcliff.records.generation import Generation, Score
from contextcliff.records.note import Note
from contextcliff.records.sample import Sample
from contextcliff.settings import Few, Fraction, Int, settings
from contextcliff.tasks.grid import Depths, filled, naming
from contextcliff.tasks.needles.haystack import Fact, fact
from contextcliff.tasks.needles.planting import Planted, PlantingTask, SampleSite
from contextcliff.tasks.task import ScoringContext, Traits
from contextcliff.tasks.values import score_share, score_value, stands_in
from contextcliff.text.value_forms import LETTERS, NUMBER, WORD

_NAMES = {"word": WORD, "letters": LETTERS}


@settings
class Tracing(Depths, PlantingTask):
    """A grid of lengths and depths; the chain's first sentence stands at the depth, the rest after it.

    `distances` are shares of the text between neighbouring links, taken in turn by the trials of a cell; a chain that
    would run over the end starts earlier. Without any the links stand anywhere."""

    name = "tracing"
    claim = Note("In a tracing test {whether}the model follows {share} variables in prompts of {lengths}")
    inert: ClassVar[Mapping[str, object]] = {"ask": "value", "names": "word"}

    hops: Annotated[Int, Field(ge=1, le=8)]
    chains: Few
    distances: tuple[Fraction, ...]
    order: Literal["forward", "backward", "shuffled"]
    assignment: Annotated[str, naming("{name}", "{number}")]
    link: Annotated[str, naming("{name}", "{other}")]
    question: Annotated[str, naming("{name}")]
    ask: Literal["value", "names"] = "value"
    names: Literal["word", "letters"] = "word"
    names_question: Annotated[str, naming("{number}")] = "Which names have the value {number}?"

    def __post_init__(self) -> None:
        super().__post_init__()
        longest = max(self.distances, default=0.0)
        if longest * self.hops > 1.0:
            raise ValueError(
                f"task.distances: {longest:g} of the text between neighbours, {self.hops} times over (task.hops), is "
                f"more than the whole text; {1.0 / self.hops:.3g} is the most"
            )

    @property
    def traits(self) -> Traits:
        traits = super().traits
        return replace(traits, idle=(*traits.idle, "names_question")) if self.ask == "value" else traits

    @property
    def goes_anywhere(self) -> bool:
        return not self.distances

    @property
    def turns(self) -> int:
        return len(self.distances) or 1

    def answer_tokens(self, context_tokens: int) -> int | None:  # noqa: ARG002 - the same at every length
        return WORD.tokens * (2 + self.hops) if self.ask == "names" else None

    def plant(self, site: SampleSite) -> Planted:
        rng, size = site.rng, self.hops + 1
        names = site.distinct(_NAMES[self.names], count=self.chains * size)
        values = site.distinct(NUMBER, count=self.chains)
        chains = [names[position : position + size] for position in range(0, len(names), size)]
        places = self._places(site)
        facts: list[Fact] = []
        for chain, value in zip(chains, values, strict=True):
            sentences = [filled(self.assignment, name=chain[0], number=value)]
            sentences += [filled(self.link, name=name, other=other) for other, name in pairwise(chain)]
            at = places if places and chain is chains[0] else sorted(rng.random() for _ in sentences)
            ranks = list(range(size))
            if self.order == "backward":
                ranks.reverse()
            elif self.order == "shuffled":
                rng.shuffle(ranks)
            facts += [fact(sentences[rank], place) for rank, place in zip(ranks, at, strict=True)]
        asks_value = self.ask == "value"
        by_value, by_name = filled(self.question, name=names[self.hops]), filled(self.names_question, number=values[0])
        return Planted(
            facts=facts,
            evidence=range(size),
            question=by_value if asks_value else by_name,
            answers=(values[0],) if asks_value else tuple(chains[0]),
            distractors=tuple(values[1:] if asks_value else names[size:]),
            metadata={"hops": self.hops},
        )

    def score(self, sample: Sample, generation: Generation, context: ScoringContext) -> Score:
        if self.ask == "value":
            return score_value(sample, generation, context, NUMBER)
        return score_share(sample, generation, stands_in)

    def _places(self, site: SampleSite) -> list[float]:
        if not self.distances:
            return []
        distance = self.distances[site.trial % len(self.distances)]
        start = min(site.depth or 0.0, 1.0 - distance * self.hops)
        return [start + distance * position for position in range(self.hops + 1)]
