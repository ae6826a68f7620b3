"""Word lists and questions among documents as runs: a planted cliff is found, and a hopeless model gets no cap."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.commands import SIMULATED, contextcliff, reports
from tests.compositions import without_hub

OPTIONS = ("ruler_cwe", "ruler_fwe", "qa_distractors", "ruler_qa_1", "ruler_qa_2")
LENGTHS = "task.lengths=[800,1600,3200]"


def run(folder: Path, *overrides: str) -> dict[str, Any]:
    folder.mkdir()
    done = contextcliff(*SIMULATED, *overrides, cwd=folder)
    assert done.returncode == 0, done.stderr
    (report,) = reports(folder)
    return report


@pytest.mark.parametrize(
    "option", [pytest.param(name, marks=[] if name == "ruler_cwe" else [pytest.mark.slow]) for name in OPTIONS]
)
def test_a_planted_cliff_is_found_and_no_cap_where_nothing_is_right(option: str, tmp_path: Path) -> None:
    task = (*without_hub(option), LENGTHS)
    cliff = run(tmp_path / "cliff", *task, "engine.cliff_tokens=2000", "task.controls=true", "search=walk")
    assert 1_500 < cliff["safe_cap"]["tokens"] <= 1_600
    assert cliff["safe_cap"]["shape"] == "cliff"
    assert {control["informative"] for control in cliff["controls"]} == {True}
    hopeless = run(tmp_path / "hopeless", *task, "engine.law=flat", "engine.ceiling=0.1", "engine.floor=0.0")
    assert hopeless["safe_cap"]["tokens"] is None


def test_a_loss_in_the_middle_of_the_documents_is_found_by_their_depth(tmp_path: Path) -> None:
    report = run(
        tmp_path / "run",
        *("task=qa_distractors", "task.lengths=[1500]", "task.trials=30", "analysis.relative_to_baseline=false"),
        *("engine.law=flat", "engine.position=middle", "engine.position_strength=0.9"),
    )
    assert report["position"]["pattern"] == "middle_collapse"
