"""Where MLflow keeps runs: opened with its experiment, without telemetry and log lines; each failure is one line.

MLflow tries to open a database ten times within 100 seconds, each time with a warning; a check of our own gives the
cause at once."""

from __future__ import annotations

import contextlib
import logging
import os
import re
import sqlite3
import threading
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from contextcliff.errors import one_line
from contextcliff.settings import GivenPath, settings, why_no_path
from contextcliff.tracking.tracker import NoTracker, TrackingError
from contextcliff.tracking.views import write_views

if TYPE_CHECKING:
    from mlflow.tracking import MlflowClient

LOCK_S = 60.0
"""Longest wait, in seconds, for another process that creates the same database."""
BUSY_S = 8.0
"""Longest wait, in seconds, for another process that writes to the database."""
_LONGEST_CAUSE = 300
_NO_PLACE = (
    "not a place where MLflow keeps runs; use sqlite:///FOLDER/FILE.db (four slashes for a path from the root), "
    "http://HOST:PORT or another database's URI"
)
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
_LOGGERS = ("mlflow", "alembic", "sqlalchemy", "urllib3")
_turn = threading.RLock()


@dataclass(frozen=True, kw_only=True, slots=True)
class Opened:
    client: MlflowClient
    experiment_id: str


@settings
class MLflowStore(NoTracker):
    """A database or a server, and the experiment of it that runs belong to."""

    uri: str = "sqlite:///mlruns/mlflow.db"
    """A database (`sqlite:///FOLDER/FILE.db`, four slashes for an absolute path) or a server's address."""
    artifacts: GivenPath | None = None
    """Where a new experiment keeps its files; None: beside a SQLite database, else where the server says."""

    def check(self) -> None:
        known = self.is_sqlite_file or self.scheme in ("postgresql", "mysql", "mssql", "databricks")
        problem = None if known or (self.is_web and urlsplit(self.uri).hostname) else _NO_PLACE
        if self.is_sqlite_file:  # without SQLAlchemy, which takes time to load
            path = Path(self.uri.partition(":///")[2].partition("?")[0])
            problem = why_no_path(str(path))
            if problem is None and path.is_dir():
                problem = "is a folder"
            if problem is None and any(parent.is_file() for parent in path.parents):
                problem = "a folder in it is a file"
            problem = problem and f"{problem}; name another file"
        if problem is not None:
            raise ValueError(f"tracking.uri: {self.shown_uri!r}: {problem}")

    @property
    def scheme(self) -> str:
        return self.uri.partition(":")[0].partition("+")[0].lower()

    @property
    def is_web(self) -> bool:
        return self.scheme in ("http", "https")

    @property
    def is_sqlite_file(self) -> bool:
        """Whether it is a SQLite database in a file: not in memory, and not SQLite's own `file:` URI."""
        return bool(re.match(r"sqlite(\+\w+)?:///(?!:memory:|file:)[^?]", self.uri, re.IGNORECASE))

    @property
    def database(self) -> Path | None:
        if not self.is_sqlite_file:
            return None
        # SQLAlchemy parses it, since its versions differ in whether %20 is a space.
        from sqlalchemy import make_url

        return Path(make_url(self.uri).database or "").absolute()

    @property
    def absolute_uri(self) -> str:
        """The URI with the path of a SQLite database made absolute, so that a later `chdir` is harmless."""
        if (database := self.database) is None:
            return self.uri
        from sqlalchemy import make_url

        return make_url(self.uri).set(database=str(database)).render_as_string(hide_password=False)

    @property
    def shown_uri(self) -> str:
        return self._redacted(self.uri)

    def _redacted(self, text: str) -> str:
        """A text without the user and password that the URI carries."""
        login = re.match(r"[^:/]+://([^/?#]*@)", self.uri)
        return text.replace(login[1], "") if login else text

    @contextlib.contextmanager
    def opened(self) -> Iterator[Opened]:
        """The experiment, made where it is missing, with its views. Raises `TrackingError`."""
        with self.client("track") as client:
            yield Opened(client=client, experiment_id=self._experiment_id(client))

    @contextlib.contextmanager
    def client(self, doing: str) -> Iterator[MlflowClient]:
        """A client of the store, which answers. Raises `TrackingError`, also for what fails inside the block."""
        try:
            with _quiet_mlflow():
                from mlflow.tracking import MlflowClient

                with self._ready(), _variables_set(_FIRST_REQUEST):
                    client = MlflowClient(tracking_uri=self.absolute_uri)
                    client.get_experiment_by_name(self.experiment)
                with _variables_set(_LATER_REQUESTS):
                    yield client
        except ImportError as error:  # the driver of a database other than SQLite, or a broken installation of MLflow
            raise self._failure(error, doing) from error
        except mlflow_errors() as error:
            raise self._failure(error, doing) from error

    def _failure(self, error: Exception, doing: str) -> TrackingError:
        """The cause in one line, without the paragraphs that SQLAlchemy and servers put around it."""
        root: BaseException = error
        while root.__cause__ is not None:
            root = root.__cause__
        message = str(root if isinstance(root, sqlite3.Error) else error)
        line = next((line.strip() for line in message.splitlines() if line.strip()), type(error).__name__)
        line = line.partition(" Response body:")[0]
        caused = re.search(r"\(Caused by (.*)\)$", line)
        line = one_line(self._redacted(caused[1] if caused else line), longest=_LONGEST_CAUSE)
        return TrackingError(f"can't {doing} in {self.shown_uri}: {line}")

    @contextlib.contextmanager
    def _ready(self) -> Iterator[None]:
        """Check that a database can be opened. Of a SQLite file a lock is held meanwhile: two processes that create the
        tables of one file at once break each other's migration."""
        if (database := self.database) is not None:
            from filelock import FileLock  # a run without tracking does without it

            database.parent.mkdir(parents=True, exist_ok=True)
            with FileLock(f"{database}.lock", timeout=LOCK_S):
                _try_sqlite(database)
                yield
            return
        if not self.is_web and self.scheme != "databricks":
            from sqlalchemy import create_engine

            engine = create_engine(self.uri)
            try:
                engine.connect().close()
            finally:
                engine.dispose()
        yield

    def _experiment_id(self, client: MlflowClient) -> str:
        from mlflow.exceptions import MlflowException

        experiment = client.get_experiment_by_name(self.experiment)
        if experiment is None:
            artifacts = self.artifacts
            if artifacts is None and self.database is not None:
                # MLflow's own default is ./mlruns in the current folder, wherever the database is.
                artifacts = self.database.parent.as_uri()
            try:
                client.create_experiment(self.experiment, artifact_location=artifacts)
            except MlflowException:
                if client.get_experiment_by_name(self.experiment) is None:  # another process may have created it
                    raise
            return self._experiment_id(client)
        if experiment.lifecycle_stage != "active":
            raise MlflowException(
                f"experiment {self.experiment!r} is deleted; restore it with "
                f"`mlflow experiments restore -x {experiment.experiment_id}` or choose another tracking.experiment"
            )
        write_views(client, experiment)
        return str(experiment.experiment_id)


def _try_sqlite(path: Path) -> None:
    """Try to write to a database; an empty one keeps a write-ahead log from now on, and any other is left as it is."""
    with contextlib.closing(sqlite3.connect(path, timeout=BUSY_S, isolation_level=None)) as connection:
        connection.execute("BEGIN IMMEDIATE")
        # A write that changes nothing: a read-only file fails only on a write.
        (version,) = connection.execute("PRAGMA user_version").fetchone()
        connection.execute(f"PRAGMA user_version = {version}")
        connection.execute("ROLLBACK")
        (tables,) = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
        if not tables:
            connection.execute("PRAGMA journal_mode = WAL")


def mlflow_errors() -> tuple[type[Exception], ...]:
    """The errors that a broken, full, locked or absent database or server raises, here and in MLflow."""
    from alembic.util import CommandError
    from mlflow.exceptions import MlflowException
    from requests import RequestException
    from sqlalchemy.exc import SQLAlchemyError

    return MlflowException, SQLAlchemyError, CommandError, sqlite3.Error, RequestException, OSError


@contextlib.contextmanager
def _variables_set(values: Mapping[str, str]) -> Iterator[None]:
    added = {name: value for name, value in values.items() if name not in os.environ}
    os.environ.update(added)
    try:
        yield
    finally:
        for name in added:
            os.environ.pop(name, None)


@contextlib.contextmanager
def _quiet_mlflow() -> Iterator[None]:
    """Import mlflow and use it inside the block without its log lines; errors are still raised."""
    # One thread at a time: levels, warnings and variables belong to the whole process.
    with _turn, _variables_set(_ALWAYS), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        # Imported first, since the import sets the levels of its loggers, and those are to be restored.
        import mlflow  # noqa: F401

        loggers = {each: each.level for each in map(logging.getLogger, _LOGGERS)}
        for logger in loggers:
            logger.setLevel(logging.CRITICAL + 1)
        try:
            yield
        finally:
            for logger, level in loggers.items():
                logger.setLevel(level)
