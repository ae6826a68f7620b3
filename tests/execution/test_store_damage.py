"""A `state.db` that can't be used: what is wrong with it, and the way out of that and of nothing else."""

from __future__ import annotations

import os
import random
import shutil
import sqlite3
import subprocess
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from contextcliff.errors import EngineFault, RunError
from contextcliff.execution.store import Store
from tests.execution.test_store import PLANNED, RUN, TEXT, edited
from tests.tasks.needles import said

Damage = Callable[[Path], object]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A database of some forty pages, with rows in every table."""
    folder = tmp_path_factory.mktemp("made")
    with Store(folder) as store:
        store.begin(RUN, PLANNED, [TEXT, replace(TEXT, document_id="e", text="another")])
        store.keep_vectors({"v": [0.5], "w": [0.25]})
        for item in PLANNED[:4]:
            store.record_fault("run", item.sample.sample_id, EngineFault("timeout", "late"))
        for number in range(200):
            text = said(random.Random(number).randbytes(400).hex())
            store.keep(replace(PLANNED[0], prompt_sha256="s", key=f"k{number:03}"), text)
        for item in PLANNED:
            store.keep(item, said("9"))
        store.add_wall_time("run", 1.0)
    return folder / "state.db"


@pytest.fixture
def file(made: Path, tmp_path: Path) -> Path:
    shutil.copy(made, tmp_path / "state.db")
    return tmp_path / "state.db"


def read(file: Path, *, verify: bool = True) -> None:
    with Store(file.parent) as store:
        if verify:
            store.verify()
        store.schedule("run")
        for number in range(200):
            store.generation(f"k{number:03}")


def damaged_line(file: Path, *, verify: bool = True) -> str:
    with pytest.raises(RunError, match=r"^[^\n]+/state.db: is damaged, or no database \(") as told:
        read(file, verify=verify)
    return str(told.value)


def overwritten(file: Path, first: int = 1, last: int = 12) -> None:
    data = bytearray(file.read_bytes())
    data[4096 * first : 4096 * last] = random.Random(0).randbytes(4096 * (last - first))
    file.write_bytes(data)


def by(statement: str) -> Damage:
    def change(file: Path) -> None:
        with closing(sqlite3.connect(file)) as connection, connection:
            assert connection.execute(statement).rowcount != 0

    return change


def written(generation: str) -> Damage:
    return lambda file: edited(file, f"UPDATE generations SET generation = {generation} WHERE key = 'k100'")


def every_other(table: str) -> Damage:
    places = f"SELECT rowid, row_number() OVER (ORDER BY rowid) AS place FROM {table}"
    return by(f"DELETE FROM {table} WHERE rowid IN (SELECT rowid FROM ({places}) WHERE place % 2 = 0)")


NOT_READ, NOT_WRITTEN = "a row can't be read (ValidationError)", "is not as it was written"
WITHIN: dict[str, tuple[Damage, str]] = {
    "overwritten pages": (overwritten, "database"),
    "cut to a third": (lambda file: os.truncate(file, file.stat().st_size // 3), "malformed)"),
    "cut to nothing": (lambda file: os.truncate(file, 0), "(it is empty)"),
    "no database": (lambda file: file.write_text("somebody's notes, and no database"), "(file is not a database)"),
    **{
        each: (written(each), NOT_READ)
        for each in ("'{'", "json_object('text', 1)", "x'00'", "replace(generation, '1.0', '1e999')")
    },
}
"""Told whenever the rows are read."""
OF_ROWS = {
    "a changed answer": (by("UPDATE generations SET generation = '{}' WHERE key = 'k101'"), NOT_WRITTEN),
    "an answer of another": (
        by("UPDATE generations SET generation = (SELECT generation FROM generations WHERE rowid = 1) WHERE rowid = 2"),
        NOT_WRITTEN,
    ),
    "places of samples": (by("UPDATE run_samples SET position = -position - 1"), NOT_WRITTEN),
    "a key of a sample": (by("UPDATE run_samples SET key = 'k001' WHERE rowid = 2"), NOT_WRITTEN),
    "a wall time": (by("UPDATE runs SET wall_s = 1e999"), NOT_WRITTEN),
    "kinds of faults": (by("UPDATE faults SET kind = 'connect'"), NOT_WRITTEN),
    "a column": (by("ALTER TABLE run_samples RENAME COLUMN prompt_sha256 TO prompt"), "no such column: prompt_sha256"),
    "a table": (by("ALTER TABLE generations RENAME TO generation"), "(a table is missing)"),
    "the run": (by("DELETE FROM runs"), "(a run is missing)"),
    "samples": (every_other("run_samples"), "the 8 samples of a run are not as they were written"),
    "answers": (every_other("generations"), "of 8 answers are missing"),
    "faults": (every_other("faults"), "(2 of 4 faults are missing)"),
    "documents": (every_other("documents"), "(1 of 2 documents are missing)"),
    "documents of a run": (every_other("run_documents"), "(1 of 2 documents are missing)"),
    "embeddings": (every_other("embeddings"), "(1 of 2 embeddings are missing)"),
}
"""Told before an analysis."""


@pytest.mark.parametrize("name", [*WITHIN, *OF_ROWS])
def test_damage_is_told(file: Path, name: str) -> None:
    damage, told = {**WITHIN, **OF_ROWS}[name]
    damage(file)
    for verify in (True, False) if name in WITHIN else (True,):
        assert told in damaged_line(file, verify=verify)


@pytest.mark.skipif(shutil.which("sqlite3") is None, reason="needs the command line tool of SQLite")
def test_the_ways_out_that_are_told_work(file: Path) -> None:
    overwritten(file, 20, 22)
    line = damaged_line(file, verify=False)
    subprocess.run(line.split("move it aside (")[1].split(") and the same")[0], shell=True, check=True)
    with Store(file.parent) as store:
        assert store.generation("k000") is None
    saving = line.split("comes back by: ")[1].split(" (perhaps")[0]
    subprocess.run(saving, shell=True, check=True, capture_output=True)
    with Store(file.parent) as store:
        found = [store.generation(f"k{number:03}") for number in range(200)]
        store.verify()
    assert 150 <= sum(generation is not None for generation in found) < 200
