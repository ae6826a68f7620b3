"""A calibration as files, as a figure and on the console."""

from __future__ import annotations

import io
from dataclasses import replace
from pathlib import Path

import pytest
from rich.console import Console

from contextcliff.analysis.calibration.calibrating import (
    FIXED,
    SEARCHES,
    Calibrated,
    CalibrationPlan,
    DesignName,
    calibrate_law,
)
from contextcliff.reporting.calibration_report import (
    DESIGN_TITLES,
    calibration_figure,
    calibration_markdown,
    conclusions,
    render_calibration,
)
from tests.analysis.calibration_plans import LAWS, plan_of
from tests.reporting.figure_texts import overlaps, words

COMMAND = "python -m contextcliff experiment=calibration"
DESIGNS: tuple[DesignName, ...] = (*SEARCHES, *FIXED)


PLAN = plan_of(40)


def results_of(*laws: str, plan: CalibrationPlan = PLAN) -> list[Calibrated]:
    return [result for law in laws for result in calibrate_law(plan, LAWS[law], DESIGNS)]


@pytest.fixture(scope="module")
def everything() -> list[Calibrated]:
    return results_of(*LAWS)


def test_every_law_and_design_has_a_title_of_its_own() -> None:
    assert len({law.title for law in LAWS.values()}) == len(LAWS)
    assert set(DESIGN_TITLES) == set(DESIGNS)


def test_the_table_is_readable_at_80_columns(everything: list[Calibrated], tmp_path: Path) -> None:
    stream = io.StringIO()
    render_calibration(PLAN, everything, console=Console(file=stream, width=80), folder=tmp_path)
    lines = stream.getvalue().splitlines()
    assert all(len(line) <= 80 for line in lines if str(tmp_path) not in line)
    for law in LAWS.values():
        assert law.title in lines
    assert "…" not in stream.getvalue()


def test_no_label_of_the_figure_covers_another(everything: list[Calibrated]) -> None:
    figure = calibration_figure(PLAN, everything)
    assert overlaps(figure) == []
    assert set(DESIGN_TITLES.values()) <= set(words(figure))


def test_what_is_above_the_promise_is_said() -> None:
    (calm,) = conclusions(PLAN, results_of("flat_threshold"))
    assert calm.endswith("no interval lies above it")
    wrong = [replace(result, errors=20, error_low=0.4) for result in results_of("flat_threshold")]
    (alarm,) = conclusions(PLAN, wrong)
    assert alarm.endswith("; 4 of 4 are above it")


@pytest.mark.slow
def test_the_table_in_the_docs_is_that_of_the_shipped_calibration() -> None:
    """Draw it again with the command in its first line where this fails."""
    page = (Path(__file__).parents[2] / "docs" / "calibration" / "calibration.md").read_text(encoding="utf-8")
    plan = plan_of(200)
    laws = ("cliff_between", "flat_98", "flat_threshold")
    rows = calibration_markdown(plan, results_of(*laws, plan=plan), command=COMMAND, drawn=True).splitlines()
    table = [row for row in rows if row.startswith("| ")]
    assert len(table) == 2 + len(laws) * len(DESIGNS)
    assert set(table) <= set(page.splitlines())
