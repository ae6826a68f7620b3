"""The averages of a length are said as soon as its last answer is there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import cast

from contextcliff.actions.send import LengthWatch
from contextcliff.execution.scoring import Scorer
from contextcliff.execution.store import PlannedSample
from contextcliff.records.generation import Outcome, ScoredSample
from contextcliff.tasks.task import Task
from tests.writing.made_writing import make_round


class Known:
    """Gives back the scores that were planned, and shows one figure of an answer."""

    def __init__(self, scored: Sequence[ScoredSample]) -> None:
        self._scored = {each.sample.sample_id: each for each in scored}

    def score(self, outcome: Outcome) -> ScoredSample:
        return self._scored[outcome.sample.sample_id]

    def answer_figures(self, details: Mapping[str, float]) -> tuple[str, ...]:
        return (f"vocabulary {details['vocabulary_diversity']:.3f}",) if "vocabulary_diversity" in details else ()


def scored(tokens: int, trial: int, score: float | None, *, bin: int | None = None) -> ScoredSample:
    made = make_round(tokens=tokens, trial=trial, details={"vocabulary_diversity": 0.4 + 0.1 * trial})
    sample = replace(made.sample, bin=bin)
    return replace(made, sample=sample, score=score, details=made.details if score is not None else {})


def outcome(each: ScoredSample) -> Outcome:
    return Outcome(
        sample=each.sample,
        prompt_sha256=each.prompt_sha256,
        generation=each.generation if each.score is not None else None,
        unscored=None if each.score is not None else "timeout",
    )


def watched(
    ended: Sequence[ScoredSample], *, before: Sequence[ScoredSample] = ()
) -> tuple[list[str], list[tuple[int, float, int]]]:
    """What is said and told as these end, after those of an earlier start."""
    points: list[tuple[int, float, int]] = []
    known = Known([*ended, *before])
    watch = LengthWatch(
        cast("Task", known),
        cast("Scorer", known),
        missing=[PlannedSample(sample=each.sample, key=each.sample.sample_id, prompt_sha256="ab") for each in ended],
        answered=[outcome(each) for each in before],
        tell=lambda *point: points.append(point),
    )
    return [watch.ended(outcome(each)) or "" for each in ended], points


def test_a_length_is_summed_up_at_its_last_answer_in_whatever_order_they_come() -> None:
    short, long = [scored(512, i, 1.0) for i in range(2)], [scored(1024, i, float(i)) for i in range(2)]
    assert watched([short[0], long[1], short[1], long[0]]) == (
        [
            "",
            "",
            "512 tokens: mean score 1.00, 2 samples · vocabulary 0.450",
            "1,024 tokens: mean score 0.50, 2 samples · vocabulary 0.450",
        ],
        [
            (512, 1.0, 2),
            (1024, 0.5, 2),
        ],
    )


def test_answers_of_an_earlier_start_count_in_the_average() -> None:
    said, points = watched([scored(512, 2, 0.0)], before=[scored(512, 0, 1.0), scored(512, 1, 1.0)])
    assert said == ["512 tokens: mean score 0.67, 3 samples · vocabulary 0.500"]
    assert points == [(512, 2 / 3, 3)]


def test_a_sample_that_failed_for_good_completes_its_length_and_is_in_no_average() -> None:
    said, _ = watched([scored(512, 0, 1.0), scored(512, 1, None)])
    assert said == ["", "512 tokens: mean score 1.00, 1 sample · vocabulary 0.400"]
    assert watched([scored(512, 0, None)]) == ([""], [])


def test_documents_of_their_own_lengths_are_summed_up_by_bin() -> None:
    found = [scored(700, 0, 1.0, bin=1), scored(900, 1, 0.0, bin=1)]
    assert watched(found) == (["", "bin 2: mean score 0.50, 2 samples · vocabulary 0.450"], [])
