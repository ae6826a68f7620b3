"""From outcomes to scores: each answer once, against what the run knows of it."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from contextcliff.execution.scoring import Scorer, outcome_of, recall
from contextcliff.execution.store import PlannedSample, Store
from contextcliff.records.generation import Generation, Outcome, Score
from contextcliff.records.sample import Sample
from contextcliff.tasks.task import ContextBudget, Materials, ScoringContext, Task, TaskPlan, Traits
from tests.execution.planned_samples import planned, score_outcomes
from tests.tasks.needles import build, niah, said

SAMPLES = build(niah(lengths=[300], depths=[0.0, 1.0], trials=2))


@dataclass(frozen=True)
class Watching(Task):
    """Keeps what it was given to score."""

    name = "watching"
    traits = Traits(graded=True, embeds_texts=True)
    seen: list[tuple[str, ScoringContext]] = field(default_factory=list)

    def longest_context(self, context_budget: ContextBudget) -> int:
        return 300

    def build(self, materials: Materials) -> TaskPlan:
        raise NotImplementedError

    def texts_to_embed(self, sample: Sample, generation: Generation, context: ScoringContext) -> tuple[str, ...]:
        return (generation.text,)

    def score(self, sample: Sample, generation: Generation, context: ScoringContext) -> Score:
        self.seen.append((sample.sample_id, context))
        return Score(value=0.5, prediction=generation.text, failure=None)


def outcomes(*answers: str | None) -> list[Outcome]:
    return [
        Outcome(
            sample=sample,
            prompt_sha256=sample.sample_id,
            generation=None if answer is None else said(answer),
            unscored="timeout" if answer is None else None,
        )
        for sample, answer in zip(SAMPLES, answers, strict=False)
    ]


@pytest.mark.parametrize(
    ("own", "read", "cached", "unscored"),
    [
        (True, 4_000, None, None),
        (True, 3_790, None, None),
        (True, 3_700, None, "truncated"),
        (True, 3_000, 1_500, "truncated"),
        (False, 400, None, None),
    ],
)
def test_a_built_count_is_compared_where_the_models_own_tokenizer_counted(
    own: bool, read: int, cached: int | None, unscored: str | None
) -> None:
    item = planned("one", "x" * 4_000)
    generation = replace(said("9"), prompt_tokens=read, cached_tokens=cached)
    assert outcome_of(item, generation, None, own=own).unscored == unscored


def test_an_answer_that_was_scored_is_not_scored_again() -> None:
    task = Watching()
    scorer, answered = Scorer(task, SAMPLES), outcomes("one", "two")
    first = [scorer.score(outcome) for outcome in answered]
    assert [scorer.score(outcome) for outcome in answered] == first
    assert len(task.seen) == 2


@pytest.mark.parametrize(
    ("text", "finish_reason", "reasoning", "reasoning_tokens", "failure"),
    [
        ("", "length", "It is 42", None, "thinking_budget"),
        ("", "length", "", 64, "thinking_budget"),
        ("", "length", "", 0, None),
        ("", "stop", "It is 42", 64, None),
        ("It is", "length", "", None, None),
        ("It is", "length", "It is 42", 64, None),
    ],
)
def test_an_answer_that_was_cut_off_before_it_began_ran_out_of_thought(
    text: str, finish_reason: str, reasoning: str, reasoning_tokens: int | None, failure: str | None
) -> None:
    (outcome,) = outcomes(text)
    generation = replace(
        said(text), finish_reason=finish_reason, reasoning=reasoning, reasoning_tokens=reasoning_tokens
    )
    scored = Scorer(Watching(), SAMPLES).score(replace(outcome, generation=generation))
    assert (scored.failure, scored.score) == (failure, 0.0 if failure else 0.5)


def test_an_answer_that_the_server_sent_as_a_refusal_is_tagged_as_one() -> None:
    task = niah(lengths=[300], depths=[0.0, 1.0], trials=2)
    right = SAMPLES[0].answers[0]
    tags = []
    for text, refused in (("No.", False), ("No.", True), (right, True)):
        outcome = replace(outcomes("")[0], generation=replace(said(text), refused=refused))
        tags.append(score_outcomes(task, [outcome])[0].failure)
    assert tags == ["missing", "refusal", None]


@pytest.mark.parametrize(("texts", "unscored"), [(("12", ""), [None, "no_tokens"]), (("", ""), [None, None])])
def test_an_answer_of_no_token_is_unscored_if_a_shorter_prompt_was_answered(
    tmp_path: Path, texts: tuple[str, str], unscored: list[str | None]
) -> None:
    store, planned = Store(tmp_path), []
    for tokens, text in zip((300, 400), texts, strict=True):
        key = f"{tokens:064d}"
        sample = replace(SAMPLES[0], sample_id=key, built_tokens=tokens)
        planned.append(PlannedSample(sample=sample, prompt_sha256=key, key=key))
        answer = replace(said(text), prompt_tokens=tokens, completion_tokens=len(text))
        store.keep(planned[-1], answer)
    assert [outcome.unscored for outcome in recall(store, "r", planned)] == unscored
