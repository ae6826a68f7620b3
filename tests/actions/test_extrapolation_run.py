"""A run beyond the trained positions: what is kept with it, what its report says, and what an older run lacks."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.commands import SIMULATED, reported
from tests.execution.test_store import edited

FEW = ("task.lengths=[512,1024,1280,2048]", "task.trials=4")
RUN = (*SIMULATED, "dataset=synthetic", "engine.cliff_tokens=1100", *FEW)
TRAINED = "model.rope.trained_tokens=1024"


def run(folder: Path, *overrides: str) -> dict[str, Any]:
    return reported(folder, *RUN, *overrides)


def test_without_the_trained_positions_nothing_is_found_and_they_can_be_given_afterwards(tmp_path: Path) -> None:
    assert run(tmp_path)["extrapolation"] is None
    afterwards = run(tmp_path, TRAINED, "action=analyze")
    assert afterwards["extrapolation"]["trained_tokens"] == 1_024
    assert afterwards["counts"]["reused"] == afterwards["counts"]["completed"]


def test_what_was_known_is_kept_with_the_run_and_a_run_of_an_earlier_version_is_read_without(tmp_path: Path) -> None:
    known = run(tmp_path, TRAINED)["extrapolation"]
    assert run(tmp_path, "action=analyze")["extrapolation"] == known
    edited(tmp_path / "outputs" / "state.db", "UPDATE runs SET facts = json_remove(facts, '$.positions')")
    assert run(tmp_path, "action=analyze")["extrapolation"] is None
