"""Runs kept in MLflow: `tracking=mlflow`. MLflow itself is imported at the first call (it takes seconds)."""

from __future__ import annotations

import json
import re
import shlex
import shutil
import sqlite3
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from contextcliff.analysis.judged_by import compact, differing, rule_of
from contextcliff.settings import GivenPath, settings
from contextcliff.tracking.metrics import RULE, measurements, parameters, tags
from contextcliff.tracking.quiet import REACHING, SENDING, environment, quiet_mlflow
from contextcliff.tracking.tracker import Tracked, TrackingError
from contextcliff.tracking.tracking_uri import Address

if TYPE_CHECKING:
    from mlflow.entities import Run
    from mlflow.tracking import MlflowClient

# MLflow takes 100 parameters a call, but also no more than a megabyte: 25 of the longest stay below it.
_PARAMETERS_A_CALL = 25
_METRICS_A_CALL = 100
_MAX_EXPERIMENT = 500
_SAMPLES_TABLE = "samples_table.json"
_SUPERSEDED = "contextcliff.superseded_by"


@settings
class MLflowTracker:
    """Keeps each report as one MLflow run, with a metric point for each context length."""

    uri: str = "sqlite:///mlruns/mlflow.db"
    """A database (`sqlite:///FOLDER/FILE.db`, four slashes for an absolute path) or a server's address."""
    experiment: str = "contextcliff"
    artifacts: GivenPath | None = None
    """Where a new experiment keeps its files; None: beside a SQLite database, else where the server says."""

    def check(self) -> None:
        """Raise `ValueError`, one line that names the key, for a place that can't be one."""
        try:
            Address(self.uri).check()
        except ValueError as error:
            raise ValueError(f"tracking.uri: {error}") from None
        if not self.experiment.strip():
            raise ValueError("tracking.experiment: the experiment needs a name")
        if len(self.experiment) > _MAX_EXPERIMENT:
            raise ValueError(f"tracking.experiment: longer than {_MAX_EXPERIMENT} characters")

    def log(self, tracked: Tracked) -> str:
        """Upload a run, or find the one that says the same; returns where it is, in one line.

        An earlier upload of the run with other results by the same rule stays, tagged with the id of the new one;
        one by another rule is left as it is. A run
        whose upload breaks is left as FAILED, and the next call makes a new one. Raises `TrackingError`.
        """
        address = Address(self.uri)
        try:
            with quiet_mlflow():
                experiment_id, run_id = self._kept(address, tracked)
        except ImportError as error:
            # The driver of a database other than SQLite, or a broken installation of MLflow.
            raise _cannot(address, error) from error
        if address.is_web:
            return f"{address.shown.rstrip('/')}/#/experiments/{experiment_id}/runs/{run_id}"
        return f"run {run_id} of experiment {self.experiment} in {address.shown}"

    def ui_command(self) -> str:
        """The shell command that shows the runs, or `open ADDRESS` where a server does."""
        address = Address(self.uri)
        if address.is_web or address.scheme == "databricks":
            return f"open {address.shown}"
        store = shlex.quote(address.shown)
        return f"{_mlflow_script()} ui --backend-store-uri {store} --host 127.0.0.1 --port 5000"

    def _kept(self, address: Address, tracked: Tracked) -> tuple[str, str]:
        """The ids of the experiment and of the run that now holds these results."""
        from mlflow.tracking import MlflowClient

        try:
            with address.ready(), environment(REACHING, unless_set=True):
                client = MlflowClient(tracking_uri=address.absolute)
                experiment_id = self._experiment_id(client)
            with environment(SENDING, unless_set=True):
                return experiment_id, self._run_id(client, experiment_id, tracked)
        except _faults() as error:
            raise _cannot(address, error) from error

    def _experiment_id(self, client: MlflowClient) -> str:
        from mlflow.exceptions import MlflowException

        found = client.get_experiment_by_name(self.experiment)
        if found is None:
            try:
                return client.create_experiment(self.experiment, artifact_location=self._artifact_location())
            except MlflowException as error:
                # On a server, another run of a sweep may have been quicker.
                found = client.get_experiment_by_name(self.experiment)
                if found is None:
                    raise error
        if found.lifecycle_stage != "active":
            raise MlflowException(
                f"experiment {self.experiment!r} is deleted; restore it with "
                f"`mlflow experiments restore -x {found.experiment_id}` or choose another tracking.experiment"
            )
        return str(found.experiment_id)

    def _artifact_location(self) -> str | None:
        if self.artifacts is not None:
            return self.artifacts
        database = Address(self.uri).database
        # By itself MLflow would take ./mlruns of the current folder, wherever the database is.
        return None if database is None else database.parent.as_uri()

    def _run_id(self, client: MlflowClient, experiment_id: str, tracked: Tracked) -> str:
        """The MLflow run that holds these results, uploaded where there is none yet."""
        labels = tags(tracked.report)
        run_id = tracked.report.run.run_id
        quote = '"' if "'" in run_id else "'"
        earlier = [
            run
            for run in client.search_runs([experiment_id], f"tags.`contextcliff.run_id` = {quote}{run_id}{quote}")
            if _SUPERSEDED not in run.data.tags and _by_the_same_rule(run, tracked)
        ]
        for run in earlier:
            same = run.data.tags.get("contextcliff.digest") == labels["contextcliff.digest"]
            if same and run.info.status == "FINISHED":
                return str(run.info.run_id)
        new = str(client.create_run(experiment_id, tags=labels, run_name=tracked.name or run_id).info.run_id)
        try:
            self._upload(client, new, tracked)
            client.set_terminated(new, "FINISHED")
        except BaseException:
            # Ctrl-C too: a run that stays RUNNING for ever would look like one at work.
            with suppress(*_faults()):
                client.set_terminated(new, "FAILED")
            raise
        for run in earlier:
            client.set_tag(run.info.run_id, _SUPERSEDED, new)
        return new

    def _upload(self, client: MlflowClient, run_id: str, tracked: Tracked) -> None:
        from mlflow.entities import Metric, Param

        now = int(time.time() * 1000)
        redact = Address(self.uri).redact
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
    """Whether an upload was judged as this report is; one of an earlier version tells it by its parameters."""
    told = run.data.tags.get(RULE)
    # A parameter without a value is left to the task: it may be any.
    known = json.loads(told) if told else {key: value for key, value in run.data.params.items() if value != "None"}
    return not differing(compact(rule_of(tracked.report)), compact(known))


def _faults() -> tuple[type[Exception], ...]:
    """What a broken, full, locked or absent place raises, here and in MLflow."""
    from alembic.util import CommandError
    from mlflow.exceptions import MlflowException
    from requests import RequestException
    from sqlalchemy.exc import SQLAlchemyError

    return MlflowException, SQLAlchemyError, CommandError, sqlite3.Error, RequestException, OSError


def _cannot(address: Address, error: Exception) -> TrackingError:
    """The one line: without the paragraphs that SQLAlchemy and servers put around the cause."""
    root: BaseException = error
    while root.__cause__ is not None:
        root = root.__cause__
    said = str(root if isinstance(root, sqlite3.Error) else error)
    line = next((line.strip() for line in said.splitlines() if line.strip()), type(error).__name__)
    line = line.partition(" Response body:")[0]
    caused = re.search(r"\(Caused by (.*)\)$", line)
    line = address.redact(caused[1] if caused else line)
    return TrackingError(f"can't track in {address.shown}: {line if len(line) <= 300 else line[:300] + '…'}")


def _mlflow_script() -> str:
    """How to call `mlflow` from a shell in the current folder."""
    if shutil.which("mlflow"):
        return "mlflow"
    python = Path(sys.executable)
    beside = shutil.which("mlflow", path=str(python.parent))
    found = Path(beside) if beside else python
    here = Path.cwd()
    shown = str(found.relative_to(here) if found.is_relative_to(here) else found)
    return shlex.quote(shown) if beside else f"{shlex.quote(shown)} -m mlflow"
