"""Runs kept in MLflow, looked at through MLflow's own client in real SQLite stores."""

from __future__ import annotations

import json
import logging
import multiprocessing
import os
import sqlite3
import subprocess
import sys
import threading
import time
import warnings
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest

import contextcliff.tracking.mlflow as mlflow_module
import contextcliff.tracking.place as place_module
from contextcliff.tracking.mlflow import MLflowTracker
from contextcliff.tracking.place import _try_sqlite
from contextcliff.tracking.tracker import TrackingError
from tests.tracking.tracking_runs import (
    client_of,
    experiment_of,
    points,
    report,
    runs_of,
    states_of,
    tracked,
    upload_at_once,
)


def test_a_report_becomes_one_finished_run_named_after_it(
    tracker: MLflowTracker, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    elsewhere = tmp_path / "cwd"
    elsewhere.mkdir()
    monkeypatch.chdir(elsewhere)
    place = tracker.log(tracked(tmp_path / "run"))
    (run,) = runs_of(tracker)
    assert (run.info.run_name, run.info.status) == ("qwen · niah · none", "FINISHED")
    assert (run.info.run_id in place, "\n" in place) == (True, False)
    assert (run.data.tags["contextcliff.folder"], run.data.tags["kv_policy"]) == ("qwen-niah-f16-1a2b", "none")
    assert run.data.tags["mlflow.note.content"].startswith("**SAFE CAP: 1,012 tokens")
    assert run.data.params["task.lengths"] == "[512, 1024, 4096]"
    assert run.data.metrics["safe_cap_tokens"] == 1012
    assert points(tracker, run, "by_length/score") == [(512, 1.0), (1024, 1.0), (4096, 0.4)]
    assert json.loads(run.data.tags["mlflow.loggedArtifacts"]) == [{"path": "samples_table.json", "type": "table"}]
    # The files lie beside the database, and not in the current folder, where MLflow would have them.
    folder = Path(tracker.uri.removeprefix("sqlite:///")).parent / run.info.run_id / "artifacts"
    kept = "report.json report.md samples.jsonl manifest.json figures/curve.png samples_table.json"
    assert {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()} == set(kept.split())
    assert list(elsewhere.iterdir()) == []
    table = json.loads((folder / "samples_table.json").read_text())
    assert table["columns"] == ["answers", "score", "context_tokens", "sample_id", "cached_tokens", "metadata"]
    assert table["data"] == [
        [["7"], 1.0, 512, "s1", None, {"hops": 2, "topic": "a city"}],
        [["9"], None, 1024, "s2", 8, {}],
    ]
    assert tracker.log(tracked(tmp_path / "run")) == place  # the same results are kept once
    assert len(runs_of(tracker)) == 1


def test_other_results_by_the_same_rule_supersede_the_older_ones(tracker: MLflowTracker, tmp_path: Path) -> None:
    from mlflow.entities import ViewType

    for threshold, successes in (("0.8", 47), ("0.9", 47), ("0.8", 46)):
        made = report(judged_by={"analysis.threshold": threshold}, successes=successes)
        further = "" if threshold == "0.8" else "-threshold-0.9"
        tracker.log(tracked(tmp_path, made, name=f"{made.run.run_id}{further}"))
    by_name = {run.info.run_name: run for run in runs_of(tracker)}
    assert set(by_name) == {"qwen · niah · none", "qwen · niah · none · threshold-0.9"}
    again = by_name["qwen · niah · none"]
    (first,) = runs_of(tracker, run_view_type=ViewType.DELETED_ONLY)
    assert first.info.run_name == again.info.run_name
    assert first.data.tags["contextcliff.digest"] != again.data.tags["contextcliff.digest"]


def test_an_upload_that_breaks_or_is_stopped_is_left_failed_and_the_next_one_is_fresh(
    store: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from mlflow.tracking import MlflowClient

    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    in_the_way = tmp_path / "files"
    in_the_way.write_text("a file where a folder has to be")
    tracker = MLflowTracker(uri=store, experiment="breaks", artifacts=str(in_the_way))
    with pytest.raises(TrackingError) as raised:
        tracker.log(tracked(tmp_path / "run"))
    assert str(in_the_way) in str(raised.value)
    assert tracker.uri in str(raised.value)
    assert states_of(tracker) == ["FAILED"]
    in_the_way.unlink()
    with monkeypatch.context() as stopped:
        stopped.setattr(MlflowClient, "log_artifacts", interrupted)
        with pytest.raises(KeyboardInterrupt):
            tracker.log(tracked(tmp_path / "run"))
    assert states_of(tracker) == ["FAILED", "FAILED"]
    tracker.log(tracked(tmp_path / "run"))
    assert states_of(tracker) == ["FINISHED"]


def failure(uri: str, folder: Path) -> str:
    started = time.monotonic()
    with pytest.raises(TrackingError) as raised:
        MLflowTracker(uri=uri).log(tracked(folder))
    line = str(raised.value)
    assert time.monotonic() - started < 12
    assert line.startswith(f"can't track in {uri.replace('me:hunter2@', '')}: ")
    assert "hunter2" not in line
    assert "\n" not in line
    return line


def test_a_broken_database_is_one_line_at_once(tmp_path: Path) -> None:
    (tmp_path / "bad.db").write_bytes(b"this is no database, whatever its name says" * 100)
    assert "file is not a database" in failure(f"sqlite:///{tmp_path}/bad.db", tmp_path / "run")


def test_a_database_that_another_program_holds_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(place_module, "BUSY_S", 0.3)
    holder = sqlite3.connect(tmp_path / "held.db", isolation_level=None)
    holder.execute("BEGIN EXCLUSIVE")
    try:
        assert "database is locked" in failure(f"sqlite:///{tmp_path}/held.db", tmp_path / "run")
    finally:
        holder.close()


@pytest.mark.parametrize("uri", ["http://me:hunter2@127.0.0.1:1", "postgresql://me:hunter2@127.0.0.1:1/runs"])
def test_a_dead_server_is_named_within_seconds_and_its_password_is_not(uri: str, tmp_path: Path) -> None:
    line = failure(uri, tmp_path).lower()
    assert "refused" in line or "psycopg" in line  # the driver, which an extra brings


def test_a_deleted_experiment_is_named_with_the_way_back(tracker: MLflowTracker, tmp_path: Path) -> None:
    tracker.log(tracked(tmp_path))
    client_of(tracker).delete_experiment(experiment_of(tracker))
    with pytest.raises(TrackingError, match="is deleted; restore it with"):
        tracker.log(tracked(tmp_path))


def test_nothing_of_the_process_is_changed(
    tracker: MLflowTracker, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import mlflow

    def state() -> tuple[object, ...]:
        level, uri = logging.getLogger("mlflow").level, mlflow.get_tracking_uri()
        return dict(os.environ), list(warnings.filters), level, uri, mlflow.active_run()

    monkeypatch.setenv("MLFLOW_HTTP_REQUEST_TIMEOUT", "77")
    before = state()
    tracker.log(tracked(tmp_path))
    assert state() == before


@pytest.mark.slow
def test_a_fresh_database_puts_nothing_on_the_terminal_and_starts_no_telemetry(tmp_path: Path) -> None:
    script = """
import sys, threading
from pathlib import Path
from tests.tracking.tracking_runs import tracked
from contextcliff.tracking.mlflow import MLflowTracker
tracker = MLflowTracker()
tracker.check(); tracker.ui_command()
assert not list(Path().iterdir()), "checking makes no file"
assert "mlflow" not in sys.modules, "mlflow is imported late"
tracker.log(tracked(Path("run")))
if threading.active_count() > 1:
    sys.exit(f"threads left: {threading.enumerate()}")
"""
    # Neither pytest's nor a CI's variables: they switch MLflow's telemetry off by themselves.
    plain = {key: os.environ[key] for key in ("PATH", "HOME") if key in os.environ}
    done = subprocess.run(
        [sys.executable, "-c", script],
        cwd=tmp_path,
        env={**plain, "PYTHONPATH": str(Path(__file__).parents[2])},
        capture_output=True,
        text=True,
        timeout=90,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert {path.name for path in tmp_path.iterdir()} == {"mlruns", "run"}
    assert len(list((tmp_path / "mlruns").glob("*/artifacts/report.json"))) == 1


@pytest.mark.slow
def test_eight_processes_that_start_at_once_on_a_fresh_store_all_get_in(tmp_path: Path) -> None:
    context = multiprocessing.get_context("spawn")
    barrier = context.Barrier(8)
    uri = f"sqlite:///{tmp_path}/mlruns/mlflow.db"
    workers = [
        context.Process(target=upload_at_once, args=(uri, str(tmp_path), number, barrier)) for number in range(8)
    ]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(timeout=90)
    assert [worker.exitcode for worker in workers] == [0] * 8
    kept = runs_of(MLflowTracker(uri=uri))
    folders = sorted(run.data.tags["contextcliff.folder"] for run in kept)
    assert folders == [f"run-{number}" for number in range(8)]
    assert {run.info.status for run in kept} == {"FINISHED"}


def test_a_data_set_that_another_job_makes_at_once_is_linked_on_the_next_try(
    tracker: MLflowTracker, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from mlflow.exceptions import MlflowException
    from mlflow.tracking import MlflowClient

    link, tried = MlflowClient.log_inputs, []

    def lost_twice(client: MlflowClient, *args: object, **kwargs: object) -> None:
        tried.append(args)
        if len(tried) <= 2:
            raise MlflowException("UNIQUE constraint failed: datasets.experiment_id, datasets.name, datasets.digest")
        link(client, *args, **kwargs)  # type: ignore[arg-type]

    monkeypatch.setattr(MlflowClient, "log_inputs", lost_twice)
    for name in ("one", "two"):
        tracker.log(tracked(tmp_path / name, report(run_id=name)))
    (model,) = client_of(tracker).search_logged_models([experiment_of(tracker)])
    for run in runs_of(tracker):
        inputs = client_of(tracker).get_run(run.info.run_id).inputs
        assert inputs is not None
        assert [each.dataset.name for each in inputs.dataset_inputs] == [report().run.dataset]
        assert [each.model_id for each in inputs.model_inputs] == [model.model_id]


def test_a_view_that_another_job_makes_at_once_is_set_on_the_next_try(
    tracker: MLflowTracker, monkeypatch: pytest.MonkeyPatch
) -> None:
    from mlflow.exceptions import MlflowException
    from mlflow.tracking import MlflowClient

    set_tag, tried = MlflowClient.set_experiment_tag, []

    def lost_to_another(client: MlflowClient, experiment_id: str, key: str, value: str) -> None:
        set_tag(client, experiment_id, key, value)
        tried.append(key)
        if tried.count(key) == 1:
            raise MlflowException("UNIQUE constraint failed: experiment_tags.key, experiment_tags.experiment_id")

    monkeypatch.setattr(MlflowClient, "set_experiment_tag", lost_to_another)
    with tracker.opened() as opened:
        experiment = opened.client.get_experiment(opened.experiment_id)
    assert set(experiment.tags) >= {key for key in tried if "sharedViewState" in key}
    assert len(tried) == 2 * len(set(tried)) >= 4


@pytest.mark.parametrize(("is_new", "mode"), [(True, "wal"), (False, "delete")])
def test_only_a_database_that_mlflow_is_to_make_keeps_a_write_ahead_log(
    tmp_path: Path, is_new: bool, mode: str
) -> None:
    database = tmp_path / "runs.db"
    with closing(sqlite3.connect(database)) as connection:
        if not is_new:
            connection.execute("CREATE TABLE own (name TEXT)")
        _try_sqlite(database)
        assert connection.execute("PRAGMA journal_mode").fetchone() == (mode,)


@pytest.mark.parametrize(
    "uri",
    [
        *("sqlite:///mlruns/mlflow.db", "sqlite:////var/lib/mlflow.db", "sqlite+pysqlite:///x.db"),
        *("http://localhost:5000", "https://me:word@tracking.example.org/mlflow"),
        *("postgresql+psycopg2://me:word@db/runs", "databricks", "databricks://profile"),
    ],
)
def test_places_that_mlflow_knows_pass(uri: str) -> None:
    MLflowTracker(uri=uri).check()


@pytest.mark.parametrize(
    "uri",
    [
        *("", "mlruns", "./mlruns", "file:///tmp/mlruns", "C:\\mlruns", "ftp://host/x", "http://", "http://:5000"),
        *("sqlite://", "sqlite:///:memory:", "sqlite://mlruns/x.db", "sqlite:///file:x.db?uri=true"),
    ],
)
def test_places_that_keep_nothing_are_refused_by_key(uri: str) -> None:
    with pytest.raises(ValueError, match=r"^tracking\.uri: ") as raised:
        MLflowTracker(uri=uri).check()
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize(
    ("uri", "command"),
    [
        (MLflowTracker().uri, "contextcliff ui"),
        ("sqlite:////a b/x.db", "contextcliff ui 'tracking.uri=sqlite:////a b/x.db'"),
        ("http://host:5000", "open http://host:5000"),
        ("https://me:word@host", "open https://host"),
    ],
)
def test_the_command_names_the_store_as_it_was_given_without_a_password(uri: str, command: str) -> None:
    assert MLflowTracker(uri=uri).ui_command() == command


def test_a_page_is_linked_where_it_shows_this_store_and_a_view_that_is_not_there_is_refused(
    tracker: MLflowTracker, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert MLflowTracker().ui_command("sweep-a1") == "contextcliff ui --view sweep-a1"
    tracker.address(page="http://page")  # makes the experiment
    experiment = client_of(tracker).get_experiment(experiment_of(tracker))
    shown = {"artifact_location": experiment.artifact_location, "creation_time": experiment.creation_time}
    other = {**shown, "creation_time": 1}
    for answer, linked in ((None, False), (other, False), (shown, True)):
        with page_of(answer) as page:
            monkeypatch.setattr(mlflow_module, "PAGE", page)
            address = f"{page}/#/experiments/{experiment.experiment_id}/runs?viewStateShareKey=curves"
            assert tracker.address("curves") == (address if linked else None)
    with pytest.raises(TrackingError, match="has no view sweep-a1; it has by-task, curves, kv-policies, leaderboard"):
        tracker.address("sweep-a1")


@contextmanager
def page_of(experiment: Mapping[str, object] | None) -> Iterator[str]:
    """A server that answers as MLflow's page does; one that answers otherwise without an experiment."""

    class Page(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.end_headers()
            self.wfile.write(b"hello" if experiment is None else json.dumps({"experiment": experiment}).encode())

        def log_message(self, *_: object) -> None: ...

    server = HTTPServer(("127.0.0.1", 0), Page)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
