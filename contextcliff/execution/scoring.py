"""From outcomes to scored samples: the task judges what there is, and what there is not stays unscored."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType

from contextcliff.records.corpus import Document
from contextcliff.records.generation import Generation, Outcome, ScoredSample
from contextcliff.tasks.task import Task

_OUT_OF_THOUGHT = "thinking_budget"


def score_outcomes(
    task: Task, outcomes: Sequence[Outcome], documents: Mapping[str, Document] = MappingProxyType({})
) -> tuple[ScoredSample, ...]:
    """Score every generation.

    Each sample is told the others' answers, so that mix-ups show as such, and its document where it was kept.
    """
    everyones = frozenset(_answers(outcomes))
    return tuple(_score(task, outcome, everyones, documents) for outcome in outcomes)


def _score(task: Task, outcome: Outcome, everyones: frozenset[str], documents: Mapping[str, Document]) -> ScoredSample:
    sample = replace(outcome.sample, foreign_answers=everyones, document=documents.get(outcome.sample.document_id))
    if outcome.generation is None or outcome.unscored is not None:
        return ScoredSample(
            sample=sample,
            prompt_sha256=outcome.prompt_sha256,
            score=None,
            failure=outcome.unscored,
            prediction="",
            generation=outcome.generation,
            retries=outcome.retries,
        )
    score = task.score(sample, outcome.generation)
    if _ran_out_thinking(outcome.generation):
        score = replace(score, value=0.0, prediction="", failure=_OUT_OF_THOUGHT)
    return ScoredSample(
        sample=sample,
        prompt_sha256=outcome.prompt_sha256,
        score=score.value,
        failure=score.failure,
        prediction=score.prediction,
        generation=outcome.generation,
        details=score.details,
        retries=outcome.retries,
    )


def _ran_out_thinking(generation: Generation) -> bool:
    """Whether the model used up its tokens before it came to an answer."""
    return generation.finish_reason == "length" and bool(generation.reasoning) and not generation.text.strip()


def _answers(outcomes: Iterable[Outcome]) -> Iterable[str]:
    for outcome in outcomes:
        yield from outcome.sample.answers
