"""A run is in MLflow from its first prompt on: RUNNING, with points as lengths are answered, and then as it ended."""

from __future__ import annotations

import math
import os
import signal
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from contextcliff.records.sweep import SweepRow
from contextcliff.tracking.mlflow import MLflowTracker
from contextcliff.tracking.tracker import LengthPoint, LiveRun, RunTitle, Started, SweepPlace
from contextcliff.tracking.tracking_uri import TrackingUri
from tests.commands import started
from tests.tracking.tracking_runs import report, tracked

if TYPE_CHECKING:
    from mlflow.entities import Run
    from mlflow.tracking import MlflowClient

RUN_ID = "qwen-niah-f16-1a2b"
TITLE = RunTitle(model="qwen", task="niah", kv_policy="none")
SIMULATED = ("engine=simulated", "dataset=synthetic", "reporting.progress=false", "reporting.figures=false")


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> str:
    return f"sqlite:///{tmp_path_factory.mktemp('store') / 'mlflow.db'}"


@pytest.fixture
def tracker(store: str, request: pytest.FixtureRequest) -> MLflowTracker:
    return MLflowTracker(uri=store, experiment=request.node.name)


def client_of(uri: str) -> MlflowClient:
    from mlflow.tracking import MlflowClient

    # MLflow creates its tables with the first client, and the run's thread may be about to do the same.
    with TrackingUri(uri).ready():
        return MlflowClient(tracking_uri=uri)


def runs_of(tracker: MLflowTracker) -> list[Run]:
    client = client_of(tracker.uri)
    experiment = client.get_experiment_by_name(tracker.experiment)
    assert experiment is not None
    return list(client.search_runs([experiment.experiment_id], order_by=["attributes.start_time ASC"]))


def begun(tracker: MLflowTracker, **changes: object) -> LiveRun:
    beginning = Started(run_id=RUN_ID, title=TITLE, parameters={"model.name": "qwen"}, tags={"task": "niah"}, **changes)  # type: ignore[arg-type]
    live = tracker.begin(beginning)
    wait_for(tracker)
    return live


def wait_for(tracker: MLflowTracker, *, status: str = "RUNNING") -> Run:
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        experiment = client_of(tracker.uri).get_experiment_by_name(tracker.experiment)
        found = [] if experiment is None else [run for run in runs_of(tracker) if run.info.status == status]
        ready = [run for run in found if status != "RUNNING" or run.data.params]
        if ready:
            return ready[0]
        time.sleep(0.05)
    raise AssertionError(f"no run is {status}")


def points(tracker: MLflowTracker, run: Run, key: str) -> list[tuple[int, float]]:
    return [(each.step, each.value) for each in client_of(tracker.uri).get_metric_history(run.info.run_id, key)]


def test_a_run_is_there_while_it_is_under_way(tracker: MLflowTracker, tmp_path: Path) -> None:
    before = int(time.time() * 1000)
    live = begun(tracker)
    run = wait_for(tracker)
    assert run.info.run_name == "qwen · niah · none"
    assert before <= run.info.start_time <= int(time.time() * 1000)
    assert (run.data.tags["task"], run.data.params["model.name"]) == ("niah", "qwen")
    tracker.log(tracked(tmp_path), begun=live.hand_over())
    (ended,) = runs_of(tracker)
    assert (ended.info.run_id, ended.info.status) == (run.info.run_id, "FINISHED")
    assert ended.info.start_time == run.info.start_time
    assert ended.info.end_time >= ended.info.start_time


def test_points_are_there_before_the_run_ends(tracker: MLflowTracker) -> None:
    live = begun(tracker)
    lengths = [512 * 2**i for i in range(8)]
    for length in lengths:
        live.point(LengthPoint(context_tokens=length, score=1.0, n_samples=20))
    deadline = time.monotonic() + 30
    while len(points(tracker, runs_of(tracker)[0], "by_length/score")) < 8 and time.monotonic() < deadline:
        time.sleep(0.05)
    assert points(tracker, runs_of(tracker)[0], "by_length/score") == [(length, 1.0) for length in lengths]
    live.hand_over()


def test_a_run_under_way_has_no_number_for_its_cap(tracker: MLflowTracker) -> None:
    begun(tracker)
    assert math.isnan(wait_for(tracker).data.metrics["safe_cap_tokens"])


def test_a_run_that_fails_says_why_and_a_stopped_one_is_killed(tracker: MLflowTracker) -> None:
    begun(tracker).fail("the server is away")
    (failed,) = runs_of(tracker)
    assert (failed.info.status, failed.data.tags["mlflow.note.content"]) == ("FAILED", "the server is away")
    begun(tracker).fail("stopped by a signal", interrupted=True)
    assert [run.info.status for run in runs_of(tracker)] == ["KILLED"]


def test_another_attempt_takes_the_place_of_one_that_left_no_report(tracker: MLflowTracker, tmp_path: Path) -> None:
    begun(tracker).fail("the server is away")
    begun(tracker)  # as after a SIGKILL: it stays RUNNING
    tracker.log(tracked(tmp_path), begun=begun(tracker).hand_over())
    assert [run.info.status for run in runs_of(tracker)] == ["FINISHED"]


def test_a_partial_report_of_a_stopped_run_is_killed_and_the_whole_one_takes_its_place(
    tracker: MLflowTracker, tmp_path: Path
) -> None:
    tracker.log(tracked(tmp_path, report(partial=True), interrupted=True))
    assert [run.info.status for run in runs_of(tracker)] == ["KILLED"]
    tracker.log(tracked(tmp_path, report(partial=False)))
    assert [run.info.status for run in runs_of(tracker)] == ["FINISHED"]


def test_two_configurations_never_share_a_name(tracker: MLflowTracker, tmp_path: Path) -> None:
    for run_id, fingerprint in (("one", "1111aaaa2222"), ("two", "3333bbbb4444")):
        tracker.log(tracked(tmp_path, report(run_id=run_id, fingerprint=fingerprint)))
    names = {run.info.run_name for run in runs_of(tracker)}
    assert names == {"qwen · niah · none", "qwen · niah · none · 3333bbbb"}


def test_a_job_of_a_sweep_carries_its_row_and_lies_under_the_sweep(tracker: MLflowTracker, tmp_path: Path) -> None:
    place = SweepPlace(sweep_id="s1", name="sweep · a, b", command="c", job=3, n_jobs=4)
    row = SweepRow(job=3, model="qwen", task="niah", kv_policy="none", state="running")
    begun(tracker, place=place, row=row).fail("the server is away")
    parent, failed = sorted(runs_of(tracker), key=lambda run: run.data.tags.get("kind") != "sweep")
    assert parent.info.run_name == "sweep · a, b"
    assert failed.data.tags["mlflow.parentRunId"] == parent.info.run_id
    (kept,) = tracker.sweep_rows("s1")
    assert (kept.job, kept.state, kept.error) == (3, "failed", "the server is away")
    done = SweepRow(job=3, model="qwen", task="niah", kv_policy="none", state="done", cap_tokens=512)
    again = begun(tracker, place=place, row=row).hand_over()
    tracker.log(tracked(tmp_path, place=place, row=done), begun=again)
    assert tracker.sweep_rows("s1") == (done,)


def test_a_model_that_runs_here_has_the_load_of_the_machine(
    tracker: MLflowTracker, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MLFLOW_SYSTEM_METRICS_SAMPLING_INTERVAL", "0.2")
    live = begun(tracker, computes_here=True)
    run = wait_for(tracker)
    deadline = time.monotonic() + 30
    key = "system/cpu_utilization_percentage"
    while not points(tracker, run, key) and time.monotonic() < deadline:
        time.sleep(0.1)
    tracker.log(tracked(tmp_path), begun=live.hand_over())
    assert points(tracker, run, key)


@pytest.mark.slow
@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_run_that_a_signal_stops_is_killed_with_its_partial_report(tmp_path: Path, number: int, code: int) -> None:
    run = started(tmp_path, *SLOWLY)
    try:
        tracker = sending(tmp_path)
        run.send_signal(number)
        assert run.wait(timeout=60) == code
    finally:
        run.kill()
    (stopped,) = runs_of(tracker)
    assert stopped.info.status == "KILLED"


SLOWLY = (
    *(*SIMULATED, "reporting.console=none", "engine.concurrency=1"),
    *("task.lengths=[512,1024]", "task.trials=6", "engine.delay_ms=120"),
)
"""A run of some seconds: the simulated model takes its time."""


def sending(folder: Path) -> MLflowTracker:
    """The tracker of a run that has begun to send, with its store made under the tracker's own lock."""
    deadline = time.monotonic() + 60
    while not list(folder.rglob("state.db")) and time.monotonic() < deadline:
        time.sleep(0.05)
    tracker = MLflowTracker(uri=f"sqlite:///{folder}/mlruns/mlflow.db")
    tracker.leaderboard()
    wait_for(tracker)
    time.sleep(2)
    return tracker


@pytest.mark.slow
def test_a_run_that_was_killed_goes_on_and_is_there_once(tmp_path: Path) -> None:
    run = started(tmp_path, *SLOWLY)
    tracker = sending(tmp_path)
    os.kill(run.pid, signal.SIGKILL)
    run.wait(timeout=30)
    assert [each.info.status for each in runs_of(tracker)] == ["RUNNING"]
    again = started(tmp_path, *SLOWLY)
    assert again.wait(timeout=200) == 0
    (ended,) = runs_of(tracker)
    assert ended.info.status == "FINISHED"
    assert ended.data.metrics["took/reused"] > 0
