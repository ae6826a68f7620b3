"""Planned samples whose prompts are what a test says."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType

from contextcliff.execution.scoring import Scorer
from contextcliff.execution.store import PlannedSample
from contextcliff.records.corpus import Document
from contextcliff.records.generation import Generation, Outcome, ScoredSample
from contextcliff.records.sample import Recipe, Sample, Words
from contextcliff.tasks.task import Task
from tests.tasks.needles import build, niah, said

MADE = build(niah(lengths=[300], depths=[0.5], trials=1, haystacks=1))[0]


def planned(name: str, prompt: str, *, key: str = "", **changes: object) -> PlannedSample:
    """A sample with this prompt, a token a letter."""
    sample: Sample = replace(
        MADE,
        sample_id=name,
        built_tokens=len(prompt),
        **{"recipe": Recipe(user=(Words(text=prompt),)), **changes},  # type: ignore[arg-type]
    )
    return PlannedSample(sample=sample, prompt_sha256=prompt, key=key or name)


def answered(item: PlannedSample, generation: Generation | None = None) -> Outcome:
    return Outcome(sample=item.sample, prompt_sha256=item.prompt_sha256, generation=generation or said("9"))


def lost(item: PlannedSample) -> Outcome:
    return Outcome(sample=item.sample, prompt_sha256=item.prompt_sha256, generation=None, unscored="timeout")


def score_outcomes(
    task: Task, outcomes: Sequence[Outcome], documents: Mapping[str, Document] = MappingProxyType({})
) -> tuple[ScoredSample, ...]:
    scorer = Scorer(task, (outcome.sample for outcome in outcomes), documents)
    return tuple(scorer.score(outcome) for outcome in outcomes)
