"""Task `tracing`: follow a chain of assignments whose links are scattered through the text.

After RULER's variable tracking (Hsieh et al. 2024, arXiv:2404.06654). One sentence gives a name a number, each
further one gives another name the value of the one before; the last name's value is asked for, `hops` links away.
Other chains of the same form run beside it. How far apart neighbouring links stand is set (`distances`) and recorded in
tokens as `evidence_distance_tokens`, so that a score can be read against it as well as against length.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Annotated, Literal

from pydantic import Field

from contextcliff.records.generation import Generation, Score
from contextcliff.records.sample import Sample
from contextcliff.settings import Fraction, PositiveInt, settings
from contextcliff.tasks.grid import Depths
from contextcliff.tasks.needles.haystack import Fact, as_sentence
from contextcliff.tasks.needles.niah import filled, require_fields
from contextcliff.tasks.needles.planter import Planted, SampleSite
from contextcliff.tasks.needles.planting import PlantingTask, score_planted
from contextcliff.tasks.needles.values import NUMBER, WORD
from contextcliff.tasks.task import ScoringContext


@settings
class Tracing(Depths, PlantingTask):
    """A grid of lengths and depths; the chain's first sentence stands at the depth, the rest after it.

    `distances` are shares of the text between neighbouring links; the trials of a cell go through them in turn. A
    chain that would run over the end starts as much earlier.
    """

    name = "tracing"

    hops: Annotated[int, Field(ge=1, le=8)]
    chains: PositiveInt
    """All chains, the one that is asked for included."""
    distances: Annotated[tuple[Fraction, ...], Field(min_length=1)]
    order: Literal["forward", "backward", "shuffled"]
    """In which order the links of a chain stand in the text."""
    assignment: str
    """Names `{name}` and `{number}`."""
    link: str
    """Names `{name}` and `{other}`."""
    question: str
    """Names `{name}`."""

    def __post_init__(self) -> None:
        super().__post_init__()
        require_fields("task.assignment", self.assignment, ("{name}", "{number}"))
        require_fields("task.link", self.link, ("{name}", "{other}"))
        require_fields("task.question", self.question, ("{name}",))
        longest = max(self.distances)
        if longest * self.hops > 1.0:
            raise ValueError(
                f"task.distances: {longest:g} of the text between neighbours, {self.hops} times over (task.hops), is "
                f"more than the whole text; {1.0 / self.hops:.3g} is the most"
            )

    @property
    def trials_in_block(self) -> int:
        """A trial for each distance."""
        return len(self.distances)

    def plant(self, site: SampleSite) -> Planted:
        """The chain that is asked for from the depth on, the others anywhere."""
        rng = site.rng()
        names: list[str] = []
        while len(names) < self.chains * (self.hops + 1):
            name = WORD.draw(rng)
            if name not in names and not site.holds(name):
                names.append(name)
        values: list[str] = []
        while len(values) < self.chains:
            value = NUMBER.draw(rng)
            if value not in values and not site.holds(value):
                values.append(value)
        distance = self.distances[site.trial % len(self.distances)]  # a block has each distance as often
        start = min(site.depth or 0.0, 1.0 - distance * self.hops)
        places = [start + distance * position for position in range(self.hops + 1)]
        facts: list[Fact] = []
        for chain, value in enumerate(values):
            sentences = self._sentences(names[chain * (self.hops + 1) :][: self.hops + 1], value)
            at = places if chain == 0 else sorted(rng.random() for _ in sentences)
            ranks = list(range(len(sentences)))
            if self.order == "backward":
                ranks.reverse()
            elif self.order == "shuffled":
                rng.shuffle(ranks)
            facts += [Fact(text=sentences[rank], depth=place) for rank, place in zip(ranks, at, strict=True)]
        return Planted(
            facts=tuple(facts),
            evidence=tuple(range(self.hops + 1)),
            question=filled(self.question, name=names[self.hops]),
            answers=(values[0],),
            distractors=tuple(values[1:]),
            metadata={"hops": self.hops},
        )

    def score(self, sample: Sample, generation: Generation, context: ScoringContext) -> Score:
        """1 where the chain's number stands in the answer, and no other chain's."""
        return score_planted(sample, generation, context, NUMBER)

    def _sentences(self, names: list[str], value: str) -> list[str]:
        first = filled(self.assignment, name=names[0], number=value)
        links = [filled(self.link, name=name, other=other) for other, name in pairwise(names)]
        return [as_sentence(sentence) for sentence in (first, *links)]
