"""A place where MLflow keeps runs: opened with its experiment, every failure one line."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from contextcliff.errors import one_line
from contextcliff.tracking.experiment_views import write_views
from contextcliff.tracking.quiet import FIRST_REQUEST, LATER_REQUESTS, quiet_mlflow, variables_set
from contextcliff.tracking.sqlite_commits import commit_without_waiting
from contextcliff.tracking.tracker import TrackingError
from contextcliff.tracking.tracking_uri import TrackingUri
from contextcliff.tracking.uploads import mlflow_errors

if TYPE_CHECKING:
    from mlflow.tracking import MlflowClient

_LONGEST_CAUSE = 300


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
        with self._failing(doing), quiet_mlflow():
            with self.uri.ready(), variables_set(FIRST_REQUEST, unless_set=True):
                client = self._client()
                experiment_id = self._experiment_id(client)
            with variables_set(LATER_REQUESTS, unless_set=True):
                yield Opened(client=client, experiment_id=experiment_id)

    @contextmanager
    def still(self, opened: Opened, *, doing: str = "track") -> Iterator[Opened]:
        """An experiment that was opened before, without asking for it again. Raises `TrackingError`."""
        with self._failing(doing), quiet_mlflow(), variables_set(LATER_REQUESTS, unless_set=True):
            yield opened

    @contextmanager
    def client(self, *, doing: str) -> Iterator[MlflowClient]:
        """A client of the store, whatever experiments it has. Raises `TrackingError`."""
        with self._failing(doing), quiet_mlflow(), self.uri.ready(), variables_set(FIRST_REQUEST, unless_set=True):
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
