"""`action=calibrate` as a user calls it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from contextcliff.analysis.calibration.laws import laws_of
from tests.commands import DRAWN, QUIET, contextcliff
from tests.compositions import built, line_of

QUICK = ("experiment=calibration", "action.runs=30", "action.laws=[flat_threshold,cliff_between]")


@pytest.mark.slow
def test_an_experiment_is_all_that_a_calibration_takes(tmp_path: Path) -> None:
    done = contextcliff(*QUICK, "reporting.progress=false", *DRAWN, cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert "flat at the threshold" in done.stdout
    folder = tmp_path / "outputs" / "calibration"
    assert sorted(path.name for path in folder.iterdir()) == ["calibration.json", "calibration.md", "calibration.png"]
    assert [path.name for path in (tmp_path / "outputs").iterdir()] == ["calibration"]


def test_the_shipped_calibration_is_that_of_every_law_and_design() -> None:
    action = built("experiment=calibration").action
    assert (action.runs, action.laws) == (200, ())  # type: ignore[attr-defined]
    assert action.designs == ("walk", "refine", "fixed_40", "fixed_500")  # type: ignore[attr-defined]


def test_what_is_calibrated_is_what_the_needle_tasks_ask_by_default() -> None:
    action: Any = built("experiment=calibration").action
    niah: Any = built("task=niah").task
    assert (action.depths, action.max_trials) == (len(niah.places), niah.max_trials)


LAWS = ", ".join(law.name for law in laws_of((512, 1024, 2048, 4096), 0.8))
WRONG = {
    "a law that there is not": (("action.laws=[clif]",), f"action.laws: clif is no law; choose from {LAWS}"),
    "three lengths": (
        ("action.lengths=[512,1024,2048]",),
        "action.lengths=[512,1024,2048]: a calibration takes at least 4 lengths; give some more",
    ),
    "lengths that do not ascend": (
        ("action.lengths=[512,1024,4096,2048]",),
        "action.lengths=[512,1024,4096,2048]: each length is at least two tokens longer than the one before it; "
        "sort them",
    ),
    "a threshold that no law lies around": (
        ("analysis.threshold=1.0",),
        "analysis.threshold=1: the simulated laws lie around thresholds from 0.5 to 0.94; give one of these",
    ),
}


@pytest.mark.parametrize("case", WRONG)
def test_a_wrong_calibration_is_one_line_and_leaves_nothing(
    case: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    overrides, message = WRONG[case]
    monkeypatch.chdir(tmp_path)
    assert line_of("experiment=calibration", "engine=simulated", *QUIET, *overrides) == message
    assert not [*tmp_path.iterdir()]
