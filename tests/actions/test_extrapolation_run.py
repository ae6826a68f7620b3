"""A run beyond the trained positions: what is kept with it, what its report says, and what an older run lacks."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.commands import SIMULATED, reported
from tests.execution.test_store import edited

FEW = ("task.lengths=[512,1024,1280,2048]", "task.trials=4")
RUN = (*SIMULATED, "dataset=synthetic", "engine.cliff_tokens=1100", *FEW)
TRAINED = "model.rope.trained_tokens=1024"


def run(folder: Path, *overrides: str) -> dict[str, Any]:
    return reported(folder, *RUN, *overrides)


@pytest.mark.slow
def test_what_was_known_is_kept_and_a_run_of_an_earlier_version_is_read_without_until_it_is_given(
    tmp_path: Path,
) -> None:
    known = run(tmp_path, TRAINED)["extrapolation"]
    assert known["trained_tokens"] == 1_024
    assert run(tmp_path, "action=analyze")["extrapolation"] == known
    edited(tmp_path / "outputs" / "state.db", "UPDATE runs SET facts = json_remove(facts, '$.positions')")
    assert run(tmp_path, "action=analyze")["extrapolation"] is None
    afterwards = run(tmp_path, TRAINED, "action=analyze")
    assert afterwards["extrapolation"] == known
    assert afterwards["counts"]["reused"] == afterwards["counts"]["completed"]
