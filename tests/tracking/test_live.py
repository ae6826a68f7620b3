"""A run is in MLflow from its first prompt on: RUNNING, with points as lengths are answered, and then as it ended."""

from __future__ import annotations

import math
import signal
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from contextcliff.tracking.live import LiveRun
from contextcliff.tracking.mlflow import MLflowTracker
from contextcliff.tracking.tracker import SweepPlace
from tests.commands import started
from tests.tracking.tracking_runs import RUN_ID, client_of, points, report, runs_of, states_of, tracked

if TYPE_CHECKING:
    from mlflow.entities import Run

SLOWLY = (
    *("engine=simulated", "dataset=synthetic", "reporting.progress=false", "reporting.figures=false"),
    *("reporting.console=none", "engine.concurrency=1", "task.lengths=[512,1024]", "task.trials=6"),
    "engine.delay_ms=300",
)


def begun(tracker: MLflowTracker, **changes: Any) -> LiveRun:
    parameters, title = {"model.name": "qwen"}, "qwen · niah · none"
    live = LiveRun(tracker, run_id=RUN_ID, title=title, parameters=parameters, tags={"task": "niah"}, **changes)
    running(tracker)
    return live


def running(tracker: MLflowTracker) -> Run:
    def found() -> list[Run]:
        if client_of(tracker).get_experiment_by_name(tracker.experiment) is None:
            return []
        return [run for run in runs_of(tracker) if run.info.status == "RUNNING" and run.data.params]

    wait_for(found)
    return found()[0]


def wait_for(happened: Callable[[], object]) -> None:
    deadline = time.monotonic() + 60
    while not happened():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def test_a_run_is_there_with_its_points_while_it_is_under_way(tracker: MLflowTracker, tmp_path: Path) -> None:
    before = int(time.time() * 1000)
    live = begun(tracker)
    run = running(tracker)
    assert run.info.run_name == "qwen · niah · none"
    assert before <= run.info.start_time <= int(time.time() * 1000)
    assert (run.data.tags["task"], run.data.params["model.name"]) == ("niah", "qwen")
    assert math.isnan(run.data.metrics["safe_cap_tokens"])  # no cap yet
    for length in (512, 1024):
        live.send(length, score=1.0, n_samples=20)
    wait_for(lambda: points(tracker, run, "by_length/score") == [(512, 1.0), (1024, 1.0)])
    tracker.log(tracked(tmp_path), live=live)
    (ended,) = runs_of(tracker)
    assert (ended.info.run_id, ended.info.status) == (run.info.run_id, "FINISHED")
    assert ended.info.end_time >= ended.info.start_time == run.info.start_time
    assert points(tracker, run, "by_length/score") == [(512, 1.0), (1024, 1.0), (4096, 0.4)]


def test_a_run_that_fails_says_why_and_a_stopped_one_is_killed(tracker: MLflowTracker) -> None:
    begun(tracker).fail("the server is away")
    (failed,) = runs_of(tracker)
    assert (failed.info.status, failed.data.tags["mlflow.note.content"]) == ("FAILED", "the server is away")
    begun(tracker).fail("stopped by a signal", interrupted=True)
    assert states_of(tracker) == ["KILLED"]


def test_a_whole_report_takes_the_place_of_all_attempts(tracker: MLflowTracker, tmp_path: Path) -> None:
    begun(tracker).fail("the server is away")
    begun(tracker)  # as after a SIGKILL: it stays RUNNING
    tracker.log(tracked(tmp_path, report(partial=True), interrupted=True), live=begun(tracker))
    assert states_of(tracker) == ["KILLED"]
    tracker.log(tracked(tmp_path, report(partial=False)))
    assert states_of(tracker) == ["FINISHED"]


def test_two_configurations_never_share_a_name(tracker: MLflowTracker, tmp_path: Path) -> None:
    one, more = {"task.trials": "4", "output_dir": "here"}, {"task.trials": "8", "output_dir": "there"}
    swept = SweepPlace(sweep_id="a1", name="sweep", command="", job=0, n_jobs=2, differing={"task.depths": "[0.5]"})
    for number, (parameters, place) in enumerate([(one, None), (more, None), (one, None), (one, swept)]):
        made = report(run_id=f"run-{number}", fingerprint=f"{number}11aaaa2222")
        tracker.log(tracked(tmp_path, made, parameters=parameters, place=place))
    apart = ("", " · trials=8", " · 211aaaa2", " · depths=[0.5]")
    names = {run.data.tags.get("contextcliff.run_id"): run.info.run_name for run in runs_of(tracker)}
    assert [names[f"run-{number}"] for number in range(4)] == [f"qwen · niah · none{told}" for told in apart]


def test_a_model_that_runs_here_has_the_load_of_the_machine(
    tracker: MLflowTracker, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MLFLOW_SYSTEM_METRICS_SAMPLING_INTERVAL", "0.2")
    live = begun(tracker, computes_here=True)
    run = running(tracker)
    wait_for(lambda: points(tracker, run, "system/cpu_utilization_percentage"))
    tracker.log(tracked(tmp_path), live=live)


def sending(folder: Path) -> MLflowTracker:
    """The tracker of a run that has begun to send, with its store made under the tracker's own lock."""
    wait_for(lambda: list(folder.rglob("state.db")))
    tracker = MLflowTracker(uri=f"sqlite:///{folder}/mlruns/mlflow.db")
    tracker.address()
    running(tracker)
    time.sleep(2)
    return tracker


@pytest.mark.slow
@pytest.mark.parametrize(
    ("number", "code", "state"),
    [(signal.SIGINT, 130, "KILLED"), (signal.SIGTERM, 143, "KILLED"), (signal.SIGKILL, -signal.SIGKILL, "RUNNING")],
)
def test_a_run_that_is_stopped_is_killed_with_its_partial_report_and_goes_on_as_one_run(
    tmp_path: Path, number: int, code: int, state: str
) -> None:
    run = started(tmp_path, *SLOWLY)
    try:
        tracker = sending(tmp_path)
        run.send_signal(number)
        assert run.wait(timeout=60) == code
    finally:
        run.kill()
    assert states_of(tracker) == [state]
    assert started(tmp_path, *SLOWLY).wait(timeout=200) == 0
    (ended,) = runs_of(tracker)
    assert ended.info.status == "FINISHED"
    assert ended.data.metrics["took/reused"] > 0
