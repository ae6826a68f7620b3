"""SQLite databases whose commits do not wait for the disk one by one, and do not stop those who read.

MLflow commits about a hundred times for a run, each a write to the disk that holds the database's lock. Uploads are
copies of what lies in the runs' folders: a power cut may cost the last of them, and the same command makes them again.
The database stays whole (SQLite's documentation of `synchronous` and of write-ahead logging).
"""

from __future__ import annotations

import sqlite3
from functools import cache


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
