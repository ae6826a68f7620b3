"""The layout of `state.db`: an older one is brought up to date, a newer or a foreign one is left as it is."""

from __future__ import annotations

import gzip
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from contextcliff.errors import RunError
from contextcliff.execution import database
from contextcliff.execution.store import Answered, Store
from tests.execution.test_store import PLANNED, RUN
from tests.tasks.needles import said

STORES = Path(__file__).parent.parent / "golden" / "stores"


@contextmanager
def opened(file: Path) -> Iterator[sqlite3.Connection]:
    with closing(sqlite3.connect(file)) as connection, connection:
        yield connection


def version(file: Path) -> int:
    with opened(file) as connection:
        return int(connection.execute("PRAGMA user_version").fetchone()[0])


def test_a_new_database_has_todays_version(tmp_path: Path) -> None:
    with Store(tmp_path) as store:
        store.keep(Answered(planned=PLANNED[0], generation=said("9")))
    assert version(tmp_path / "state.db") == database.VERSION == 2


def test_a_damaged_row_of_an_earlier_layout_stays_as_it_is_and_is_damage(tmp_path: Path) -> None:
    """Rows that are well come along: `tests/golden/test_stored_layouts.py`."""
    file = tmp_path / "state.db"
    file.write_bytes(gzip.decompress((STORES / "layout_1.db.gz").read_bytes()))
    with opened(file) as connection:
        (whole,), (broken,) = connection.execute("SELECT key FROM generations LIMIT 2")
        connection.execute("UPDATE generations SET generation = x'00' WHERE key = ?", (broken,))
    with Store(tmp_path) as store:
        assert store.generation(whole) is not None
        with pytest.raises(RunError, match="a row can't be read"):
            store.generation(broken)


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
