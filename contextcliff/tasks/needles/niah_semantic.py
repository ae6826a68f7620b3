"""Task `niah_semantic`: a needle that shares no content word with its question.

After NoLiMa (Modarressi et al. 2025, arXiv:2502.05167): the answer takes one fact of common knowledge between question
and needle. The set (`needles/semantic.json`) is this project's own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from contextcliff.errors import ConfigError
from contextcliff.records.generation import Generation, Score
from contextcliff.records.sample import Sample
from contextcliff.settings import NonNegativeInt, settings
from contextcliff.tasks.grid import Depths
from contextcliff.tasks.needles.haystack import fact
from contextcliff.tasks.needles.planting import Planted, PlantingTask, SampleSite, word_file
from contextcliff.tasks.task import ScoringContext
from contextcliff.tasks.values import score_value
from contextcliff.text.value_forms import WORD

NEEDLES: Sequence[Mapping[str, str]] = word_file("semantic.json")
"""Statements about `{name}` with their topics, questions whose answer is that name, and the facts that link them."""


@settings
class NiahSemantic(Depths, PlantingTask):
    """A grid of lengths and depths; `distractors` needles of the same topic about other people, evenly spread."""

    name = "niah_semantic"

    distractors: NonNegativeInt = 0
    topics: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        super().__post_init__()
        known = {item["topic"] for item in NEEDLES}
        for topic in self.topics:
            if topic not in known:
                raise ValueError(f"task.topics: {topic!r} is not one of {', '.join(sorted(known))}")
        smallest = min(sum(item["topic"] == topic for item in NEEDLES) for topic in self.topics or known)
        if self.distractors >= smallest:
            raise ValueError(
                f"task.distractors={self.distractors}: a topic has {smallest} needles; at most {smallest - 1} "
                "can stand beside the one that is asked for"
            )

    def plant(self, site: SampleSite) -> Planted:
        rng = site.rng
        chosen = rng.choice([item for item in NEEDLES if not self.topics or item["topic"] in self.topics])
        others = rng.sample(
            [item for item in NEEDLES if item["topic"] == chosen["topic"] and item["id"] != chosen["id"]],
            self.distractors,
        )
        names: list[str] = word_file("names.json")
        free = [name for name in names if not site.holds(name)]
        if len(free) <= self.distractors:
            raise ConfigError(
                f"task.distractors={self.distractors}: only {len(free)} of {len(names)} names do not occur in the "
                "text; lower it, or take another dataset"
            )
        called = rng.sample(free, 1 + self.distractors)
        depths = [site.depth, *((position + 0.5) / len(others) for position in range(len(others)))]
        return Planted(
            facts=[
                fact(item["needle"], depth, name=name)
                for item, name, depth in zip([chosen, *others], called, depths, strict=True)
            ],
            evidence=(0,),
            question=chosen["question"],
            answers=(called[0],),
            distractors=tuple(called[1:]),
            metadata={"topic": chosen["topic"], "needle": chosen["id"]},
        )

    def score(self, sample: Sample, generation: Generation, context: ScoringContext) -> Score:
        return score_value(sample, generation, context, WORD)
