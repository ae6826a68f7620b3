"""MLflow's SQLite database: a new one keeps a write-ahead log, and commits to it do not wait for the disk."""

from __future__ import annotations

import sqlite3
from contextlib import closing, nullcontext
from pathlib import Path

import pytest
from sqlalchemy import create_engine, text

from contextcliff.tracking import place
from contextcliff.tracking.place import TrackingUri, commit_without_waiting, log_ahead

NORMAL, FULL = 1, 2


def uri_of(database: Path) -> TrackingUri:
    return TrackingUri(f"sqlite:///{database}")


def mode_of(database: Path) -> str:
    with closing(sqlite3.connect(database)) as connection:
        return str(connection.execute("PRAGMA journal_mode").fetchone()[0])


@pytest.mark.parametrize(("is_new", "mode", "waits"), [(True, "wal", NORMAL), (False, "delete", FULL)])
def test_only_a_new_database_keeps_a_log_and_then_no_commit_waits(
    tmp_path: Path, is_new: bool, mode: str, waits: int
) -> None:
    database = tmp_path / "mlruns" / "runs.db"
    if not is_new:  # MLflow itself has made it
        database.parent.mkdir()
        with closing(sqlite3.connect(database)) as connection:
            connection.execute("CREATE TABLE runs (name TEXT)")
    with uri_of(database).ready():
        commit_without_waiting()
    assert mode_of(database) == mode
    engine = create_engine(uri_of(database).absolute)
    with engine.connect() as connected:
        assert connected.execute(text("PRAGMA synchronous")).scalar() == waits
    engine.dispose()


@pytest.mark.parametrize(
    ("failures", "error", "tries"),
    [(1, "database is locked", 2), (999, "database is locked", None), (999, "disk I/O error", 1)],
)
def test_a_log_that_somebody_keeps_from_being_set_is_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, failures: int, error: str, tries: int | None
) -> None:
    tried: list[sqlite3.Connection] = []

    def failing(connection: sqlite3.Connection) -> None:
        tried.append(connection)
        if len(tried) <= failures:
            raise sqlite3.OperationalError(error)
        log_ahead(connection)

    monkeypatch.setattr(place, "log_ahead", failing)
    monkeypatch.setattr(place, "BUSY_S", 0.3)
    ends = nullcontext() if failures == 1 else pytest.raises(sqlite3.OperationalError, match=error)
    with ends, uri_of(tmp_path / "new.db").ready():
        assert mode_of(tmp_path / "new.db") == "wal"
    assert len(tried) > 1 if tries is None else len(tried) == tries
