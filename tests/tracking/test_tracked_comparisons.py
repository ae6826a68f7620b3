"""A comparison in MLflow: a run of its own that links the runs it compares."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.commands import SIMULATED, contextcliff, tracked_runs

NEEDLES = ("task=niah", "dataset=synthetic", "task.lengths=[512,1024]", "task.trials=2", *SIMULATED)
QUIET = ("reporting.progress=false", "reporting.figures=false", "reporting.console=none")


def run(folder: Path, *overrides: str) -> str:
    ended = contextcliff(*overrides, *QUIET[:2], cwd=folder)
    assert (ended.returncode, ended.stderr) == (0, "")
    return ended.stdout


@pytest.fixture(scope="module")
def compared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("tracked")
    sweep = tuple(each for each in NEEDLES if each != "tracking=none")
    run(folder, *sweep, "engine.cliff_tokens=9000,600", "reporting.console=none")
    return folder


@pytest.mark.slow
def test_a_comparison_is_a_run_that_links_its_runs(compared: Path) -> None:
    told = run(compared, "action=compare")
    (tracked,) = tracked_runs(compared, "tags.kind = 'comparison'")
    assert f"run {tracked.info.run_id} of experiment contextcliff" in " ".join(told.split())
    tags, metrics = tracked.data.tags, tracked.data.metrics
    file = compared / "outputs" / "contextcliff" / "comparisons" / "comparison" / "comparison.json"
    stored = json.loads(file.read_text(encoding="utf-8"))
    assert [tags["compares.0"], tags["compares.1"]] == [one["run_id"] for one in stored["runs"]]
    assert len({tags["compares.0.mlflow"], tags["compares.1.mlflow"], tracked.info.run_id}) == 3
    assert tags["candidate_1.verdict"] == stored["candidates"][0]["verdict"] == "worse"
    assert metrics["candidate_1/difference"] == stored["candidates"][0]["decision"]["overall"]["mean"]
    assert metrics["candidate_1/pairs"] == 44.0
    longest = stored["candidates"][0]["decision"]["lengths"][-1]
    assert metrics["candidate_1/by_length/difference_mean"] == longest["difference"]["mean"]
    assert metrics["candidate_1/by_length/p_worse"] == longest["p_worse"]


@pytest.mark.slow
def test_a_plan_and_a_calibration_are_runs_where_that_is_asked_for(tmp_path: Path) -> None:
    uri = f"tracking.uri=sqlite:///{tmp_path}/mlruns/mlflow.db"
    calibration = ("action=calibrate", "action.runs=2", "action.laws=[flat_95]", "action.designs=[walk]")
    for asked in (("action=plan", *NEEDLES), calibration):
        for track in ("false", "true"):
            run(tmp_path, *asked, f"action.track={track}", "tracking=mlflow", uri)
    plan, calibrated = sorted(tracked_runs(tmp_path), key=lambda each: each.data.tags["kind"], reverse=True)
    written = json.loads((tmp_path / "outputs" / "plan.json").read_text(encoding="utf-8"))
    assert plan.data.metrics["plan/samples"] == written["samples"]
    assert plan.data.metrics["plan/bins_samples"] == written["bins"][-1]["samples"]
    assert calibrated.data.metrics["calibration/flat_95_walk_runs"] == 2.0
    names = [str(each.info.run_name) for each in (plan, calibrated)]
    assert names == ["plan · smollm2 (simulated) · niah · f16", "calibration · threshold=0.8"]
    kept = {
        file.name
        for each in (plan, calibrated)
        for file in (tmp_path / "mlruns" / each.info.run_id / "artifacts").iterdir()
    }
    assert kept == {"plan.json", "calibration.json", "calibration.md"}


@pytest.mark.slow
def test_runs_are_named_by_their_mlflow_ids_with_and_without_their_folders(compared: Path, tmp_path: Path) -> None:
    base, candidate = (each.info.run_id for each in tracked_runs(compared, "tags.task = 'niah'"))
    asked = (f"action.baseline={base}", f"action.candidates=[{candidate}]")
    here = run(compared, "action=compare", *asked, "action.name=here")
    # Elsewhere, with the same tracking server and none of the folders.
    there = run(tmp_path, "action=compare", *asked, f"tracking.uri=sqlite:///{compared}/mlruns/mlflow.db")
    assert "is worse than" in " ".join(here.split())
    assert "is worse than" in " ".join(there.split())
    fetched = tmp_path / "outputs" / "contextcliff" / "fetched" / base
    assert sorted(path.name for path in fetched.iterdir()) == ["manifest.json", "report.json", "samples.jsonl"]
    assert not (compared / "outputs" / "contextcliff" / "fetched").exists()


@pytest.mark.parametrize(
    ("tracking", "cause"),
    [
        ((), f"can't fetch run {'0' * 32} in sqlite:///mlruns/mlflow.db: Run with id={'0' * 32} not found"),
        (("tracking=none",), f"tracking=none keeps no run {'0' * 32}; give tracking=mlflow and its tracking.uri"),
    ],
)
def test_an_id_that_is_not_there_is_one_line(compared: Path, tracking: tuple[str, ...], cause: str) -> None:
    asked = (f"action.baseline={'0' * 32}", "action.candidates=[a]", *tracking)
    ended = contextcliff("action=compare", *QUIET, *asked, cwd=compared)
    assert (ended.returncode, ended.stderr) == (
        2,
        f"error: action.baseline={'0' * 32}: {cause}; give a run id of this experiment or a run's folder\n",
    )


@pytest.mark.slow
def test_a_run_of_another_program_is_refused(compared: Path) -> None:
    run(compared, "action=compare")
    (comparison, *_) = tracked_runs(compared, "tags.kind = 'comparison'")
    asked = (f"action.baseline={comparison.info.run_id}", "action.candidates=[a]")
    ended = contextcliff("action=compare", *QUIET, *asked, cwd=compared)
    assert ended.returncode == 2
    assert "has no report.json, samples.jsonl, manifest.json: it is none of ContextCliff, or incomplete" in ended.stderr


def test_a_tracker_that_fails_costs_nothing_but_a_warning(compared: Path, tmp_path: Path) -> None:
    broken = tmp_path / "no.db"
    broken.write_bytes(b"not a database" * 100)
    ended = contextcliff("action=compare", *QUIET, f"tracking.uri=sqlite:///{broken}", cwd=compared)
    assert ended.returncode == 0
    assert ended.stderr.startswith("warning: can't track in ")
    assert "the comparison in outputs/contextcliff/comparisons/comparison is complete" in ended.stderr
