"""Two stores become one: nothing is lost, nothing is replaced, and no order of merging decides what is there."""

from __future__ import annotations

import os
import sqlite3
from dataclasses import replace
from itertools import permutations
from pathlib import Path

import pytest

from contextcliff.errors import EngineFault, RunError
from contextcliff.execution import merging
from contextcliff.execution.database import COLUMNS
from contextcliff.execution.merging import Merged, merge_store
from contextcliff.execution.store import Store
from tests.execution.test_store import FACTS, PLANNED, RUN, TEXT, edited, kept
from tests.execution.test_store_damage import OF_ROWS, WITHIN, Damage
from tests.execution.test_store_versions import stored
from tests.tasks.needles import said


def rows(folder: Path) -> dict[str, list[tuple[object, ...]]]:
    with sqlite3.connect(folder / "state.db") as store:
        return {
            table: sorted(store.execute(f"SELECT {', '.join(columns)} FROM {table}"))
            for table, columns in COLUMNS.items()
        }


def merged(into: Path, *others: Path) -> list[Merged]:
    with Store(into) as store:
        return [merge_store(store, other) for other in others]


def changed(folder: Path, *statements: str) -> Path:
    edited(folder / "state.db", *statements)
    return folder


def test_everything_of_a_store_comes_into_an_output_folder_that_has_none(tmp_path: Path) -> None:
    with Store(kept(tmp_path / "there", 0, 1)) as store:
        store.begin(RUN, PLANNED, [TEXT])
        store.keep_vectors({"v": [0.5, 0.25]})
        store.record_fault("run", "s", EngineFault("timeout", "late"))
        store.add_wall_time("run", 2.5)
    merged(tmp_path / "new" / "outputs", tmp_path / "there")
    assert rows(tmp_path / "new" / "outputs") == rows(tmp_path / "there")


def test_a_store_that_another_process_holds_is_not_waited_for_for_ever(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(merging, "_BUSY_S", 0.05)
    there = changed(kept(tmp_path / "there", 0), "PRAGMA journal_mode = DELETE")
    with sqlite3.connect(there / "state.db", isolation_level=None) as holder:
        holder.execute("BEGIN EXCLUSIVE")
        with pytest.raises(RunError, match="state.db: .*database is locked"):
            merged(tmp_path / "here", tmp_path / "there")
        holder.execute("ROLLBACK")
    assert merged(tmp_path / "here", tmp_path / "there")[0]["new_answers"] == 1


@pytest.mark.parametrize("longer", ["here", "there"])
def test_of_a_run_of_both_the_one_with_more_samples_stays_whole(tmp_path: Path, longer: str) -> None:
    for name in ("here", "there"):
        with Store(tmp_path / name) as store:
            store.keep(PLANNED[0 if name == "here" else 1], said("9"))
            run = replace(RUN, facts=replace(FACTS, server=(name,)))
            store.begin(run, PLANNED[: 4 if name == longer else 2], [TEXT])
            store.record_fault("run", "s", EngineFault(name, ""))
    merged(tmp_path / "here", tmp_path / "there")
    with Store(tmp_path / "here") as store:
        store.verify()
        stays = store.run("run")
        assert stays is not None
        assert stays.facts.server == (longer,)
        assert store.schedule("run") == PLANNED[:4]
        assert store.documents("run") == {"d": TEXT}
        assert [fault.kind for _, fault in store.faults("run")] == [longer]
        assert store.missing(PLANNED[:4]) == list(PLANNED[2:4])


def test_a_search_that_is_under_way_goes_on_behind_what_a_merge_brought(tmp_path: Path) -> None:
    kept(tmp_path / "there", 6)
    with Store(tmp_path / "here") as running:
        running.keep(PLANNED[0], said("9"))
        running.begin(RUN, PLANNED[:2])
        merged(tmp_path / "here", tmp_path / "there")
        running.extend("run", PLANNED[2:4])
        assert running.schedule("run") == PLANNED


def test_a_store_in_a_folder_that_may_not_be_written_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kept(tmp_path / "there", 0)
    (tmp_path / "there").chmod(0o555)
    monkeypatch.setattr(os, "access", lambda *_: False)  # root may write everywhere
    assert merged(tmp_path / "here", tmp_path / "there")[0]["new_answers"] == 1
    with Store(tmp_path / "here") as store:
        assert store.generation("key-0") == said("9")


def test_stores_that_are_gathered_in_any_order_and_again_give_the_same_answers(tmp_path: Path) -> None:
    stores = [kept(tmp_path / str(first), *range(first, first + 3)) for first in (0, 2, 5)]
    found = []
    for place, order in enumerate(permutations(stores)):
        into = tmp_path / f"into-{place}"
        merged(into, *order)
        found.append([row[0] for row in rows(into)["generations"]])
        before = rows(into)
        again = merged(into, *order)
        assert rows(into) == before
        assert {(one["new_runs"], one["new_answers"]) for one in again} == {(0, 0)}
    assert found == [[f"key-{number}" for number in range(8)]] * 6


def refused(tmp_path: Path) -> str:
    """The line with which the store in `there` is refused; that in `here` is as it was."""
    kept(tmp_path / "here", 0)
    before = rows(tmp_path / "here")
    with pytest.raises(RunError) as told:
        merged(tmp_path / "here", tmp_path / "there")
    assert rows(tmp_path / "here") == before
    assert "\n" not in str(told.value)
    return str(told.value).replace(f"{tmp_path}/", "")


NOT_OURS = "is none of ContextCliff's stores (it has v); leave it out"


@pytest.mark.parametrize(
    ("statement", "told"),
    [
        ("PRAGMA user_version = 9", "was written by a newer ContextCliff (layout 9, this one knows 3); nothing was "
            "changed: take that version (pip install -U contextcliff), or give another output_dir"),
        ("UPDATE runs SET fingerprint = 'another'",
            "its run run is another configuration than the one here; leave that store out"),
        ("CREATE VIEW v AS SELECT * FROM runs", NOT_OURS),
        ("CREATE TRIGGER v AFTER INSERT ON runs BEGIN DELETE FROM runs; END", NOT_OURS),
    ],
)  # fmt: skip
def test_a_store_that_does_not_go_with_this_one_is_refused(tmp_path: Path, statement: str, told: str) -> None:
    changed(kept(tmp_path / "there", 1), statement)
    assert refused(tmp_path) == f"there/state.db: {told}"


def test_a_store_from_before_versions_is_merged_and_left_as_it_is(tmp_path: Path) -> None:
    with sqlite3.connect(stored(tmp_path / "there", 0)) as store:
        store.executescript("DROP TABLE faults; DROP TABLE embeddings")
    assert merged(tmp_path / "here", tmp_path / "there")[0]["new_answers"] == 12
    with sqlite3.connect(tmp_path / "there" / "state.db") as store:
        assert store.execute("PRAGMA user_version").fetchone() == (0,)


@pytest.mark.parametrize(("damage", "told"), [WITHIN["no database"], WITHIN["overwritten pages"], OF_ROWS["answers"]])
def test_a_damaged_store_is_refused(tmp_path: Path, damage: Damage, told: str) -> None:
    with sqlite3.connect(kept(tmp_path / "there", *range(8)) / "state.db") as store:
        store.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    damage(tmp_path / "there" / "state.db")
    line = refused(tmp_path)
    assert line.startswith("there/state.db: is damaged, or no database (")
    assert told in line
    assert line.endswith("; nothing of it was taken: mend it there (sqlite3 FILE .recover), or leave it out")


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE generations SET generation = '{}'",
        "UPDATE generations SET generation = x'00'",
        """UPDATE generations SET generation = replace(generation, '1.0', '1e999')""",
        "UPDATE runs SET run_id = '../../outside'",
        "UPDATE runs SET run_id = '.hidden'",
        "UPDATE runs SET label = 'a/b'",
        "UPDATE runs SET facts = '[]'",
        "UPDATE runs SET wall_s = -1",
        "UPDATE run_samples SET sample = '{}'",
        "INSERT INTO documents VALUES ('not its digest', x'789c030000000001', '')",
        "INSERT INTO documents VALUES ('no document', x'00', '')",
        "INSERT INTO embeddings VALUES ('k', x'000000', '')",
    ],
)
def test_rows_that_no_run_of_ours_writes_are_refused(tmp_path: Path, statement: str) -> None:
    changed(kept(tmp_path / "there", 1), statement)
    told = refused(tmp_path)
    assert told.startswith("there/state.db: is damaged, or no database (a row can't be read: ")
    assert told.endswith("); nothing of it was taken: mend it there (sqlite3 FILE .recover), or leave it out")
