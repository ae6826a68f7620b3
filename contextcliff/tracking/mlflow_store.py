"""A place where MLflow keeps runs: opened with its experiment, without telemetry and log lines; each failure a line."""

from __future__ import annotations

import logging
import os
import re
import sqlite3
import threading
import warnings
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from contextcliff.errors import one_line
from contextcliff.tracking.experiment_views import write_views
from contextcliff.tracking.tracker import TrackingError
from contextcliff.tracking.tracking_uri import TrackingUri, commit_without_waiting
from contextcliff.tracking.uploads import mlflow_errors

if TYPE_CHECKING:
    from mlflow.tracking import MlflowClient

_LONGEST_CAUSE = 300
_ALWAYS = {
    # Read when mlflow is imported, where it would start a thread, and again at each call.
    "MLFLOW_DISABLE_TELEMETRY": "true",
    "DO_NOT_TRACK": "true",
    "MLFLOW_SUPPRESS_PRINTING_URL_TO_STDOUT": "true",
    "MLFLOW_ENABLE_ARTIFACTS_PROGRESS_BAR": "false",
}
_FIRST_REQUEST = {"MLFLOW_HTTP_REQUEST_MAX_RETRIES": "1", "MLFLOW_HTTP_REQUEST_TIMEOUT": "4"}
"""For the first request: a dead server is reported after about ten seconds; MLflow's own limits take minutes."""
_LATER_REQUESTS = {"MLFLOW_HTTP_REQUEST_MAX_RETRIES": "2", "MLFLOW_HTTP_REQUEST_TIMEOUT": "30"}
"""For the other requests, once the server has answered."""

_turn = threading.RLock()
_LOGGERS = ("mlflow", "alembic", "sqlalchemy", "urllib3")


@dataclass(frozen=True, kw_only=True, slots=True)
class Opened:
    """An experiment of a store that answers."""

    client: MlflowClient
    experiment_id: str


@dataclass(frozen=True, kw_only=True, slots=True)
class MLflowStore:
    """A database or a server, and the experiment of it that runs belong to."""

    uri: TrackingUri
    experiment: str
    artifacts: str | None = None
    """Where a new experiment keeps its files; None: beside a SQLite database, else where the server says."""

    @contextmanager
    def opened(self, *, doing: str = "track") -> Iterator[Opened]:
        """The experiment, made where it is missing, with its views. Raises `TrackingError`."""
        with self._failing(doing), _quiet_mlflow():
            with self.uri.ready(), _variables_set(_FIRST_REQUEST, unless_set=True):
                client = self._client()
                experiment_id = self._experiment_id(client)
            with _variables_set(_LATER_REQUESTS, unless_set=True):
                yield Opened(client=client, experiment_id=experiment_id)

    @contextmanager
    def still(self, opened: Opened, *, doing: str = "track") -> Iterator[Opened]:
        """An experiment that was opened before, without asking for it again. Raises `TrackingError`."""
        with self._failing(doing), _quiet_mlflow(), _variables_set(_LATER_REQUESTS, unless_set=True):
            yield opened

    @contextmanager
    def client(self, *, doing: str) -> Iterator[MlflowClient]:
        """A client of the store, whatever experiments it has. Raises `TrackingError`."""
        with self._failing(doing), _quiet_mlflow(), self.uri.ready(), _variables_set(_FIRST_REQUEST, unless_set=True):
            yield self._client()

    @contextmanager
    def _failing(self, doing: str) -> Iterator[None]:
        try:
            yield
        except ImportError as error:
            # The driver of a database other than SQLite, or a broken installation of MLflow.
            raise self.failure(error, doing=doing) from error
        except Exception as error:
            if isinstance(error, mlflow_errors()):
                raise self.failure(error, doing=doing) from error
            raise

    def failure(self, error: Exception, *, doing: str) -> TrackingError:
        """The cause in one line, without the paragraphs that SQLAlchemy and servers put around it."""
        root: BaseException = error
        while root.__cause__ is not None:
            root = root.__cause__
        message = str(root if isinstance(root, sqlite3.Error) else error)
        line = next((line.strip() for line in message.splitlines() if line.strip()), type(error).__name__)
        line = line.partition(" Response body:")[0]
        caused = re.search(r"\(Caused by (.*)\)$", line)
        line = self.uri.redact(caused[1] if caused else line)
        return TrackingError(f"can't {doing} in {self.uri.shown}: {one_line(line, longest=_LONGEST_CAUSE)}")

    def _client(self) -> MlflowClient:
        from mlflow.tracking import MlflowClient

        if self.uri.database is None:
            return MlflowClient(tracking_uri=self.uri.absolute)
        commit_without_waiting()
        with closing(sqlite3.connect(self.uri.database)) as connection:
            is_new = connection.execute("SELECT 1 FROM sqlite_master").fetchone() is None
        try:
            return MlflowClient(tracking_uri=self.uri.absolute)
        except mlflow_errors():
            if is_new:  # MLflow can't go on with a database that it made half of, as on a full disk
                for end in ("", "-wal", "-shm"):
                    Path(f"{self.uri.database}{end}").unlink(missing_ok=True)
            raise

    def _experiment_id(self, client: MlflowClient) -> str:
        from mlflow.exceptions import MlflowException

        experiment = client.get_experiment_by_name(self.experiment)
        if experiment is None:
            try:
                made = client.create_experiment(self.experiment, artifact_location=self._artifact_location())
            except MlflowException as error:
                # Another process may have created it on the server in the meantime.
                experiment = client.get_experiment_by_name(self.experiment)
                if experiment is None:
                    raise error
            else:
                experiment = client.get_experiment(made)
        if experiment.lifecycle_stage != "active":
            raise MlflowException(
                f"experiment {self.experiment!r} is deleted; restore it with "
                f"`mlflow experiments restore -x {experiment.experiment_id}` or choose another tracking.experiment"
            )
        write_views(client, experiment)
        return str(experiment.experiment_id)

    def _artifact_location(self) -> str | None:
        if self.artifacts is not None:
            return self.artifacts
        database = self.uri.database
        # MLflow's own default is ./mlruns in the current folder, wherever the database is.
        return None if database is None else Path(database.parent).as_uri()


@contextmanager
def _variables_set(values: Mapping[str, str], *, unless_set: bool = False) -> Iterator[None]:
    """Set environment variables inside the block; with `unless_set`, those that the user has set are kept."""
    previous = {name: os.environ.get(name) for name in values if not (unless_set and name in os.environ)}
    os.environ.update({name: values[name] for name in previous})
    try:
        yield
    finally:
        for name, before in previous.items():
            if before is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = before


@contextmanager
def _quiet_mlflow() -> Iterator[None]:
    """Import mlflow and use it inside the block without log lines; errors are still raised.

    Otherwise MLflow logs every migration of a new database, and a traceback for every database error.
    """
    # One thread at a time: levels, warnings and variables belong to the whole process.
    with _turn, _variables_set(_ALWAYS), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        # Imported first, since the import sets the levels of its loggers, and those are to be restored.
        import mlflow  # noqa: F401

        loggers = [logging.getLogger(name) for name in _LOGGERS]
        levels = [logger.level for logger in loggers]
        for logger in loggers:
            logger.setLevel(logging.CRITICAL + 1)
        try:
            yield
        finally:
            for logger, level in zip(loggers, levels, strict=True):
                logger.setLevel(level)
