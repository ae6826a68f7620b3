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


def test_a_sweep_that_is_logged_says_its_job_each_length_and_each_part_of_the_end(tmp_path: Path) -> None:
    ended = contextcliff(
        "kv_policy=q8_0,none", *SIMULATED, "task.lengths=[512]", "task.trials=1", "reporting.progress=true",
        "reporting.html=true", cwd=tmp_path,
    )  # fmt: skip
    lines = ended.stderr.splitlines()
    assert ended.returncode == 0
    assert [line.partition(" · ")[0] for line in lines if line.startswith("job ")] == ["job 1/2", "job 2/2"]
    first = lines[lines.index(next(line for line in lines if line.startswith("job 1/2"))) :]
    assert first[1] == "512 tokens: mean score 1.00, 11 samples"
    assert [line for line in first if line in PARTS][:2] == list(PARTS)


PARTS = ("analysing", "writing the report's page")
"""Without figures and tracking."""


@pytest.mark.slow
def test_each_task_of_a_sweep_has_a_comparison_of_its_own(tmp_path: Path) -> None:
    assert contextcliff("task=niah,tracing", "kv_policy=none,q8_0", *NEEDLES, cwd=tmp_path).returncode == 0
    assert compared(tmp_path) == [["niah f16", "niah q8_0"], ["tracing f16", "tracing q8_0"]]


def test_a_failed_job_has_the_number_that_its_progress_had_and_nothing_is_compared(tmp_path: Path) -> None:
    ended = contextcliff("task.lengths=[512],[999999]", *NEEDLES, "reporting.console=summary", cwd=tmp_path)
    assert ended.returncode == 2
    assert "job 2 (niah, SmolLM2-135M-Instruct (simulated), f16) failed: " in " ".join(ended.stdout.split())
    assert compared(tmp_path) == []
