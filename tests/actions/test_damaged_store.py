"""`action=analyze` of a damaged store: the same report, or a line that says so; never another result."""

from __future__ import annotations

import json
import random
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from contextcliff.actions.action import Invocation
from contextcliff.errors import EngineFault, RunError
from contextcliff.execution.store import Store
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
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The store of two runs, with documents and faults."""
    folder = tmp_path_factory.mktemp("made")
    for invocation in asked(folder, "run"):
        invocation.action(invocation)
        run_id = invocation.identify().run_id
        with Store(folder) as store:
            for item in store.schedule(run_id)[:4]:
                store.record_fault(run_id, item.sample.sample_id, EngineFault("timeout", "late"))
            store.add_wall_time(run_id, 0.0)
    return folder / "state.db"


@pytest.mark.parametrize("flips", [6, pytest.param(120, marks=pytest.mark.slow)])
def test_a_flipped_bit_changes_no_result(made: Path, tmp_path: Path, flips: int) -> None:
    rng, damaged, right = random.Random(flips), 0, analysed(made.parent)
    for flip in range(flips):
        data = bytearray(made.read_bytes())
        data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
        folder = tmp_path / str(flip)
        folder.mkdir()
        (folder / "state.db").write_bytes(data)
        try:
            found: object = analysed(folder)
        except RunError as error:
            found, damaged = str(error), damaged + 1
        assert found == right or "state.db: is damaged, or no database (" in str(found)
        shutil.rmtree(folder)
    assert damaged
