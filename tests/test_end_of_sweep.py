"""`reporting.compare=true`: a sweep ends with the comparison of its jobs."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.commands import SIMULATED, contextcliff

NEEDLES = ("dataset=synthetic", "task.trials=1", "reporting.compare=true", *SIMULATED)


def compared(folder: Path) -> list[list[str]]:
    """Task and policy of the runs of each comparison."""
    files = sorted((folder / "outputs").glob("*/comparisons/*/comparison.json"))
    runs = [json.loads(file.read_text(encoding="utf-8"))["runs"] for file in files]
    return [sorted(f"{run['task']} {run['parameters']['kv_policy']}" for run in each) for each in runs]


def test_a_sweep_ends_with_the_comparison_of_its_jobs(tmp_path: Path) -> None:
    ended = contextcliff("kv_policy=q8_0,none", *NEEDLES, cwd=tmp_path)
    assert ended.returncode == 0
    assert compared(tmp_path) == [["niah none", "niah q8_0"]]
    (file,) = (tmp_path / "outputs").glob("*/comparisons/*/comparison.json")
    made = json.loads(file.read_text(encoding="utf-8"))
    assert made["baseline"].endswith("q8_0")  # the first job
    assert [each["policy"] for each in made["kv_policies"]] == ["q8_0", "none"]


@pytest.mark.slow
def test_a_single_run_is_compared_with_nothing(tmp_path: Path) -> None:
    ended = contextcliff(*NEEDLES, cwd=tmp_path)
    assert (ended.returncode, ended.stderr) == (0, "")
    assert compared(tmp_path) == []


@pytest.mark.slow
def test_each_task_of_a_sweep_has_a_comparison_of_its_own(tmp_path: Path) -> None:
    assert contextcliff("task=niah,tracing", "kv_policy=none,q8_0", *NEEDLES, cwd=tmp_path).returncode == 0
    assert compared(tmp_path) == [["niah none", "niah q8_0"], ["tracing none", "tracing q8_0"]]


@pytest.mark.slow
def test_a_sweep_with_a_failed_job_compares_nothing_and_keeps_the_code_of_the_failure(tmp_path: Path) -> None:
    ended = contextcliff("kv_policy=none,q8_0", "task.lengths=[512],[999999]", *NEEDLES, cwd=tmp_path)
    assert ended.returncode == 2
    assert compared(tmp_path) == []
