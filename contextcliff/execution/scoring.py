"""From outcomes to scored samples: the task judges what there is, and what there is not stays unscored."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from contextcliff.records import Outcome, ScoredSample
from contextcliff.tasks.task import Task


def score_outcomes(task: Task, outcomes: Sequence[Outcome]) -> tuple[ScoredSample, ...]:
    """Score every generation. Each sample is told the others' answers, so that mix-ups show as such."""
    everyones = frozenset(_answers(outcomes))
    return tuple(_score(task, outcome, everyones) for outcome in outcomes)


def _score(task: Task, outcome: Outcome, everyones: frozenset[str]) -> ScoredSample:
    sample = replace(outcome.sample, foreign_answers=everyones)
    if outcome.generation is None:
        return ScoredSample(
            sample=sample,
            prompt_sha256=outcome.prompt_sha256,
            score=None,
            failure=outcome.unscored,
            prediction="",
            generation=None,
        )
    score = task.score(sample, outcome.generation)
    return ScoredSample(
        sample=sample,
        prompt_sha256=outcome.prompt_sha256,
        score=score.value,
        failure=score.failure,
        prediction=score.prediction,
        generation=outcome.generation,
    )


def _answers(outcomes: Iterable[Outcome]) -> Iterable[str]:
    for outcome in outcomes:
        yield from outcome.sample.answers
