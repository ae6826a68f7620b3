"""MLflow's SQLite database: a new one keeps a write-ahead log, and commits to it do not wait for the disk."""

from __future__ import annotations

import sqlite3
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest
from sqlalchemy import create_engine, text

from contextcliff.sqlite_locks import while_locked
from contextcliff.tracking import tracking_uri
from contextcliff.tracking.sqlite_commits import commit_without_waiting, log_ahead
from contextcliff.tracking.tracking_uri import TrackingUri

NORMAL, FULL = 1, 2


def uri_of(database: Path) -> TrackingUri:
    return TrackingUri(f"sqlite:///{database}")


def mode_of(database: Path) -> str:
    with closing(sqlite3.connect(database)) as connection:
        return str(connection.execute("PRAGMA journal_mode").fetchone()[0])


def changed(path: Path) -> None:
    with closing(sqlite3.connect(path)) as connection:
        log_ahead(connection)


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


def test_a_new_database_that_somebody_writes_to_is_waited_for(tmp_path: Path) -> None:
    path = tmp_path / "new.db"
    with closing(sqlite3.connect(path)) as writer, ThreadPoolExecutor(1) as other:
        writer.execute("BEGIN IMMEDIATE")
        waiting = other.submit(lambda: while_locked(at_most_s=60)(changed, path))
        with pytest.raises(TimeoutError):
            waiting.result(timeout=0.2)  # SQLite itself gives up at once
        writer.execute("ROLLBACK")
        waiting.result()
    assert mode_of(path) == "wal"


def test_a_store_is_ready_though_its_log_could_not_be_set_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tried: list[sqlite3.Connection] = []

    def locked_at_first(connection: sqlite3.Connection) -> None:
        tried.append(connection)
        if len(tried) == 1:
            raise sqlite3.OperationalError("database is locked")
        log_ahead(connection)

    monkeypatch.setattr(tracking_uri, "log_ahead", locked_at_first)
    with uri_of(tmp_path / "new.db").ready():
        pass
    assert (len(tried), mode_of(tmp_path / "new.db")) == (2, "wal")


def test_a_database_that_stays_locked_is_not_waited_for_beyond_its_time(tmp_path: Path) -> None:
    path = tmp_path / "new.db"
    with closing(sqlite3.connect(path)) as writer:
        writer.execute("BEGIN IMMEDIATE")
        with pytest.raises(sqlite3.OperationalError, match="database is locked"):
            while_locked(at_most_s=0.1)(changed, path)


def test_other_failures_are_raised_at_once(tmp_path: Path) -> None:
    path = tmp_path / "text.db"
    path.write_text("not a database " * 100)
    with pytest.raises(sqlite3.DatabaseError, match="file is not a database"):
        while_locked(at_most_s=600)(changed, path)


@pytest.mark.parametrize(("ahead", "waits"), [(True, NORMAL), (False, FULL)])
def test_only_with_the_log_no_commit_waits_for_the_disk(tmp_path: Path, older: Path, ahead: bool, waits: int) -> None:
    path = tmp_path / "new.db" if ahead else older
    with uri_of(path).ready():
        commit_without_waiting()
    engine = create_engine(uri_of(path).absolute)
    with engine.connect() as connection:
        assert connection.execute(text("PRAGMA synchronous")).scalar() == waits
    engine.dispose()
