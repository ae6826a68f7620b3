"""A run's stages: each answer is scored once, whoever asks for its score."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hydra import compose, initialize_config_dir
from hydra.core.global_hydra import GlobalHydra

from contextcliff.composing import conf_dir
from contextcliff.config import build_invocation
from contextcliff.errors import ExitCode
from contextcliff.tasks.needles.niah import Niah
from contextcliff.tasks.questions.qa import Qa
from contextcliff.tasks.task import Task
from tests.commands import SIMULATED

JUDGED = ("judge=llm", "engine@judge.engine=simulated", "model@judge.model=smollm2")
FEW = ("task.lengths=[300,600]", "task.depths=[0.2,0.8]", "task.trials=2", "reporting.dpi=50")


def run(folder: Path, *overrides: str) -> ExitCode:
    GlobalHydra.instance().clear()
    with initialize_config_dir(str(conf_dir()), version_base="1.3"):
        config = compose("config", overrides=[*SIMULATED, f"output_dir={folder}", *overrides])
    invocation = build_invocation(config, overrides)
    return invocation.action(invocation)


def counting(monkeypatch: pytest.MonkeyPatch, task: type[Task]) -> Counter[str]:
    """How often each sample is scored from here on."""
    score, counts = task.score, Counter[str]()

    def counted(self: Any, sample: Any, generation: Any, context: Any) -> Any:
        counts[sample.sample_id] += 1
        return score(self, sample, generation, context)

    monkeypatch.setattr(task, "score", counted)
    return counts


@pytest.mark.parametrize("overrides", [(), ("task.controls=true", *JUDGED)], ids=str)
def test_an_answer_is_scored_once_in_a_run(
    overrides: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    counts = counting(monkeypatch, Niah)
    assert run(tmp_path, *FEW, *overrides) is ExitCode.DONE
    assert len(counts) >= 8
    assert set(counts.values()) == {1}


def test_an_answer_of_a_pilot_is_scored_once_in_a_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    counts = counting(monkeypatch, Qa)
    questions = ("task=qa", "task.pilot=2", "task.samples_per_bin=8", "task.repeats=1", "analysis.bins=3")
    assert run(tmp_path, *questions, "reporting.dpi=50") is ExitCode.DONE
    assert set(counts.values()) == {1}


def test_an_analysis_scores_once_what_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert run(tmp_path, *FEW, *JUDGED) is ExitCode.DONE
    counts = counting(monkeypatch, Niah)
    assert run(tmp_path, *FEW, *JUDGED, "action=analyze") is ExitCode.DONE
    assert set(counts.values()) == {1}
