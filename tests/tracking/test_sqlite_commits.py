"""MLflow's SQLite database: a new one keeps a write-ahead log, and commits to it do not wait for the disk."""

from __future__ import annotations

import sqlite3
from contextlib import closing, nullcontext
from pathlib import Path

import pytest
from sqlalchemy import create_engine, text

from contextcliff.tracking import tracking_uri
from contextcliff.tracking.tracking_uri import TrackingUri, commit_without_waiting, log_ahead

NORMAL, FULL = 1, 2


def uri_of(database: Path) -> TrackingUri:
    return TrackingUri(f"sqlite:///{database}")


def mode_of(database: Path) -> str:
    with closing(sqlite3.connect(database)) as connection:
        return str(connection.execute("PRAGMA journal_mode").fetchone()[0])


@pytest.fixture
def older(tmp_path: Path) -> Path:
    """A database that MLflow itself has made."""
    path = tmp_path / "older.db"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE runs (name TEXT)")
        connection.commit()
    return path


def test_a_new_database_keeps_a_write_ahead_log(tmp_path: Path) -> None:
    with uri_of(tmp_path / "mlruns" / "new.db").ready():
        pass
    assert mode_of(tmp_path / "mlruns" / "new.db") == "wal"


def test_a_database_that_is_there_is_left_as_it_is(older: Path) -> None:
    with uri_of(older).ready():
        pass
    assert mode_of(older) == "delete"


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

    monkeypatch.setattr(tracking_uri, "log_ahead", failing)
    monkeypatch.setattr(tracking_uri, "BUSY_S", 0.3)
    ends = nullcontext() if failures == 1 else pytest.raises(sqlite3.OperationalError, match=error)
    with ends, uri_of(tmp_path / "new.db").ready():
        assert mode_of(tmp_path / "new.db") == "wal"
    assert len(tried) > 1 if tries is None else len(tried) == tries


@pytest.mark.parametrize(("ahead", "waits"), [(True, NORMAL), (False, FULL)])
def test_only_with_the_log_no_commit_waits_for_the_disk(tmp_path: Path, older: Path, ahead: bool, waits: int) -> None:
    path = tmp_path / "new.db" if ahead else older
    with uri_of(path).ready():
        commit_without_waiting()
    engine = create_engine(uri_of(path).absolute)
    with engine.connect() as connection:
        assert connection.execute(text("PRAGMA synchronous")).scalar() == waits
    engine.dispose()
