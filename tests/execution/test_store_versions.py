"""The layout of `state.db`: an older one is brought up to date, a newer or a foreign one is left as it is."""

from __future__ import annotations

import gzip
import sqlite3
import zlib
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from unittest import mock

import pytest

from contextcliff.errors import RunError
from contextcliff.execution import database
from contextcliff.execution.store import Store
from tests.execution.test_store import kept

STORES = Path(__file__).parents[1] / "golden" / "stores"


@contextmanager
def opened(file: Path) -> Iterator[sqlite3.Connection]:
    with closing(sqlite3.connect(file)) as connection, connection:
        yield connection


def stored(folder: Path, layout: int) -> Path:
    folder.mkdir(exist_ok=True)
    file = folder / "state.db"
    file.write_bytes(gzip.decompress((STORES / f"layout_{layout}.db.gz").read_bytes()))
    return file


def test_an_earlier_layout_is_brought_up_to_date_as_a_whole_or_not_at_all(tmp_path: Path) -> None:
    file = stored(tmp_path, 2)
    before = file.read_bytes()
    broken = mock.patch.object(database, "seal_runs", side_effect=MemoryError)
    with broken, Store(tmp_path) as store, pytest.raises(MemoryError):
        store.verify()
    assert file.read_bytes() == before
    with Store(tmp_path) as store:
        store.verify()


NEWER = (
    "was written by a newer ContextCliff (layout 7, this one knows 3); nothing was changed: take that version (pip "
    "install -U contextcliff), or give another output_dir"
)
FOREIGN = (
    "is a SQLite database and none of ContextCliff's (it has params, runs); nothing was changed: give another "
    "output_dir, or move it aside"
)


@pytest.mark.parametrize(("is_ours", "told"), [(True, NEWER), (False, FOREIGN)])
def test_a_newer_database_and_one_of_something_else_are_left_as_they_are(
    tmp_path: Path, is_ours: bool, told: str
) -> None:
    if is_ours:
        kept(tmp_path, 0)
    with opened(tmp_path / "state.db") as connection:
        made = (
            "PRAGMA user_version = 7" if is_ours else "CREATE TABLE runs (id INTEGER); CREATE TABLE params (key TEXT)"
        )
        connection.executescript(made)
    before = (tmp_path / "state.db").read_bytes()
    with pytest.raises(RunError) as refused:
        kept(tmp_path, 0)
    assert str(refused.value) == f"{tmp_path}/state.db: {told}"
    assert (tmp_path / "state.db").read_bytes() == before


def test_a_row_of_layout_2_unpacks_to_no_more_than_a_row_may_have(monkeypatch: pytest.MonkeyPatch) -> None:
    deflating = zlib.compressobj(zdict=database._COMMON)
    packed = deflating.compress(b"x" * 1_001) + deflating.flush()
    assert database._unpacked(packed) == "x" * 1_001
    monkeypatch.setattr(database, "MOST_BYTES", 1_000)
    assert database._unpacked(packed) == packed
