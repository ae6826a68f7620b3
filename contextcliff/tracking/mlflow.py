"""Runs in MLflow: `tracking=mlflow`. MLflow is imported at the first call, since that takes seconds."""

from __future__ import annotations

import json
import re
import shlex
import shutil
import sys
import time
from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from contextcliff.analysis.judged_by import compact, differing, rule_of
from contextcliff.records.report import Report
from contextcliff.records.sweep import SweepRow
from contextcliff.settings import FolderName, GivenPath, settings
from contextcliff.tracking.experiment_views import LEADERBOARD, view_address
from contextcliff.tracking.live_upload import UNDER_WAY, LiveUpload
from contextcliff.tracking.metrics import RULE, metrics_of, tags
from contextcliff.tracking.mlflow_store import MLflowStore, Opened
from contextcliff.tracking.run_traces import delete_traces, log_traces
from contextcliff.tracking.run_upload import fill_run, log_tags
from contextcliff.tracking.sweep_upload import log_sweep, sweep_rows, sweep_tags
from contextcliff.tracking.tracker import (
    Begun,
    RunTitle,
    Started,
    Tracked,
    TrackedComparison,
    TrackedSweep,
    TrackingError,
    model_title,
)
from contextcliff.tracking.tracking_uri import TrackingUri
from contextcliff.tracking.uploads import LAYOUT, log_comparison, same_upload, uploaded, uploads

if TYPE_CHECKING:
    from mlflow.entities import Run
    from mlflow.tracking import MlflowClient

_MAX_EXPERIMENT = 500
HOST, PORT = "127.0.0.1", 5000
PAGE = f"http://{HOST}:{PORT}"
"""Where MLflow's own command shows a local store."""
_LAYOUT_VERSION = 2
_RUN_ID = "contextcliff.run_id"
_NEEDED = ("report.json", "samples.jsonl", "manifest.json")
"""What is fetched of a run."""
_LARGEST_FILE = 4 << 30


@settings
class MLflowTracker:
    """Keeps each report as one MLflow run, with a metric point for each context length."""

    uri: str = "sqlite:///mlruns/mlflow.db"
    """A database (`sqlite:///FOLDER/FILE.db`, four slashes for an absolute path) or a server's address."""
    experiment: FolderName = "contextcliff"
    artifacts: GivenPath | None = None
    """Where a new experiment keeps its files; None: beside a SQLite database, else where the server says."""
    traces: Literal["failures", "all", "none"] = "failures"
    """Which answers become traces, which are read one by one."""
    log_text: bool = True
    """Whether prompts, answers and documents are uploaded; figures, scores and reports always are."""
    system_metrics: bool = True
    """Whether the load of this machine is kept while a model runs on it."""

    @property
    def is_shared(self) -> bool:
        """Whether it is a server or a database other than a SQLite file."""
        return not TrackingUri(self.uri).is_sqlite_file

    def check(self) -> None:
        """Raise `ValueError`, one line that names the key, for a URI or an experiment that MLflow refuses."""
        try:
            TrackingUri(self.uri).check()
        except ValueError as error:
            raise ValueError(f"tracking.uri: {error}") from None
        if not self.experiment.strip():
            raise ValueError("tracking.experiment: the experiment needs a name")
        if len(self.experiment) > _MAX_EXPERIMENT:
            raise ValueError(f"tracking.experiment: longer than {_MAX_EXPERIMENT} characters")

    def begin(self, started: Started) -> LiveUpload:
        """A RUNNING run in MLflow, made beside the run itself; where that fails, `finish` tries again."""
        return LiveUpload(store=self._store, started=started, system_metrics=self.system_metrics)

    def log(self, tracked: Tracked, *, begun: Begun | None = None) -> str:
        """Upload a run, into the one that has begun where there is one; returns one line that says where it is.

        A run that is there with the same results is left as it is, and what has begun is deleted.

        An earlier upload with other results by the same rule is deleted, from where MLflow can restore it; an upload
        by another rule is left alone. A run whose upload breaks off is left as FAILED, and the next call makes a new
        one. Raises `TrackingError`.
        """
        with self._store.opened() as opened:
            run_id = self._uploaded(opened, tracked, begun)
        return self._place(opened, run_id)

    def has(self, tracked: Tracked) -> bool:
        with self._store.opened() as opened:
            _, earlier = _found(opened, tracked, live=None)
            return same_upload(earlier, self._labels(tracked)) is not None

    def log_comparison(self, tracked: TrackedComparison) -> str:
        with self._store.opened() as opened:
            run_id = log_comparison(opened.client, opened.experiment_id, tracked)
        return self._place(opened, run_id)

    def log_sweep(self, sweep: TrackedSweep) -> str:
        with self._store.opened() as opened:
            return log_sweep(opened.client, opened.experiment_id, sweep)

    def sweep_rows(self, sweep_id: str) -> Sequence[SweepRow]:
        with self._store.opened() as opened:
            return sweep_rows(opened.client, opened.experiment_id, sweep_id)

    def fetch(self, tracked_id: str, *, experiment: Path) -> Path:
        with self._store.client(doing=f"fetch run {tracked_id}") as client:
            return _fetched_run(client, tracked_id, experiment=experiment)

    def leaderboard(self, page: str = PAGE) -> str:
        """The address of the experiment's leaderboard, on the server or on a `page` that shows the store."""
        with self._store.opened() as opened:
            uri = TrackingUri(self.uri)
            base = uri.shown.rstrip("/") if uri.is_web else page
            return f"{base}/{view_address(opened.experiment_id, LEADERBOARD)}"

    def ui_command(self) -> str:
        """The shell command that shows the runs, or `open ADDRESS` where a server does."""
        uri = TrackingUri(self.uri)
        if uri.is_web or uri.scheme == "databricks":
            return f"open {uri.shown}"
        store = shlex.quote(uri.shown)
        return f"{_mlflow_script()} ui --backend-store-uri {store} --host {HOST} --port {PORT}"

    @property
    def _store(self) -> MLflowStore:
        return MLflowStore(uri=TrackingUri(self.uri), experiment=self.experiment, artifacts=self.artifacts)

    def _place(self, opened: Opened, run_id: str) -> str:
        """One line that says where a run is."""
        uri = TrackingUri(self.uri)
        if uri.is_web:
            return f"{uri.shown.rstrip('/')}/#/experiments/{opened.experiment_id}/runs/{run_id}"
        return f"run {run_id} of experiment {self.experiment} in {uri.shown}"

    def _uploaded(self, opened: Opened, tracked: Tracked, begun: Begun | None) -> str:
        client, experiment_id = opened.client, opened.experiment_id
        live = None if begun is None else begun.tracked_id
        sent = frozenset(metric for point in ([] if begun is None else begun.points) for metric in metrics_of(point))
        report = tracked.report
        in_sweep = sweep_tags(client, experiment_id, tracked.place, tracked.row)
        labels = {**self._labels(tracked), **in_sweep}
        run = None if live is None else client.get_run(live)
        # A run that another process has removed meanwhile is not there to be filled.
        if run is not None and run.info.lifecycle_stage != "active":
            run, live, sent = None, None, frozenset()
        unfinished, earlier = _found(opened, tracked, live=live)
        there = same_upload(earlier, labels)
        if there is not None:
            # It belongs to the sweep that asked for it last.
            log_tags(client, there, in_sweep, there={})
            for name in (live, *(str(run.info.run_id) for run in unfinished)):
                if name is not None:
                    client.delete_run(name)
            return there
        ended_ms = int(datetime.fromisoformat(report.run.created_at).timestamp() * 1000)
        started_ms = ended_ms - round(report.usage.wall_s * 1000)
        rule = (tracked.name or report.run.run_id).removeprefix(report.run.run_id).lstrip("-")
        name = self._free_name(opened, _title_of(report, tracked.parameters).shown(rule=rule), tracked)
        if run is None:
            run = client.create_run(experiment_id, start_time=started_ms, tags=labels, run_name=name)
        else:
            ended_ms, started_ms = int(time.time() * 1000), run.info.start_time
            client.update_run(str(run.info.run_id), name=name)
            log_tags(client, str(run.info.run_id), labels, there=run.data.tags)
        run_id, made = str(run.info.run_id), run

        def fill() -> None:
            fill_run(client, made, tracked, log_text=self.log_text, sent=sent)
            kept = "none" if not self.log_text else self.traces
            log_traces(self._store.uri.absolute, experiment_id, run_id, tracked, kept=kept, started_ms=started_ms)

        return uploaded(
            client,
            run_id,
            earlier=[*earlier, *unfinished],
            fill=fill,
            status="KILLED" if tracked.interrupted else "FINISHED",
            ended_ms=max(ended_ms, started_ms),
            remove=lambda old: delete_traces(self._store.uri.absolute, experiment_id, old),
        )

    def _labels(self, tracked: Tracked) -> dict[str, str]:
        """The tags of a finished run."""
        report = tracked.report
        return {
            **tags(report),
            **tracked.provenance,
            # Another layout is another upload of the same results.
            LAYOUT: f"{_LAYOUT_VERSION} traces={self.traces} text={str(self.log_text).lower()}",
            "contextcliff.folder": tracked.name or report.run.run_id,
        }

    def _free_name(self, opened: Opened, name: str, tracked: Tracked) -> str:
        """The name, with a part of the fingerprint where another configuration has the same one."""
        quote = '"' if "'" in name else "'"
        found = opened.client.search_runs(
            [opened.experiment_id], f"attributes.run_name = {quote}{name}{quote}", max_results=50
        )
        run_id = tracked.report.run.run_id
        taken = any(run.data.tags.get(_RUN_ID) not in (run_id, None) for run in found)
        return f"{name} · {tracked.report.run.fingerprint[:8]}" if taken else name


def _title_of(report: Report, parameters: Mapping[str, str]) -> RunTitle:
    """The title of a run that has ended."""
    run = report.run
    named = any(re.match(r"\++model\.name=|model\.name=", word) for word in shlex.split(run.command))
    return RunTitle(
        model=model_title(run.model, option="" if named else parameters.get("model", ""), engine=run.engine),
        task=run.task,
        kv_policy=run.kv_policy,
        label=run.label,
        rope=run.rope,
    )


def _fetched_run(client: MlflowClient, mlflow_id: str, *, experiment: Path) -> Path:
    """The folder of the run with this MLflow id: its own in `experiment`, or one with the files that MLflow has.

    Files are fetched once, into `experiment/fetched/ID`. Raises `TrackingError` for a run without them.
    """
    run = client.get_run(mlflow_id)
    own = experiment / str(run.data.tags.get("contextcliff.folder", run.info.run_name))
    if own.parent == experiment and (own / _NEEDED[0]).is_file():
        return own
    folder = experiment / "fetched" / mlflow_id
    if all((folder / name).is_file() for name in _NEEDED):
        return folder
    sizes = {file.path: file.file_size or 0 for file in client.list_artifacts(mlflow_id)}
    lacking = [name for name in _NEEDED if name not in sizes]
    if lacking:
        raise TrackingError(f"run {mlflow_id} has no {', '.join(lacking)}: it is none of ContextCliff, or incomplete")
    large = [name for name in _NEEDED if sizes[name] > _LARGEST_FILE]
    if large:
        raise TrackingError(f"run {mlflow_id}: {large[0]} is larger than {_LARGEST_FILE >> 30} GiB")
    folder.mkdir(parents=True, exist_ok=True)
    for name in reversed(_NEEDED):  # the report last: a folder that has one is complete
        client.download_artifacts(mlflow_id, name, str(folder))
    return folder


def _found(opened: Opened, tracked: Tracked, *, live: str | None) -> tuple[list[Run], list[Run]]:
    """The other runs that MLflow has of this one: those that never had a report, and its uploads by the same rule."""
    run_id = tracked.report.run.run_id
    found = [
        run
        for run in uploads(opened.client, opened.experiment_id, tag=_RUN_ID, value=run_id)
        if run.info.run_id != live
    ]
    unfinished = [run for run in found if run.data.tags.get(LAYOUT) == UNDER_WAY]
    return unfinished, [run for run in found if run not in unfinished and _by_the_same_rule(run, tracked)]


def _by_the_same_rule(run: Run, tracked: Tracked) -> bool:
    """Whether an upload was judged by this report's rule; uploads of earlier versions have it in their parameters."""
    tag = run.data.tags.get(RULE)
    # A parameter that is None was left to the task and may have had any value.
    known = json.loads(tag) if tag else {key: value for key, value in run.data.params.items() if value != "None"}
    return not differing(compact(rule_of(tracked.report)), compact(known))


def _mlflow_script() -> str:
    """The shell command for `mlflow` in the current folder: by name, by path, or as a module."""
    if shutil.which("mlflow"):
        return "mlflow"
    python = Path(sys.executable)
    script = shutil.which("mlflow", path=str(python.parent))
    program = Path(script) if script else python
    here = Path.cwd()
    shown = str(program.relative_to(here) if program.is_relative_to(here) else program)
    return shlex.quote(shown) if script else f"{shlex.quote(shown)} -m mlflow"
