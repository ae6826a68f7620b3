"""The average of a length is said as soon as its last answer is there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import cast

from contextcliff.actions.send import length_watch
from contextcliff.execution.scoring import Scorer
from contextcliff.execution.store import PlannedSample
from contextcliff.records.generation import Outcome, ScoredSample
from tests.writing.made_writing import make_round


class Known:
    """Gives back the scores that were planned."""

    def __init__(self, scored: Sequence[ScoredSample]) -> None:
        self._scored = {each.sample.sample_id: each for each in scored}

    def score(self, outcome: Outcome) -> ScoredSample:
        return self._scored[outcome.sample.sample_id]


def scored(tokens: int, trial: int, score: float | None, *, bin: int | None = None) -> ScoredSample:
    made = make_round(tokens=tokens, trial=trial)
    return replace(made, sample=replace(made.sample, bin=bin), score=score)


def watched(
    ended: Sequence[ScoredSample], *, before: Sequence[ScoredSample] = ()
) -> tuple[list[str], list[tuple[int, float, int]]]:
    """What is said and told as these end, after those of an earlier start."""
    points: list[tuple[int, float, int]] = []
    outcomes = {
        each.sample.sample_id: Outcome(sample=each.sample, prompt_sha256="ab", generation=each.generation)
        for each in (*ended, *before)
    }
    heard = length_watch(
        cast("Scorer", Known([*ended, *before])),
        missing=[PlannedSample(sample=each.sample, key=each.sample.sample_id, prompt_sha256="ab") for each in ended],
        answered=[outcomes[each.sample.sample_id] for each in before],
        told=lambda *point: points.append(point),
    )
    return [heard(outcomes[each.sample.sample_id]) or "" for each in ended], points


def test_a_length_is_summed_up_at_its_last_answer_with_those_of_an_earlier_start() -> None:
    short, long = [scored(512, i, 1.0) for i in range(2)], [scored(1024, i, float(i)) for i in range(2)]
    before = [scored(512, 2, 0.0), scored(512, 3, None)]
    assert watched([short[0], long[1], short[1], long[0]], before=before) == (
        ["", "", "512 tokens: mean score 0.67, 3 samples", "1,024 tokens: mean score 0.50, 2 samples"],
        [(512, 2 / 3, 3), (1024, 0.5, 2)],
    )


def test_a_length_without_a_score_says_nothing_and_a_bin_is_said_by_its_place() -> None:
    assert watched([scored(512, 0, None)]) == ([""], [])
    found = [scored(700, 0, 1.0, bin=1), scored(900, 1, 0.0, bin=1)]
    assert watched(found) == (["", "bin 2: mean score 0.50, 2 samples"], [])
