"""`analysis.require_cap`: the exit code says whether the cap is as long as required, and a plan whether it could be. An
undecided run names the command that decides it."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest

from tests.commands import SIMULATED, contextcliff, plan_of, reports, tracked_runs

SEARCH = (
    *SIMULATED,
    "dataset=synthetic",
    "task.lengths=[200,400,800]",
    "task.depths=[0.0,0.5,1.0]",
    "task.max_trials=60",
    "search=walk",
    "engine.cliff_tokens=500",
    "engine.ceiling=1.0",
)
CAP = 397
"""The safe cap of these runs: what was built of the last length before the cliff."""


def only_run(folder: Path) -> tuple[Path, int | None]:
    """The folder of the one run, and its cap."""
    (report,) = reports(folder / "outputs")
    return Path("outputs") / "contextcliff" / report["run_id"], report["safe_cap"]["tokens"]


def test_a_cap_below_ends_with_3_after_all_is_written_and_tracked(tmp_path: Path) -> None:
    given = (*SEARCH, f"analysis.require_cap={CAP + 1}", "tracking=mlflow")
    done = contextcliff(*given, cwd=tmp_path)
    folder, cap = only_run(tmp_path)
    assert (done.returncode, cap) == (3, CAP)
    assert done.stderr.splitlines()[-1] == (
        f"error: analysis.require_cap={CAP + 1}: the safe cap is {CAP} tokens; {folder}/report.md says why"
    )
    assert {file.name for file in (tmp_path / folder).iterdir()} >= {"report.md", "samples.jsonl", "manifest.json"}
    assert any((tmp_path / "mlruns").rglob("report.json"))
    assert not list(tmp_path.rglob("sweep.json"))
    (tracked,) = tracked_runs(tmp_path)
    assert "mlflow.parentRunId" not in tracked.data.tags
    again = contextcliff(*given, "action=analyze", cwd=tmp_path)
    assert (again.returncode, again.stderr.splitlines()[-1]) == (3, done.stderr.splitlines()[-1])


@pytest.mark.slow
@pytest.mark.parametrize("cliffs", ["500,100", "100,500"])
def test_a_sweep_ends_with_3_where_one_of_its_runs_is_below(tmp_path: Path, cliffs: str) -> None:
    done = contextcliff(*SEARCH, f"engine.cliff_tokens={cliffs}", "analysis.require_cap=300", cwd=tmp_path)
    assert (done.returncode, len(reports(tmp_path))) == (3, 2)
    assert done.stderr.count("error:") == 1


@pytest.mark.slow
def test_a_plan_and_a_run_say_beforehand_that_no_answers_could_reach_it(tmp_path: Path) -> None:
    given = (*SEARCH, "analysis.require_cap=800", "engine.ceiling=0")
    assert contextcliff(*given, "action=plan", cwd=tmp_path).returncode == 0
    line = (
        "analysis.require_cap=800: the best possible answers would give a cap of 797 tokens at most; ask for prompts "
        "of 800 tokens or more (task.lengths), or require less"
    )
    assert line in plan_of(tmp_path)["notes"]
    done = contextcliff(*given, "reporting.progress=true", cwd=tmp_path)
    assert f"warning: {line}" in done.stderr.splitlines()
    reachable = (*SEARCH, "analysis.require_cap=797", "action=plan")
    assert contextcliff(*reachable, cwd=tmp_path).returncode == 0
    assert "require_cap" not in (tmp_path / "outputs" / "plan.json").read_text("utf-8")


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
