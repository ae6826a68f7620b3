"""A run's stages: each answer is scored once, and a length is summed up at its last answer."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import pytest

from contextcliff.actions.send import length_watch
from contextcliff.errors import ExitCode
from contextcliff.execution.scoring import Scorer
from contextcliff.execution.store import PlannedSample
from contextcliff.records.generation import Outcome, ScoredSample
from contextcliff.tasks.needles.niah import Niah
from contextcliff.tasks.questions.qa import Qa
from contextcliff.tasks.task import Task
from tests.commands import SIMULATED
from tests.compositions import built
from tests.writing.made_writing import make_round

JUDGED = ("judge=llm", "engine@judge.engine=simulated", "model@judge.model=smollm2")
FEW = ("task.lengths=[300,600]", "task.depths=[0.2,0.8]", "task.trials=2", "reporting.dpi=50")


def run(folder: Path, *overrides: str) -> ExitCode:
    invocation = built(*SIMULATED, f"output_dir={folder}", *overrides)
    return invocation.action(invocation)


def counting(monkeypatch: pytest.MonkeyPatch, task: type[Task]) -> Counter[str]:
    """How often each sample is scored from here on."""
    score, counts = task.score, Counter[str]()

    def counted(self: Any, sample: Any, generation: Any, context: Any) -> Any:
        counts[sample.sample_id] += 1
        return score(self, sample, generation, context)

    monkeypatch.setattr(task, "score", counted)
    return counts


@pytest.mark.parametrize(
    ("task", "overrides"),
    [
        (Niah, FEW),
        (Niah, (*FEW, "task.controls=true", *JUDGED)),
        (Qa, ("task=qa", "task.pilot=2", "task.samples_per_bin=8", "task.repeats=1", "analysis.bins=3")),
    ],
    ids=["plain", "judged", "with a pilot"],
)
def test_an_answer_is_scored_once_in_a_run(
    task: type[Task], overrides: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    counts = counting(monkeypatch, task)
    assert run(tmp_path, *overrides, "reporting.dpi=50") is ExitCode.DONE
    assert len(counts) >= 8
    assert set(counts.values()) == {1}


def test_an_analysis_scores_once_what_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert run(tmp_path, *FEW, *JUDGED) is ExitCode.DONE
    counts = counting(monkeypatch, Niah)
    assert run(tmp_path, *FEW, *JUDGED, "action=analyze") is ExitCode.DONE
    assert set(counts.values()) == {1}


class Known:
    """Gives back the scores that were planned."""

    def __init__(self, scored: Sequence[ScoredSample]) -> None:
        self._scored = {each.sample.sample_id: each for each in scored}

    def score(self, outcome: Outcome) -> ScoredSample:
        return self._scored[outcome.sample.sample_id]


def a_score(tokens: int, trial: int, score: float | None, *, bin: int | None = None) -> ScoredSample:
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
    short, long = [a_score(512, i, 1.0) for i in range(2)], [a_score(1024, i, float(i)) for i in range(2)]
    before = [a_score(512, 2, 0.0), a_score(512, 3, None)]
    assert watched([short[0], long[1], short[1], long[0]], before=before) == (
        ["", "", "512 tokens: mean score 0.67, 3 samples", "1,024 tokens: mean score 0.50, 2 samples"],
        [(512, 2 / 3, 3), (1024, 0.5, 2)],
    )


def test_a_length_without_a_score_says_nothing_and_a_bin_is_said_by_its_place() -> None:
    assert watched([a_score(512, 0, None)]) == ([""], [])
    found = [a_score(700, 0, 1.0, bin=1), a_score(900, 1, 0.0, bin=1)]
    assert watched(found) == (["", "bin 2: mean score 0.50, 2 samples"], [])
