"""An undecided run names the command that decides it."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest

from tests.commands import SIMULATED, contextcliff, reports

RUN = (
    *SIMULATED,
    "dataset=synthetic",
    "engine.law=flat",
    "engine.ceiling=1.0",
    "task.lengths=[200]",
    "reporting.console=full",
)
LATENCY = ("analysis.latency_slo_ms=60000", "analysis.threshold=0.5", "task.depths=[0.5]")


@pytest.mark.parametrize(
    ("typed", "said", "changed"),
    [
        (("task.trials=1", "task.depths=[0.5]"), "about 13 more answers at 200 tokens", "task.trials=auto"),
        pytest.param(
            (*LATENCY, "task.trials=10"), "about 4 more answers at 200 tokens", "task.trials=14", marks=pytest.mark.slow
        ),
        pytest.param(
            ("task.depths=[0.5]", "task.max_trials=10"),
            "about 12 more answers at 200 tokens",
            "task.max_trials=22",
            marks=pytest.mark.slow,
        ),
    ],
)
def test_the_command_of_an_undecided_run_decides_it(
    tmp_path: Path, typed: tuple[str, ...], said: str, changed: str
) -> None:
    done = contextcliff(*RUN, *typed, cwd=tmp_path)
    (report,) = reports(tmp_path)
    assert done.stdout.splitlines()[-1].startswith("UNDECIDED: ")
    assert f"get {said}, by the command below" in done.stdout
    assert f"\n  {report['next_command']}\n" in done.stdout
    contextcliff("action=analyze", *RUN, *typed, cwd=tmp_path)
    assert reports(tmp_path)[0]["next_command"] == report["next_command"]
    words = shlex.split(report["next_command"])
    assert (words[:3], words[-1]) == (["python", "-m", "contextcliff"], changed)
    again = contextcliff(*words[3:], cwd=tmp_path)
    assert again.stdout.splitlines()[-1].startswith("SAFE CAP: at least ")
    assert {each["next_command"] for each in reports(tmp_path)} == {report["next_command"], ""}
