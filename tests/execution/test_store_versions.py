"""The layout of `state.db`: an older one is brought up to date, a newer or a foreign one is left as it is."""

from __future__ import annotations

import sqlite3
import zlib
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path
from unittest import mock

import pytest

from contextcliff.errors import RunError
from contextcliff.execution import database
from contextcliff.execution.store import Store
from contextcliff.seeding import digest_of
from tests.execution.test_store import PLANNED, RUN
from tests.tasks.needles import said

BEFORE_VERSIONS = {
    "generations": "key TEXT PRIMARY KEY, sample_id TEXT NOT NULL, prompt_sha256 TEXT NOT NULL, "
    "generation TEXT NOT NULL, created_at TEXT NOT NULL",
    "runs": "run_id TEXT PRIMARY KEY, fingerprint TEXT NOT NULL, label TEXT NOT NULL, facts TEXT NOT NULL, "
    "wall_s REAL NOT NULL DEFAULT 0, created_at TEXT NOT NULL",
    "run_samples": "run_id TEXT NOT NULL, position INTEGER NOT NULL, key TEXT NOT NULL, prompt_sha256 TEXT NOT NULL, "
    "sample TEXT NOT NULL, PRIMARY KEY (run_id, position)",
    "documents": "sha256 TEXT PRIMARY KEY, document BLOB NOT NULL",
    "run_documents": "run_id TEXT NOT NULL, document_id TEXT NOT NULL, sha256 TEXT NOT NULL, "
    "PRIMARY KEY (run_id, document_id)",
    "embeddings": "key TEXT PRIMARY KEY, vector BLOB NOT NULL",
    "faults": "run_id TEXT NOT NULL, sample_id TEXT NOT NULL, kind TEXT NOT NULL, detail TEXT NOT NULL, "
    "created_at TEXT NOT NULL",
}
"""What stood in a database before it had a version; layout 1 is the same."""
LAYOUT_2 = {
    **BEFORE_VERSIONS,
    "generations": "key BLOB PRIMARY KEY, generation BLOB NOT NULL, created_at TEXT NOT NULL",
    "run_samples": "run_id TEXT NOT NULL, position INTEGER NOT NULL, key BLOB NOT NULL, prompt_sha256 BLOB NOT NULL, "
    "sample BLOB NOT NULL, PRIMARY KEY (run_id, position)",
}
PACKED = {
    **{name: f"CASE length({name}) WHEN 64 THEN unhex({name}) ELSE {name} END" for name in ("key", "prompt_sha256")},
    **{name: f"packed({name})" for name in ("sample", "generation")},
}


@contextmanager
def opened(file: Path) -> Iterator[sqlite3.Connection]:
    with closing(sqlite3.connect(file)) as connection, connection:
        yield connection


def version(file: Path) -> int:
    with opened(file) as connection:
        return int(connection.execute("PRAGMA user_version").fetchone()[0])


def packed(text: str) -> bytes:
    deflating = zlib.compressobj(zdict=database._COMMON)
    return deflating.compress(text.encode()) + deflating.flush()


def put_back(file: Path, *, version: int) -> None:
    """The same rows in the tables as they were then."""
    file.rename(file.with_name("new.db"))
    with opened(file) as connection:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.create_function("packed", 1, packed)
        connection.create_function("unhex", 1, bytes.fromhex)
        connection.execute("ATTACH ? AS new", (str(file.with_name("new.db")),))
        for table, types in (BEFORE_VERSIONS if version < 2 else LAYOUT_2).items():
            connection.execute(f"CREATE TABLE main.{table} ({types}) {'' if table == 'faults' else 'WITHOUT ROWID'}")
            columns = [row[1] for row in connection.execute(f"PRAGMA main.table_info({table})")]
            then = PACKED if version == 2 else {"sample_id": "'of ' || key"} if table == "generations" else {}
            values = ", ".join(then.get(column, column) for column in columns)
            connection.execute(f"INSERT INTO main.{table} SELECT {values} FROM new.{table}")
        connection.execute("CREATE INDEX main.faults_of_run ON faults (run_id, sample_id)")
        connection.execute(f"PRAGMA user_version = {version}")


def test_a_new_database_has_todays_version(tmp_path: Path) -> None:
    with Store(tmp_path) as store:
        store.keep(PLANNED[0], said("9"))
    assert version(tmp_path / "state.db") == database.VERSION == 3


@pytest.mark.parametrize("earlier", [0, 1, 2])
def test_nothing_of_an_earlier_layout_is_lost_or_changed(tmp_path: Path, earlier: int) -> None:
    planned = [replace(each, key=digest_of(each.key), prompt_sha256=digest_of("prompt")) for each in PLANNED]
    with Store(tmp_path) as store:
        for schedule, run in ((PLANNED, RUN), (planned, replace(RUN, run_id="other"))):
            store.begin(run, schedule)
            for each in schedule:
                store.keep(each, said(f'{each.key} "é"'))
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


def filled(folder: Path) -> None:
    with Store(folder) as store:
        store.begin(RUN, PLANNED)
        for each in PLANNED:
            store.keep(each, said("9"))


@pytest.mark.parametrize("earlier", [0, 1, 2])
def test_a_damaged_row_of_an_earlier_layout_stays_as_it_is_and_is_damage(tmp_path: Path, earlier: int) -> None:
    filled(tmp_path)
    put_back(tmp_path / "state.db", version=earlier)
    with opened(tmp_path / "state.db") as connection:
        connection.execute("UPDATE generations SET generation = x'00' WHERE key = ?", (PLANNED[0].key,))
    with Store(tmp_path) as store:
        assert store.generation(PLANNED[1].key) == said("9")
        with pytest.raises(RunError, match="a row can't be read"):
            store.generation(PLANNED[0].key)


def test_an_earlier_layout_is_brought_up_to_date_as_a_whole_or_not_at_all(tmp_path: Path) -> None:
    filled(tmp_path)
    put_back(tmp_path / "state.db", version=2)
    before = (tmp_path / "state.db").read_bytes()
    broken = mock.patch.object(database, "seal_runs", side_effect=MemoryError)
    with broken, Store(tmp_path) as store, pytest.raises(MemoryError):
        store.verify()
    assert (tmp_path / "state.db").read_bytes() == before
    with Store(tmp_path) as store:
        store.verify()


def test_an_answer_of_an_earlier_layout_learns_its_prompt_from_the_schedule(tmp_path: Path) -> None:
    filled(tmp_path)
    put_back(tmp_path / "state.db", version=2)
    with Store(tmp_path) as store, pytest.raises(RunError, match="an answer is to another prompt"):
        store.generation(PLANNED[0].key, prompt_sha256="another")


def test_a_packed_row_is_read_for_ever() -> None:
    text = '{"text":"4030729","finish_reason":"stop","prompt_tokens":1021}'
    assert database._unpacked(bytes.fromhex("78bb05f4c631835b06753149e9bc160063aa1408")) == text


@pytest.mark.parametrize("data", [b"", b"{}", packed("{}")[:-1], packed("x" * 1_001)])
def test_what_was_not_packed_stays_as_it_is(data: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(database, "MOST_BYTES", 1_000)
    assert database._unpacked(data) == data


def test_a_newer_database_is_left_as_it_is(tmp_path: Path) -> None:
    with Store(tmp_path) as store:
        store.keep(PLANNED[0], said("9"))
    with opened(tmp_path / "state.db") as connection:
        connection.execute("PRAGMA user_version = 7")
    before = (tmp_path / "state.db").read_bytes()
    with Store(tmp_path) as store, pytest.raises(RunError) as told:
        store.generation("key-0")
    assert str(told.value) == (
        f"{tmp_path}/state.db: was written by a newer ContextCliff (layout 7, this one knows 3); nothing was changed: "
        "take that version (pip install -U contextcliff), or give another output_dir"
    )
    assert (tmp_path / "state.db").read_bytes() == before


def test_a_database_of_something_else_is_left_as_it_is(tmp_path: Path) -> None:
    with opened(tmp_path / "state.db") as connection:
        connection.execute("CREATE TABLE runs (id INTEGER)")
        connection.execute("CREATE TABLE params (key TEXT)")
    before = (tmp_path / "state.db").read_bytes()
    with Store(tmp_path) as store, pytest.raises(RunError) as told:
        store.keep(PLANNED[0], said("9"))
    assert str(told.value) == (
        f"{tmp_path}/state.db: is a SQLite database and none of ContextCliff's (it has params, runs); nothing was "
        "changed: give another output_dir, or move it aside"
    )
    assert (tmp_path / "state.db").read_bytes() == before
