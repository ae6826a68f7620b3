"""Runs in MLflow: `tracking=mlflow`. MLflow is imported at the first call, since that takes seconds."""

from __future__ import annotations

import json
import re
import shlex
import shutil
import sqlite3
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from contextcliff.analysis.judged_by import compact, differing, rule_of
from contextcliff.errors import one_line
from contextcliff.settings import GivenPath, settings
from contextcliff.tracking.comparison_upload import log_comparison
from contextcliff.tracking.fetched_run import fetch_run
from contextcliff.tracking.metrics import RULE, measurements, parameters, tags
from contextcliff.tracking.quiet import FIRST_REQUEST, LATER_REQUESTS, quiet_mlflow, variables_set
from contextcliff.tracking.tracker import Tracked, TrackedComparison, TrackingError
from contextcliff.tracking.tracking_uri import TrackingUri
from contextcliff.tracking.uploads import mlflow_errors, uploaded, uploads

if TYPE_CHECKING:
    from mlflow.entities import Run
    from mlflow.tracking import MlflowClient

# MLflow takes 100 parameters a call and one megabyte: 25 of the longest stay below that.
_PARAMETERS_A_CALL = 25
_METRICS_A_CALL = 100
_LONGEST_CAUSE = 300
_MAX_EXPERIMENT = 500
_SAMPLES_TABLE = "samples_table.json"


@settings
class MLflowTracker:
    """Keeps each report as one MLflow run, with a metric point for each context length."""

    uri: str = "sqlite:///mlruns/mlflow.db"
    """A database (`sqlite:///FOLDER/FILE.db`, four slashes for an absolute path) or a server's address."""
    experiment: str = "contextcliff"
    artifacts: GivenPath | None = None
    """Where a new experiment keeps its files; None: beside a SQLite database, else where the server says."""

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

    def log(self, tracked: Tracked) -> str:
        """Upload a run, unless it is there with the same results; returns one line that says where it is.

        An earlier upload with other results by the same rule is kept and tagged with the id of the new one; an upload
        by another rule is left alone. A run whose upload breaks off is left as FAILED, and the next call makes a new
        one. Raises `TrackingError`.
        """
        return self._place_of(lambda client, experiment_id: self._run_id(client, experiment_id, tracked))

    def log_comparison(self, tracked: TrackedComparison) -> str:
        """Upload a comparison as a run of its own, unless it is there with the same results, as `log` does."""
        return self._place_of(lambda client, experiment_id: log_comparison(client, experiment_id, tracked))

    def fetch(self, tracked_id: str, *, experiment: Path) -> Path:
        """The folder of the run with this MLflow id, fetched where it is not here. Raises `TrackingError`."""
        from mlflow.tracking import MlflowClient

        uri = TrackingUri(self.uri)
        try:
            with quiet_mlflow(), uri.ready(), variables_set(FIRST_REQUEST, unless_set=True):
                return fetch_run(MlflowClient(tracking_uri=uri.absolute), tracked_id, experiment=experiment)
        except mlflow_errors() as error:
            raise _tracking_error(uri, error, doing=f"fetch run {tracked_id}") from error

    def _place_of(self, upload: Callable[[MlflowClient, str], str]) -> str:
        """One line that says where the run is that `upload` makes in an experiment, by its id."""
        uri = TrackingUri(self.uri)
        try:
            with quiet_mlflow():
                experiment_id, run_id = self._logged(uri, upload)
        except ImportError as error:
            # The driver of a database other than SQLite, or a broken installation of MLflow.
            raise _tracking_error(uri, error) from error
        if uri.is_web:
            return f"{uri.shown.rstrip('/')}/#/experiments/{experiment_id}/runs/{run_id}"
        return f"run {run_id} of experiment {self.experiment} in {uri.shown}"

    def ui_command(self) -> str:
        """The shell command that shows the runs, or `open ADDRESS` where a server does."""
        uri = TrackingUri(self.uri)
        if uri.is_web or uri.scheme == "databricks":
            return f"open {uri.shown}"
        store = shlex.quote(uri.shown)
        return f"{_mlflow_script()} ui --backend-store-uri {store} --host 127.0.0.1 --port 5000"

    def _logged(self, uri: TrackingUri, upload: Callable[[MlflowClient, str], str]) -> tuple[str, str]:
        """The ids of the MLflow experiment and run that hold the results, uploaded where needed."""
        from mlflow.tracking import MlflowClient

        try:
            with uri.ready(), variables_set(FIRST_REQUEST, unless_set=True):
                client = MlflowClient(tracking_uri=uri.absolute)
                experiment_id = self._experiment_id(client)
            with variables_set(LATER_REQUESTS, unless_set=True):
                return experiment_id, upload(client, experiment_id)
        except mlflow_errors() as error:
            raise _tracking_error(uri, error) from error

    def _experiment_id(self, client: MlflowClient) -> str:
        from mlflow.exceptions import MlflowException

        experiment = client.get_experiment_by_name(self.experiment)
        if experiment is None:
            try:
                return client.create_experiment(self.experiment, artifact_location=self._artifact_location())
            except MlflowException as error:
                # Another process may have created it on the server in the meantime.
                experiment = client.get_experiment_by_name(self.experiment)
                if experiment is None:
                    raise error
        if experiment.lifecycle_stage != "active":
            raise MlflowException(
                f"experiment {self.experiment!r} is deleted; restore it with "
                f"`mlflow experiments restore -x {experiment.experiment_id}` or choose another tracking.experiment"
            )
        return str(experiment.experiment_id)

    def _artifact_location(self) -> str | None:
        if self.artifacts is not None:
            return self.artifacts
        database = TrackingUri(self.uri).database
        # MLflow's own default is ./mlruns in the current folder, wherever the database is.
        return None if database is None else database.parent.as_uri()

    def _run_id(self, client: MlflowClient, experiment_id: str, tracked: Tracked) -> str:
        """The id of the MLflow run that holds these results, uploaded where there is none."""
        labels = tags(tracked.report)
        run_id = tracked.report.run.run_id
        earlier = [
            run
            for run in uploads(client, experiment_id, tag="contextcliff.run_id", value=run_id)
            if _by_the_same_rule(run, tracked)
        ]
        return uploaded(
            client,
            experiment_id,
            earlier=earlier,
            labels=labels,
            name=tracked.name or run_id,
            fill=lambda new: self._upload(client, new, tracked),
        )

    def _upload(self, client: MlflowClient, run_id: str, tracked: Tracked) -> None:
        from mlflow.entities import Metric, Param

        now = int(time.time() * 1000)
        redact = TrackingUri(self.uri).redact
        params = [
            Param(key, value)
            for key, value in parameters({k: redact(v) for k, v in tracked.parameters.items()}).items()
        ]
        for start in range(0, len(params), _PARAMETERS_A_CALL):
            client.log_batch(run_id, params=params[start : start + _PARAMETERS_A_CALL], synchronous=True)
        metrics = [Metric(each.key, each.value, now, each.step) for each in measurements(tracked.report)]
        for start in range(0, len(metrics), _METRICS_A_CALL):
            client.log_batch(run_id, metrics=metrics[start : start + _METRICS_A_CALL], synchronous=True)
        client.log_artifacts(run_id, str(tracked.folder))
        if tracked.samples:
            import pandas as pd

            # As objects, so that a column of whole numbers with a gap stays one of whole numbers.
            table = pd.DataFrame([dict(row) for row in tracked.samples], dtype=object)
            client.log_table(run_id, data=table, artifact_file=_SAMPLES_TABLE)


def _by_the_same_rule(run: Run, tracked: Tracked) -> bool:
    """Whether an upload was judged by this report's rule; uploads of earlier versions have it in their parameters."""
    tag = run.data.tags.get(RULE)
    # A parameter that is None was left to the task and may have had any value.
    known = json.loads(tag) if tag else {key: value for key, value in run.data.params.items() if value != "None"}
    return not differing(compact(rule_of(tracked.report)), compact(known))


def _tracking_error(uri: TrackingUri, error: Exception, *, doing: str = "track") -> TrackingError:
    """The cause in one line, without the paragraphs that SQLAlchemy and servers put around it."""
    root: BaseException = error
    while root.__cause__ is not None:
        root = root.__cause__
    message = str(root if isinstance(root, sqlite3.Error) else error)
    line = next((line.strip() for line in message.splitlines() if line.strip()), type(error).__name__)
    line = line.partition(" Response body:")[0]
    caused = re.search(r"\(Caused by (.*)\)$", line)
    line = uri.redact(caused[1] if caused else line)
    return TrackingError(f"can't {doing} in {uri.shown}: {one_line(line, longest=_LONGEST_CAUSE)}")


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
