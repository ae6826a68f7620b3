"""`action=analyze` of a damaged store: the same report, or a line that says so; never another result."""

from __future__ import annotations

import json
import random
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from contextcliff.actions.action import Invocation
from contextcliff.errors import RunError
from contextcliff.execution.store import Fault, Store
from tests.compositions import built

QUIET = ("engine=simulated", "tracking=none", "reporting.progress=false", "reporting.console=none")
BARE = ("reporting.figures=false", "reporting.html=false", "model.context_window=32768")
TASKS = (
    ("task=niah", "task.lengths=[512,1024]", "task.trials=3"),
    ("task=qa", "dataset=stories", "analysis.bins=2", "task.samples_per_bin=8", "task.repeats=1"),
)


def asked(folder: Path, action: str) -> list[Invocation]:
    given = [built(*QUIET, *BARE, *task, f"action={action}") for task in TASKS]
    return [replace(each, output_dir=folder) for each in given]


def analysed(folder: Path) -> dict[str, str]:
    """What the analyses of both runs leave, without the time."""
    for invocation in asked(folder, "analyze"):
        invocation.action(invocation)
    files = sorted(folder.glob("*/*/report.json"))
    reports = [{**json.loads(file.read_text("utf-8")), "created_at": None} for file in files]
    lines = [(file.parent / "samples.jsonl").read_text("utf-8") for file in files]
    return {report["run_id"]: f"{report}{samples}" for report, samples in zip(reports, lines, strict=True)}


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, str]]:
    """A store with two runs, documents and faults, and what they are analysed to."""
    folder = tmp_path_factory.mktemp("made")
    for invocation in asked(folder, "run"):
        invocation.action(invocation)
        run_id = invocation.identify().run_id
        with Store(folder) as store:
            for item in store.schedule(run_id)[:4]:
                store.record_fault(run_id, item.sample.sample_id, Fault(kind="timeout", detail="late"))
            store.add_wall_time(run_id, 0.0)
    return folder / "state.db", analysed(folder)


def outcome(made: tuple[Path, dict[str, str]], folder: Path, change: Callable[[Path], object]) -> str:
    """`damaged`, or `same`."""
    shutil.copy(made[0], folder / "state.db")
    change(folder / "state.db")
    try:
        found: object = analysed(folder)
    except RunError as error:
        found = str(error)
    shutil.rmtree(folder)
    folder.mkdir()
    assert found == made[1] or "state.db: is damaged, or no database (" in str(found)
    return "same" if found == made[1] else "damaged"


@pytest.mark.parametrize("flips", [6, pytest.param(120, marks=pytest.mark.slow)])
def test_a_flipped_bit_changes_no_result(made: tuple[Path, dict[str, str]], tmp_path: Path, flips: int) -> None:
    rng = random.Random(flips)

    def flip(file: Path) -> None:
        data = bytearray(file.read_bytes())
        data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
        file.write_bytes(data)

    assert "damaged" in [outcome(made, tmp_path, flip) for _ in range(flips)]


@pytest.mark.parametrize(
    "statement",
    [
        *(
            f"DELETE FROM {table} WHERE rowid IN (SELECT rowid FROM (SELECT rowid, row_number() OVER (ORDER BY rowid) "
            f"AS place FROM {table}) WHERE place % 2 = 0)"
            for table in ("runs", "run_samples", "generations", "documents", "run_documents", "faults")
        ),
        "UPDATE generations SET generation = (SELECT generation FROM generations WHERE rowid = 1) WHERE rowid = 2",
        "UPDATE run_samples SET position = -position - 1",
        "UPDATE run_samples SET key = (SELECT key FROM generations WHERE rowid = 1) WHERE rowid = 2",
        "UPDATE runs SET wall_s = 1e999",
        "UPDATE faults SET kind = 'connect'",
        "ALTER TABLE run_samples RENAME COLUMN prompt_sha256 TO prompt",
        "ALTER TABLE generations RENAME TO generation",
    ],
)
def test_rows_that_are_missing_or_changed_are_damage(
    made: tuple[Path, dict[str, str]], tmp_path: Path, statement: str
) -> None:
    def change(file: Path) -> None:
        with closing(sqlite3.connect(file)) as connection, connection:
            assert connection.execute(statement).rowcount != 0

    assert outcome(made, tmp_path, change) == "damaged"


def test_a_store_that_was_cut_to_nothing_is_damage(made: tuple[Path, dict[str, str]], tmp_path: Path) -> None:
    assert outcome(made, tmp_path, lambda file: file.write_bytes(b"")) == "damaged"
