"""G2: a `state.db` of every layout opens, goes on without asking anything again, and gives today's report.

`stores/layout_N.db.gz` were left by the code of their time and are never made anew (layout 0 is layout 1 without a
version), but for the count of an empty answer, which was 0 and is 1. They hold twelve answers to `RUN`; the engine that
goes on from them answers nothing.
"""

from __future__ import annotations

import gzip
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from tests.commands import SIMULATED, contextcliff, reports

RUN = (
    *(*SIMULATED, "reporting.html=false", "task=repeat", "task.lengths=[120,160]", "task.depths=[0.0,0.5,1.0]"),
    *("task.trials=2", "engine.law=slope", "engine.cliff_tokens=400"),
)
SILENT = "engine._target_=tests.golden.planted.Silent"
STORES = sorted(Path(__file__).with_name("stores").glob("*.gz"))


def layout(file: Path) -> int:
    with closing(sqlite3.connect(file)) as connection:
        return int(connection.execute("PRAGMA user_version").fetchone()[0])


def reported(folder: Path, *overrides: str) -> dict[str, Any]:
    done = contextcliff(*RUN, *overrides, cwd=folder)
    assert (done.returncode, done.stderr) == (0, "")
    (report,) = reports(folder)
    usage = {key: value for key, value in report["usage"].items() if key != "wall_s"}
    return {
        **{key: value for key, value in report.items() if key not in ("created_at", "command", "next_command")},
        "usage": usage,
    }


@pytest.fixture(scope="module")
def today(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("today")


@pytest.fixture(scope="module")
def asked_today(today: Path) -> dict[str, Any]:
    return reported(today)


@pytest.mark.parametrize(
    "store",
    [pytest.param(store, marks=() if store is STORES[-1] else pytest.mark.slow) for store in STORES],
    ids=lambda file: file.name.partition(".")[0],
)
def test_a_store_of_an_earlier_layout_goes_on(
    store: Path, tmp_path: Path, today: Path, asked_today: dict[str, Any]
) -> None:
    file = tmp_path / "outputs" / "state.db"
    file.parent.mkdir()
    file.write_bytes(gzip.decompress(store.read_bytes()))
    assert store.name == f"layout_{layout(file)}.db.gz"
    for again in (), ("action=analyze",):
        report = reported(tmp_path, SILENT, *again)
        assert report["counts"] == {**asked_today["counts"], "reused": 12}
        assert {**report, "counts": None} == {**asked_today, "counts": None}
    assert layout(file) == layout(today / "outputs" / "state.db")


def test_every_layout_but_todays_has_a_store(today: Path, asked_today: dict[str, Any]) -> None:
    assert len(STORES) >= layout(today / "outputs" / "state.db")
