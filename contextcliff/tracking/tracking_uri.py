"""Tracking URIs: what they name, and whether that can be reached, checked without MLflow.

MLflow tries to open a database ten times within 100 seconds, each time with a warning; a check of our own gives the
cause at once.
"""

from __future__ import annotations

import contextlib
import re
import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from urllib.parse import urlsplit

from tenacity import Retrying, retry_if_exception, stop_after_delay, wait_random

from contextcliff.settings import why_no_path

LOCK_S = 60.0
"""Longest wait, in seconds, for another process that creates the same database."""
BUSY_S = 8.0
"""Longest wait, in seconds, for another process that writes to the database."""

_DATABASES = ("sqlite", "postgresql", "mysql", "mssql")
_SERVERS = ("http", "https", "databricks")


@dataclass(frozen=True, slots=True)
class TrackingUri:
    """A tracking URI: a database or a server."""

    uri: str

    def check(self) -> None:
        """Raise `ValueError` for a URI that MLflow can't keep runs at. Contacts nothing."""
        scheme = self.scheme
        if scheme == "sqlite":
            if not self.is_sqlite_file:
                raise ValueError(
                    f"{self.shown!r}: write a SQLite database as sqlite:///FOLDER/FILE.db, "
                    "with four slashes for a path from the root"
                )
            problem = self._file_problem()
            if problem is not None:
                raise ValueError(f"{self.shown!r}: {problem}; name another file")
        elif scheme in ("http", "https"):
            if not urlsplit(self.uri).hostname:
                raise ValueError(f"{self.shown!r}: the address names no host")
        elif scheme not in (*_DATABASES, *_SERVERS):
            raise ValueError(
                f"{self.shown!r}: not a place where MLflow keeps runs; "
                "use sqlite:///FOLDER/FILE.db, http://HOST:PORT or another database's URI"
            )

    def _file_problem(self) -> str | None:
        """Why no database file can be at the URI's path; None where one can. Does not load SQLAlchemy."""
        path = self.uri.partition(":///")[2].partition("?")[0]
        problem = why_no_path(path)
        if problem is None and Path(path).is_dir():
            return "is a folder"
        if problem is None and any(parent.is_file() for parent in Path(path).parents):
            return "a folder in it is a file"
        return problem

    @property
    def scheme(self) -> str:
        """`http`, `sqlite` …; the driver is left out (`sqlite+pysqlite`)."""
        return self.uri.partition(":")[0].partition("+")[0].lower()

    @property
    def is_web(self) -> bool:
        """Whether it is a server whose page a browser can open."""
        return self.scheme in ("http", "https")

    @property
    def is_sqlite_file(self) -> bool:
        """Whether it is a SQLite database in a file: not in memory, and not SQLite's own `file:` URI."""
        return bool(re.match(r"sqlite(\+\w+)?:///(?!:memory:|file:)[^?]", self.uri, re.IGNORECASE))

    @property
    def database(self) -> Path | None:
        """The absolute path of a SQLite database's file; None for anything else."""
        if not self.is_sqlite_file:
            return None
        # SQLAlchemy parses it, since its versions differ in whether %20 is a space.
        from sqlalchemy import make_url

        return Path(make_url(self.uri).database or "").absolute()

    @property
    def absolute(self) -> str:
        """The URI with the path of a SQLite database made absolute, so that a later `chdir` is harmless."""
        if self.database is None:
            return self.uri
        from sqlalchemy import make_url

        return make_url(self.uri).set(database=str(self.database)).render_as_string(hide_password=False)

    @property
    def shown(self) -> str:
        """The URI without a password, for people and logs."""
        return self.redact(self.uri)

    def redact(self, text: str) -> str:
        """`text` without the user and password that the URI carries."""
        login = re.match(r"[^:/]+://([^/?#]*@)", self.uri)
        return text.replace(login[1], "") if login else text

    @contextlib.contextmanager
    def ready(self) -> Iterator[None]:
        """Check that a database can be opened, and for a SQLite file hold a lock while MLflow creates its tables.

        Two processes that create the tables of one SQLite file at once break each other's migration, and MLflow has
        no lock against that. Creates the parent folders of a SQLite file. Raises `OSError`, `sqlite3.Error`, or
        SQLAlchemy's errors for another database; a server is not contacted.
        """
        if self.database is not None:
            # Imported here: a run without tracking needs none of it.
            from filelock import FileLock

            self.database.parent.mkdir(parents=True, exist_ok=True)
            with FileLock(f"{self.database}.lock", timeout=LOCK_S):
                self._try_sqlite(self.database)
                yield
        else:
            if self.scheme in _DATABASES:
                self._try_database()
            yield

    def _try_sqlite(self, path: Path) -> None:
        with contextlib.closing(sqlite3.connect(path, timeout=BUSY_S, isolation_level=None)) as connection:
            connection.execute("BEGIN IMMEDIATE")
            # A write that changes nothing: a read-only file fails only on a write.
            (version,) = connection.execute("PRAGMA user_version").fetchone()
            connection.execute(f"PRAGMA user_version = {version}")
            connection.execute("ROLLBACK")
            # SQLite's own timeout holds for reads and writes. A change to the write-ahead log fails at once while
            # somebody writes (SQLite's documentation of `PRAGMA journal_mode`).
            Retrying(
                retry=retry_if_exception(_is_locked),
                stop=stop_after_delay(BUSY_S),
                wait=wait_random(min=0.005, max=0.05),
                reraise=True,
            )(log_ahead, connection)

    def _try_database(self) -> None:
        from sqlalchemy import create_engine

        engine = create_engine(self.uri)
        try:
            engine.connect().close()
        finally:
            engine.dispose()


def _is_locked(error: BaseException) -> bool:
    return isinstance(error, sqlite3.OperationalError) and "locked" in str(error)


# MLflow commits about a hundred times for a run, each a write to the disk that holds the database's lock. Uploads are
# copies of what lies in the runs' folders: a power cut may cost the last of them, and the same command makes them
# again. The database stays whole (SQLite's documentation of `synchronous` and of write-ahead logging).


def log_ahead(connection: sqlite3.Connection) -> None:
    """Make an empty database keep a write-ahead log; one that has tables is somebody's and is left as it is."""
    (tables,) = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
    if not tables:
        connection.execute("PRAGMA journal_mode = WAL")


@cache
def commit_without_waiting() -> None:
    """Every connection that SQLAlchemy opens in this process to a database with a write-ahead log, from now on."""
    from sqlalchemy import event
    from sqlalchemy.engine import Engine

    event.listen(Engine, "connect", _set)


def _set(connection: object, _: object) -> None:
    if isinstance(connection, sqlite3.Connection):
        (mode,) = connection.execute("PRAGMA journal_mode").fetchone()
        if mode == "wal":
            connection.execute("PRAGMA synchronous = NORMAL")
