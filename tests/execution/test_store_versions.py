"""The layout of `state.db`: an older one is brought up to date, a newer or a foreign one is left as it is."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from contextcliff.errors import RunError
from contextcliff.execution import database
from contextcliff.execution.packing import digest_of_packed, teach
from contextcliff.execution.store import Answered, Store
from contextcliff.seeding import digest_of
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


PACKED = {
    ("generations", "prompt_sha256"): "(SELECT hex_of(prompt_sha256) FROM new.run_samples AS s WHERE s.key = t.key)",
    ("generations", "sample_id"): "'of ' || hex_of(key)",
    **{("generations", name): f"{way}({name})" for name, way in (("key", "hex_of"), ("generation", "json_of_packed"))},
    **{("run_samples", name): f"hex_of({name})" for name in ("key", "prompt_sha256")},
    ("run_samples", "sample"): "json_of_packed(sample)",
}
"""How the columns of the first layout that are others now come from today's."""


def put_back(file: Path, *, version: int) -> None:
    """The same rows in the tables as they were then."""
    old = file.with_name("old.db")
    with opened(old) as connection:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.executescript(BEFORE_VERSIONS)
        teach(connection)
        connection.create_function("hex_of", 1, digest_of_packed)
        connection.execute("ATTACH ? AS new", (str(file),))
        for table in TABLES:
            columns = [row[1] for row in connection.execute(f"PRAGMA main.table_info({table})")]
            values = ", ".join(PACKED.get((table, column), column) for column in columns)
            connection.execute(f"INSERT INTO main.{table} ({', '.join(columns)}) SELECT {values} FROM new.{table} AS t")
        connection.execute(f"PRAGMA user_version = {version}")
    for leftover in file.parent.glob(f"{file.name}*"):
        leftover.unlink()
    old.rename(file)


def test_a_new_database_has_todays_version(tmp_path: Path) -> None:
    with Store(tmp_path) as store:
        store.keep(Answered(planned=PLANNED[0], generation=said("9")))
    assert version(tmp_path / "state.db") == database.VERSION == 2


@pytest.mark.slow
@pytest.mark.parametrize("earlier", [0, 1])
def test_a_run_goes_on_from_the_answers_of_an_earlier_layout(tmp_path: Path, earlier: int) -> None:
    assert contextcliff(*SIMULATED, "task.trials=1", TEN_DEPTHS, cwd=tmp_path).returncode == 0
    (before,) = reports(tmp_path)
    file = tmp_path / "outputs" / "state.db"
    put_back(file, version=earlier)
    assert version(file) == earlier
    done = contextcliff(*SIMULATED, "task.trials=1", TEN_DEPTHS, cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    (after,) = reports(tmp_path)
    assert (after["counts"]["reused"], after["bins"]) == (30, before["bins"])
    assert version(file) == 2


@pytest.mark.parametrize("earlier", [0, 1])
def test_nothing_of_an_earlier_layout_is_lost_or_changed(tmp_path: Path, earlier: int) -> None:
    planned = [replace(each, key=digest_of(each.key), prompt_sha256=digest_of("prompt")) for each in PLANNED]
    with Store(tmp_path) as store:
        for schedule, run in ((PLANNED, RUN), (planned, replace(RUN, run_id="other"))):
            store.begin(run, schedule)
            store.keep(*(Answered(planned=each, generation=said(f'{each.key} "é"')) for each in schedule))
        kept = [store.schedule(name) for name in (RUN.run_id, "other")]
        answers = [store.generation(each.key) for each in (*PLANNED, *planned)]
    put_back(tmp_path / "state.db", version=earlier)
    with opened(tmp_path / "state.db") as connection:
        dates = connection.execute("SELECT created_at FROM generations ORDER BY 1").fetchall()
    with Store(tmp_path) as store:
        assert [store.schedule(name) for name in (RUN.run_id, "other")] == kept
        assert [store.generation(each.key) for each in (*PLANNED, *planned)] == answers
        assert None not in answers
    with opened(tmp_path / "state.db") as connection:
        assert connection.execute("SELECT created_at FROM generations ORDER BY 1").fetchall() == dates


def test_a_damaged_row_of_an_earlier_layout_stays_as_it_is_and_is_damage(tmp_path: Path) -> None:
    with Store(tmp_path) as store:
        store.begin(RUN, PLANNED)
        store.keep(*(Answered(planned=each, generation=said("9")) for each in PLANNED))
    put_back(tmp_path / "state.db", version=1)
    with opened(tmp_path / "state.db") as connection:
        connection.execute("UPDATE generations SET generation = x'00' WHERE key = ?", (PLANNED[0].key,))
    with Store(tmp_path) as store:
        assert store.generation(PLANNED[1].key) == said("9")
        with pytest.raises(RunError, match="a row can't be read"):
            store.generation(PLANNED[0].key)


def test_steps_are_taken_once_and_all_or_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with Store(tmp_path) as store:
        store.keep(Answered(planned=PLANNED[0], generation=said("9")))
    further = ("ALTER TABLE faults ADD COLUMN waited_s REAL", "UPDATE runs SET wall_s = wall_s + 1")
    monkeypatch.setattr(database, "_STEPS", (*database._STEPS, (*further, "no SQL")))
    monkeypatch.setattr(database, "VERSION", 3)
    with Store(tmp_path) as store, pytest.raises(RunError, match="syntax error"):
        store.generation("key-0")
    assert version(tmp_path / "state.db") == 2
    monkeypatch.setattr(database, "_STEPS", (*database._STEPS[:2], further))
    for _ in range(2):
        with Store(tmp_path) as store:
            store.begin(RUN, PLANNED)
            assert store.generation("key-0") == said("9")
    assert version(tmp_path / "state.db") == 3


def test_a_newer_database_is_left_as_it_is(tmp_path: Path) -> None:
    with Store(tmp_path) as store:
        store.keep(Answered(planned=PLANNED[0], generation=said("9")))
    with opened(tmp_path / "state.db") as connection:
        connection.execute("PRAGMA user_version = 7")
    before = (tmp_path / "state.db").read_bytes()
    with Store(tmp_path) as store, pytest.raises(RunError) as told:
        store.generation("key-0")
    assert str(told.value) == (
        f"{tmp_path}/state.db: was written by a newer ContextCliff (layout 7, this one knows 2); nothing was changed: "
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
