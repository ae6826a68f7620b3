"""The layout of `state.db`: an older one is brought up to date, a newer or a foreign one is left as it is."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from contextcliff.errors import RunError
from contextcliff.execution import database
from contextcliff.execution.store import Answered, Store
from tests.commands import SIMULATED, TEN_DEPTHS, contextcliff, reports
from tests.execution.test_store import PLANNED, RUN
from tests.tasks.needles import said

BEFORE_VERSIONS = """
CREATE TABLE generations (
    key TEXT PRIMARY KEY, sample_id TEXT NOT NULL, prompt_sha256 TEXT NOT NULL,
    generation TEXT NOT NULL, created_at TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ', 'now'))
) WITHOUT ROWID;
CREATE TABLE runs (
    run_id TEXT PRIMARY KEY, fingerprint TEXT NOT NULL, label TEXT NOT NULL, facts TEXT NOT NULL,
    wall_s REAL NOT NULL DEFAULT 0, created_at TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ', 'now'))
) WITHOUT ROWID;
CREATE TABLE run_samples (
    run_id TEXT NOT NULL, position INTEGER NOT NULL, key TEXT NOT NULL, prompt_sha256 TEXT NOT NULL,
    sample TEXT NOT NULL, PRIMARY KEY (run_id, position)
) WITHOUT ROWID;
CREATE TABLE documents (
    sha256 TEXT PRIMARY KEY, document BLOB NOT NULL
) WITHOUT ROWID;
CREATE TABLE run_documents (
    run_id TEXT NOT NULL, document_id TEXT NOT NULL, sha256 TEXT NOT NULL, PRIMARY KEY (run_id, document_id)
) WITHOUT ROWID;
CREATE TABLE embeddings (
    key TEXT PRIMARY KEY, vector BLOB NOT NULL
) WITHOUT ROWID;
CREATE TABLE faults (
    run_id TEXT NOT NULL, sample_id TEXT NOT NULL, kind TEXT NOT NULL, detail TEXT NOT NULL,
    created_at TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ', 'now'))
);
CREATE INDEX faults_of_run ON faults (run_id, sample_id);
"""
"""What stood in a database before it had a version."""
TABLES = "generations runs run_samples documents run_documents embeddings faults".split()


@contextmanager
def opened(file: Path) -> Iterator[sqlite3.Connection]:
    with closing(sqlite3.connect(file)) as connection, connection:
        yield connection


def version(file: Path) -> int:
    with opened(file) as connection:
        return int(connection.execute("PRAGMA user_version").fetchone()[0])


def put_back_before_versions(file: Path) -> None:
    """The same rows in the tables as they were then."""
    old = file.with_name("old.db")
    with opened(old) as connection:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.executescript(BEFORE_VERSIONS)
        connection.execute("ATTACH ? AS new", (str(file),))
        for table in TABLES:
            columns = ", ".join(row[1] for row in connection.execute(f"PRAGMA main.table_info({table})"))
            connection.execute(f"INSERT INTO main.{table} ({columns}) SELECT {columns} FROM new.{table}")
    for leftover in file.parent.glob(f"{file.name}*"):
        leftover.unlink()
    old.rename(file)


def test_a_new_database_has_todays_version(tmp_path: Path) -> None:
    with Store(tmp_path) as store:
        store.keep(Answered(planned=PLANNED[0], generation=said("9")))
    assert version(tmp_path / "state.db") == database.VERSION == 1


@pytest.mark.slow
def test_a_run_goes_on_from_the_answers_of_a_database_without_a_version(tmp_path: Path) -> None:
    assert contextcliff(*SIMULATED, "task.trials=1", TEN_DEPTHS, cwd=tmp_path).returncode == 0
    (before,) = reports(tmp_path)
    file = tmp_path / "outputs" / "state.db"
    put_back_before_versions(file)
    assert version(file) == 0
    done = contextcliff(*SIMULATED, "task.trials=1", TEN_DEPTHS, cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    (after,) = reports(tmp_path)
    assert (after["counts"]["reused"], after["bins"]) == (30, before["bins"])
    assert version(file) == 1


def test_steps_are_taken_once_and_all_or_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with Store(tmp_path) as store:
        store.keep(Answered(planned=PLANNED[0], generation=said("9")))
    further = ("ALTER TABLE faults ADD COLUMN waited_s REAL", "UPDATE runs SET wall_s = wall_s + 1")
    monkeypatch.setattr(database, "_STEPS", (*database._STEPS, (*further, "no SQL")))
    monkeypatch.setattr(database, "VERSION", 2)
    monkeypatch.setattr("contextcliff.execution.database.VERSION", 2)
    with Store(tmp_path) as store, pytest.raises(RunError, match="syntax error"):
        store.generation("key-0")
    assert version(tmp_path / "state.db") == 1
    monkeypatch.setattr(database, "_STEPS", (database._STEPS[0], further))
    for _ in range(2):
        with Store(tmp_path) as store:
            store.begin(RUN, PLANNED)
            assert store.generation("key-0") == said("9")
    assert version(tmp_path / "state.db") == 2


def test_a_newer_database_is_left_as_it_is(tmp_path: Path) -> None:
    with Store(tmp_path) as store:
        store.keep(Answered(planned=PLANNED[0], generation=said("9")))
    with opened(tmp_path / "state.db") as connection:
        connection.execute("PRAGMA user_version = 7")
    before = (tmp_path / "state.db").read_bytes()
    with Store(tmp_path) as store, pytest.raises(RunError) as told:
        store.generation("key-0")
    assert str(told.value) == (
        f"{tmp_path}/state.db: was written by a newer ContextCliff (layout 7, this one knows 1); nothing was changed: "
        "take that version (pip install -U contextcliff), or give another output_dir"
    )
    assert (tmp_path / "state.db").read_bytes() == before


def test_a_database_of_something_else_is_left_as_it_is(tmp_path: Path) -> None:
    with opened(tmp_path / "state.db") as connection:
        connection.execute("CREATE TABLE runs (id INTEGER)")
        connection.execute("CREATE TABLE params (key TEXT)")
    before = (tmp_path / "state.db").read_bytes()
    with Store(tmp_path) as store, pytest.raises(RunError) as told:
        store.keep(Answered(planned=PLANNED[0], generation=said("9")))
    assert str(told.value) == (
        f"{tmp_path}/state.db: is a SQLite database and none of ContextCliff's (it has params, runs); nothing was "
        "changed: give another output_dir, or move it aside"
    )
    assert (tmp_path / "state.db").read_bytes() == before
