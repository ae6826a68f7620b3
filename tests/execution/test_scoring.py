"""From outcomes to scores: each answer once, against what the run knows of it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from contextcliff.execution.scoring import Scorer, outcome_of, recall
from contextcliff.execution.store import PlannedSample, Store
from contextcliff.records.generation import Generation, Outcome, ScoredSample
from tests.execution.planned_samples import planned
from tests.tasks.needles import build, niah, said

TASK = niah(lengths=[300], depths=[0.0, 1.0], trials=2)
SAMPLE = build(TASK)[0]


def scored(generation: Generation) -> ScoredSample:
    outcome = Outcome(sample=SAMPLE, prompt_sha256="", generation=generation)
    return Scorer(TASK, [SAMPLE]).score(outcome)


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


@pytest.mark.parametrize(
    ("text", "finish_reason", "reasoning", "reasoning_tokens", "ran_out"),
    [
        ("", "length", "It is 42", None, True),
        ("", "length", "", 64, True),
        ("", "length", "", 0, False),
        ("", "stop", "It is 42", 64, False),
        ("It is", "length", "", None, False),
        ("It is", "length", "It is 42", 64, False),
    ],
)
def test_an_answer_that_was_cut_off_before_it_began_ran_out_of_thought(
    text: str, finish_reason: str, reasoning: str, reasoning_tokens: int | None, ran_out: bool
) -> None:
    found = scored(
        replace(said(text), finish_reason=finish_reason, reasoning=reasoning, reasoning_tokens=reasoning_tokens)
    )
    assert (found.failure == "thinking_budget") is ran_out


def test_an_answer_that_the_server_sent_as_a_refusal_is_tagged_as_one() -> None:
    answers = ((said("No."), False), (said("No."), True), (said(SAMPLE.answers[0]), True))
    tags = [scored(replace(answer, refused=refused)).failure for answer, refused in answers]
    assert tags == ["missing", "refusal", None]


@pytest.mark.parametrize(("texts", "unscored"), [(("12", ""), [None, "no_tokens"]), (("", ""), [None, None])])
def test_an_answer_of_no_token_is_unscored_if_a_shorter_prompt_was_answered(
    tmp_path: Path, texts: tuple[str, str], unscored: list[str | None]
) -> None:
    store, planned = Store(tmp_path), []
    for tokens, text in zip((300, 400), texts, strict=True):
        key = f"{tokens:064d}"
        sample = replace(SAMPLE, sample_id=key, built_tokens=tokens)
        planned.append(PlannedSample(sample=sample, prompt_sha256=key, key=key))
        answer = replace(said(text), prompt_tokens=tokens, completion_tokens=len(text))
        store.keep(planned[-1], answer)
    assert [outcome.unscored for outcome in recall(store, "r", planned)] == unscored
