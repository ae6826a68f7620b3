"""A calibration as files, as a figure and on the console."""

from __future__ import annotations

import io
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from rich.console import Console

from contextcliff.analysis.calibration import calibrating
from contextcliff.analysis.calibration.laws import Law
from contextcliff.reporting import calibration_report as shown
from tests.analysis.calibration_plans import LAWS, plan_of
from tests.reporting.figure_texts import overlaps, words

COMMAND = "python -m contextcliff experiment=calibration"
DESIGNS: tuple[calibrating.DesignName, ...] = (*calibrating.SEARCHES, *calibrating.FIXED)


PLAN = plan_of(40)


def made(law: Law, design: calibrating.DesignName) -> calibrating.Calibrated:
    """One run in error where a law has any, one without a cap, and the rest at the longest length that is safe."""
    safe = max((tokens for tokens in PLAN.lengths if not law.is_error(tokens)), default=0)
    wrong = min((tokens for tokens in PLAN.lengths if law.is_error(tokens)), default=safe)
    caps = np.array([wrong, 0, *[safe] * (PLAN.runs - 2)])
    tokens = np.linspace(1, 2, PLAN.runs) * PLAN.fixed_tokens("fixed_40") * (1 + DESIGNS.index(design))
    return calibrating.calibrated(law, design, (caps, tokens), longest=PLAN.lengths[-1])


EVERYTHING = [made(law, design) for law in LAWS.values() for design in DESIGNS]
FLAT = [result for result in EVERYTHING if result.law == "flat_threshold"]


def test_every_law_and_design_has_a_title_of_its_own() -> None:
    assert len({law.title for law in LAWS.values()}) == len(LAWS)
    assert set(shown.DESIGN_TITLES) == set(DESIGNS)


def test_the_table_is_readable_at_80_columns(tmp_path: Path) -> None:
    stream = io.StringIO()
    shown.render_calibration(PLAN, EVERYTHING, console=Console(file=stream, width=80), folder=tmp_path)
    lines = stream.getvalue().splitlines()
    assert all(len(line) <= 80 for line in lines if str(tmp_path) not in line)
    for law in LAWS.values():
        assert law.title in lines
    assert "…" not in stream.getvalue()


def test_no_label_of_the_figure_covers_another() -> None:
    figure = shown.calibration_figure(PLAN, EVERYTHING)
    assert overlaps(figure) == []
    assert set(shown.DESIGN_TITLES.values()) <= set(words(figure))


def test_what_is_above_the_promise_is_said() -> None:
    (calm,) = shown.conclusions(PLAN, FLAT)
    assert calm.endswith("no interval lies above it")
    wrong = [replace(result, errors=20, error_low=0.4) for result in FLAT]
    (alarm,) = shown.conclusions(PLAN, wrong)
    assert alarm.endswith("; 4 of 4 are above it")


@pytest.mark.slow
def test_the_table_in_the_docs_is_that_of_the_shipped_calibration() -> None:
    """Draw it again with the command in its first line where this fails."""
    page = (Path(__file__).parents[2] / "docs" / "calibration" / "calibration.md").read_text(encoding="utf-8")
    plan = plan_of(200)
    laws = ("cliff_between", "flat_98", "flat_threshold")
    results = [result for law in laws for result in calibrating.calibrate_law(plan, LAWS[law], DESIGNS)]
    rows = shown.calibration_markdown(plan, results, command=COMMAND, drawn=True).splitlines()
    table = [row for row in rows if row.startswith("| ")]
    assert len(table) == 2 + len(laws) * len(DESIGNS)
    assert set(table) <= set(page.splitlines())
