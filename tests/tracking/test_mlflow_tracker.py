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
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import contextcliff.tracking.tracking_uri as address_module
from contextcliff.tracking.mlflow import MLflowTracker
from contextcliff.tracking.none import NoTracker
from contextcliff.tracking.tracker import Tracker, TrackingError
from tests.tracking.tracking_runs import report, tracked, upload_at_once

if TYPE_CHECKING:
    from mlflow.entities import Run
    from mlflow.tracking import MlflowClient


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The URI of one database for the module; a test keeps apart by its experiment."""
    return f"sqlite:///{tmp_path_factory.mktemp('store') / 'deep' / 'mlflow.db'}"


@pytest.fixture
def tracker(store: str, request: pytest.FixtureRequest) -> MLflowTracker:
    return MLflowTracker(uri=store, experiment=request.node.name)


def client_of(tracker: MLflowTracker) -> MlflowClient:
    from mlflow.tracking import MlflowClient

    return MlflowClient(tracking_uri=tracker.uri)


def experiment_of(tracker: MLflowTracker) -> str:
    experiment = client_of(tracker).get_experiment_by_name(tracker.experiment)
    assert experiment is not None
    return str(experiment.experiment_id)


def runs_of(tracker: MLflowTracker) -> list[Run]:
    return client_of(tracker).search_runs([experiment_of(tracker)], order_by=["attributes.start_time ASC"])


def deleted_runs_of(tracker: MLflowTracker) -> list[Run]:
    from mlflow.entities import ViewType

    return list(client_of(tracker).search_runs([experiment_of(tracker)], run_view_type=ViewType.DELETED_ONLY))


def test_a_report_becomes_one_finished_run_named_after_it(tracker: MLflowTracker, tmp_path: Path) -> None:
    place = tracker.log(tracked(tmp_path))
    (run,) = runs_of(tracker)
    assert run.info.run_name == "qwen · niah · none"
    assert run.data.tags["contextcliff.folder"] == "qwen-niah-f16-1a2b"
    assert run.data.tags["mlflow.note.content"].startswith("**SAFE CAP: 1,012 tokens")
    assert run.info.status == "FINISHED"
    assert run.data.tags["kv_policy"] == "none"
    assert run.data.params["task.lengths"] == "[512, 1024, 4096]"
    assert run.data.metrics["safe_cap_tokens"] == 1012
    assert run.info.run_id in place
    assert "\n" not in place
    client = client_of(tracker)
    points = client.get_metric_history(run.info.run_id, "by_length/score")
    assert [(point.step, point.value) for point in points] == [(512, 1.0), (1024, 1.0), (4096, 0.4)]
    assert json.loads(run.data.tags["mlflow.loggedArtifacts"]) == [{"path": "samples_table.json", "type": "table"}]
    table = json.loads(
        Path(client.download_artifacts(run.info.run_id, "samples_table.json", str(tmp_path))).read_text()
    )
    assert table["columns"] == ["answers", "score", "context_tokens", "sample_id", "cached_tokens", "metadata"]
    assert table["data"] == [
        [["7"], 1.0, 512, "s1", None, {"hops": 2, "topic": "a city"}],
        [["9"], None, 1024, "s2", 8, {}],
    ]
    assert tracker.log(tracked(tmp_path)) == place  # the same results are kept once
    assert len(runs_of(tracker)) == 1


def test_the_files_lie_beside_the_database_and_not_in_the_current_folder(
    tracker: MLflowTracker, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    elsewhere = tmp_path / "cwd"
    elsewhere.mkdir()
    monkeypatch.chdir(elsewhere)
    tracker.log(tracked(tmp_path / "run"))
    (run,) = runs_of(tracker)
    folder = Path(tracker.uri.removeprefix("sqlite:///")).parent / run.info.run_id / "artifacts"
    kept = "report.json report.md samples.jsonl manifest.json figures/curve.png samples_table.json"
    assert {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()} == set(kept.split())
    assert list(elsewhere.iterdir()) == []


def test_other_results_of_the_same_run_supersede_the_older_ones(tracker: MLflowTracker, tmp_path: Path) -> None:
    tracker.log(tracked(tmp_path, report(partial=True)))
    tracker.log(tracked(tmp_path, report(partial=False)))
    (newer,) = runs_of(tracker)
    (older,) = deleted_runs_of(tracker)
    assert older.data.tags["contextcliff.superseded_by"] == newer.info.run_id
    assert older.info.status == "FINISHED"
    assert "contextcliff.superseded_by" not in newer.data.tags


def test_a_report_by_another_rule_supersedes_nothing_and_has_its_own_name(
    tracker: MLflowTracker, tmp_path: Path
) -> None:
    for threshold, successes in (("0.8", 47), ("0.9", 47), ("0.8", 46)):
        made = report(judged_by={"analysis.threshold": threshold}, successes=successes)
        further = "" if threshold == "0.8" else "-threshold-0.9"
        tracker.log(tracked(tmp_path, made, name=f"{made.run.run_id}{further}"))
    by_name = {run.info.run_name: run for run in runs_of(tracker)}
    assert set(by_name) == {"qwen · niah · none", "qwen · niah · none · threshold-0.9"}
    again = by_name["qwen · niah · none"]
    (first,) = deleted_runs_of(tracker)
    assert first.data.tags["contextcliff.superseded_by"] == again.info.run_id


def test_an_upload_that_breaks_is_left_failed_and_the_next_one_is_fresh(store: str, tmp_path: Path) -> None:
    in_the_way = tmp_path / "files"
    in_the_way.write_text("a file where a folder has to be")
    tracker = MLflowTracker(uri=store, experiment="breaks", artifacts=str(in_the_way))
    with pytest.raises(TrackingError) as raised:
        tracker.log(tracked(tmp_path / "run"))
    assert str(in_the_way) in str(raised.value)
    assert tracker.uri in str(raised.value)
    assert [run.info.status for run in runs_of(tracker)] == ["FAILED"]
    in_the_way.unlink()
    tracker.log(tracked(tmp_path / "run"))
    assert [run.info.status for run in runs_of(tracker)] == ["FINISHED"]


def test_an_interrupted_upload_is_left_failed(
    tracker: MLflowTracker, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from mlflow.tracking import MlflowClient

    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(MlflowClient, "log_artifacts", interrupted)
    with pytest.raises(KeyboardInterrupt):
        tracker.log(tracked(tmp_path))
    assert [run.info.status for run in runs_of(tracker)] == ["FAILED"]


def fails(uri: str, folder: Path) -> tuple[str, float]:
    """The line of the error, and the seconds that it took."""
    started = time.monotonic()
    with pytest.raises(TrackingError) as raised:
        MLflowTracker(uri=uri).log(tracked(folder))
    line = str(raised.value)
    assert "\n" not in line
    return line, time.monotonic() - started


def test_a_corrupt_database_is_named_at_once(tmp_path: Path) -> None:
    (tmp_path / "bad.db").write_bytes(b"this is no database, whatever its name says" * 100)
    line, took = fails(f"sqlite:///{tmp_path}/bad.db", tmp_path / "run")
    assert line == f"can't track in sqlite:///{tmp_path}/bad.db: file is not a database"
    assert took < 10


def test_a_database_that_another_program_holds_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(address_module, "BUSY_S", 0.3)
    holder = sqlite3.connect(tmp_path / "held.db", isolation_level=None)
    holder.execute("BEGIN EXCLUSIVE")
    try:
        line, took = fails(f"sqlite:///{tmp_path}/held.db", tmp_path / "run")
    finally:
        holder.close()
    assert "database is locked" in line
    assert took < 10


def test_a_database_of_another_schema_is_named(tmp_path: Path) -> None:
    with sqlite3.connect(tmp_path / "old.db") as other:
        other.execute("CREATE TABLE alembic_version (version_num VARCHAR(32) NOT NULL)")
        other.execute("INSERT INTO alembic_version VALUES ('fromthefuture')")
    other.close()
    line, _ = fails(f"sqlite:///{tmp_path}/old.db", tmp_path / "run")
    assert "fromthefuture" in line


def test_a_dead_server_is_named_within_seconds_and_its_password_is_not(tmp_path: Path) -> None:
    line, took = fails("http://me:hunter2@127.0.0.1:1", tmp_path)
    assert line.startswith("can't track in http://127.0.0.1:1: ")
    assert "Connection refused" in line
    assert "hunter2" not in line
    assert took < 12


def test_a_page_that_is_no_mlflow_is_named_without_the_page(tmp_path: Path) -> None:
    class Page(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.end_headers()
            self.wfile.write(b"<html>\n<b>welcome</b></html>")

        def log_message(self, *_: object) -> None: ...

    with HTTPServer(("127.0.0.1", 0), Page) as server:
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        line, _ = fails(f"http://127.0.0.1:{server.server_port}", tmp_path)
        server.shutdown()
    assert "not in a valid JSON format" in line
    assert "<html>" not in line


def test_a_deleted_experiment_is_named_with_the_way_back(tracker: MLflowTracker, tmp_path: Path) -> None:
    tracker.log(tracked(tmp_path))
    client_of(tracker).delete_experiment(experiment_of(tracker))
    with pytest.raises(TrackingError, match="is deleted; restore it with"):
        tracker.log(tracked(tmp_path))


def test_a_password_in_the_uri_is_never_shown(tmp_path: Path) -> None:
    secret = MLflowTracker(uri="postgresql://me:hunter2@127.0.0.1:1/runs")
    line, took = fails(secret.uri, tmp_path)
    assert "hunter2" not in line + secret.ui_command()
    assert took < 10


def test_nothing_of_the_process_is_changed(
    tracker: MLflowTracker, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import mlflow

    monkeypatch.setenv("MLFLOW_HTTP_REQUEST_TIMEOUT", "77")
    before = (dict(os.environ), list(warnings.filters), logging.getLogger("mlflow").level, mlflow.get_tracking_uri())
    tracker.log(tracked(tmp_path))
    after = (dict(os.environ), list(warnings.filters), logging.getLogger("mlflow").level, mlflow.get_tracking_uri())
    assert after == before
    assert mlflow.active_run() is None


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
    path = os.pathsep.join([str(Path(__file__).parent), str(Path(__file__).parents[2])])
    done = subprocess.run(
        [sys.executable, "-c", script],
        cwd=tmp_path,
        env={**plain, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        timeout=90,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert (tmp_path / "mlruns" / "mlflow.db").is_file()
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

    link, tried = MlflowClient.log_inputs, [0]

    def lost_twice(client: MlflowClient, *args: object, **kwargs: object) -> None:
        tried[0] += 1
        if tried[0] <= 2:
            raise MlflowException("UNIQUE constraint failed: datasets.experiment_id, datasets.name, datasets.digest")
        link(client, *args, **kwargs)  # type: ignore[arg-type]

    monkeypatch.setattr(MlflowClient, "log_inputs", lost_twice)
    tracker.log(tracked(tmp_path))
    (run,) = runs_of(tracker)
    assert run.info.status == "FINISHED"
    inputs = client_of(tracker).get_run(run.info.run_id).inputs
    assert inputs is not None
    assert [each.dataset.name for each in inputs.dataset_inputs] == [report().run.dataset]


def test_of_a_model_that_two_jobs_make_at_once_the_first_is_kept(
    tracker: MLflowTracker, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from mlflow.tracking import MlflowClient

    tracker.log(tracked(tmp_path / "one", report(run_id="one")))
    look, looked = MlflowClient.search_logged_models, [0]

    def too_early(client: MlflowClient, *args: object, **kwargs: object) -> object:
        looked[0] += 1
        return [] if looked[0] == 1 else look(client, *args, **kwargs)  # type: ignore[arg-type]

    monkeypatch.setattr(MlflowClient, "search_logged_models", too_early)
    tracker.log(tracked(tmp_path / "two", report(run_id="two")))
    monkeypatch.undo()
    (model,) = client_of(tracker).search_logged_models([experiment_of(tracker)])
    for run in runs_of(tracker):
        inputs = client_of(tracker).get_run(run.info.run_id).inputs
        assert inputs is not None
        assert [each.model_id for each in inputs.model_inputs] == [model.model_id]


@pytest.mark.parametrize(
    "uri",
    [
        "sqlite:///mlruns/mlflow.db",
        "sqlite:////var/lib/mlflow.db",
        "sqlite+pysqlite:///x.db",
        "http://localhost:5000",
        "https://me:word@tracking.example.org/mlflow",
        "postgresql+psycopg2://me:word@db/runs",
        "databricks",
        "databricks://profile",
    ],
)
def test_places_that_mlflow_knows_pass(uri: str) -> None:
    MLflowTracker(uri=uri).check()


@pytest.mark.parametrize(
    "uri",
    [
        "",
        "mlruns",
        "./mlruns",
        "file:///tmp/mlruns",
        "sqlite://",
        "sqlite:///:memory:",
        "sqlite://mlruns/x.db",
        "sqlite:///file:x.db?uri=true",
        "http://",
        "http://:5000",
        "ftp://host/x",
        "C:\\mlruns",
    ],
)
def test_places_that_keep_nothing_are_refused_by_key(uri: str) -> None:
    with pytest.raises(ValueError, match=r"^tracking\.uri: ") as raised:
        MLflowTracker(uri=uri).check()
    assert "\n" not in str(raised.value)


def test_an_experiment_needs_a_name() -> None:
    with pytest.raises(ValueError, match=r"^tracking\.experiment: "):
        MLflowTracker(experiment=" ").check()


def test_the_command_names_the_store_as_it_was_given(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    script = tmp_path / "mlflow"
    script.write_text("#!/bin/sh\n")
    script.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert MLflowTracker().ui_command() == (
        "mlflow ui --backend-store-uri sqlite:///mlruns/mlflow.db --host 127.0.0.1 --port 5000"
    )
    assert "'sqlite:////a b/x.db'" in MLflowTracker(uri="sqlite:////a b/x.db").ui_command()


def test_a_server_is_opened_and_its_password_not_shown() -> None:
    assert MLflowTracker(uri="http://host:5000").ui_command() == "open http://host:5000"
    assert MLflowTracker(uri="https://me:word@host").ui_command() == "open https://host"


def test_no_tracker_keeps_nothing_and_takes_no_key(tmp_path: Path) -> None:
    tracker: Tracker = NoTracker()
    tracker.check()
    assert tracker.log(tracked(tmp_path)) is None
    assert tracker.ui_command() is None
    with pytest.raises(ValueError, match="uri"):
        NoTracker(uri="x")  # type: ignore[call-arg]  # what is tested
