"""`reporting.console=full|summary|none`: how much of the answer is said on stdout."""

from __future__ import annotations

import io
import os
from contextlib import redirect_stdout
from dataclasses import replace
from pathlib import Path
from unittest.mock import patch

import pytest

from contextcliff.records.sweep import SweepRow
from contextcliff.reporting.leaderboard import change_words, render_sweep
from tests.commands import contextcliff
from tests.compositions import line_of

RUN = ("engine=simulated", "tracking=none", "reporting.progress=false", "reporting.figures=false", "task.lengths=[512]")
REASON = "\n  Reason: "


def told(folder: Path, *overrides: str) -> str:
    done = contextcliff(*RUN, *overrides, cwd=folder)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def test_a_summary_is_the_cap_with_its_reason_and_where_the_report_lies(tmp_path: Path) -> None:
    lines = told(tmp_path, "reporting.console=summary").splitlines()
    assert lines[0].startswith("SAFE CAP: ")
    assert lines[1].startswith("  Reason: ")
    assert lines[-1].startswith("Report: outputs/contextcliff/niah-")
    assert len(lines) < 12


def test_none_is_silent(tmp_path: Path) -> None:
    assert told(tmp_path, "reporting.console=none") == ""


@pytest.mark.slow
def test_a_sweep_says_its_table_alone_and_its_jobs_where_they_are_asked_to(tmp_path: Path) -> None:
    swept = ("seed=1,2", "task.trials=1")
    table = told(tmp_path, *swept)
    assert REASON not in table
    assert "2 of 2 jobs, 0 failed" in table
    full = told(tmp_path, *swept, "reporting.console=full")
    assert full.count(REASON) == 2
    assert "2 of 2 jobs, 0 failed" in full


@pytest.mark.parametrize("value", ["true", "false", "all"])
def test_another_value_is_refused_with_those_that_there_are(value: str) -> None:
    assert line_of(*RUN, f"reporting.console={value}") == (
        f"reporting.console={value}: must be 'full', 'summary' or 'none'"
    )


def row(job: int, cap: int | None, *, task: str = "niah", censored: bool = False) -> SweepRow:
    return SweepRow(job=job, model="m", task=task, kv_policy="none", state="done", cap_tokens=cap, censored=censored)


def test_a_cap_stands_beside_that_of_the_first_job_of_its_task() -> None:
    rows = (row(2, 860), row(0, 1000), row(1, 1000), row(3, None), row(4, 500, task="tracing"), row(5, 1250))
    assert [change_words(each, rows) for each in rows] == ["-14%", "first", "same", "", "first", "+25%"]


def test_two_bounds_have_no_difference() -> None:
    rows = (row(0, 1000), row(1, 2000, censored=True))
    assert change_words(rows[1], rows) == ""
    same = (row(0, 2000, censored=True), row(1, 2000, censored=True))
    assert change_words(same[1], same) == "same"


def table_of(rows: tuple[SweepRow, ...], *, width: int) -> list[str]:
    """The table of a sweep on a console of this width, without what stands around it."""
    stream = io.StringIO()
    with patch.dict(os.environ, COLUMNS=str(width)), redirect_stdout(stream):
        render_sweep(rows, name="s", n_jobs=len(rows), folder=Path("f"), page=None)
    return [line.rstrip() for line in stream.getvalue().splitlines()[2:-1]]


def test_what_all_jobs_share_stands_over_a_table_that_is_too_wide() -> None:
    rows = tuple(
        replace(row(job, cap), model="a-model-with-a-rather-long-name", differing={"task.trials": f"{job + 20}"})
        for job, cap in enumerate((1000, 860))
    )
    wide, narrow = table_of(rows, width=120), table_of(rows, width=60)
    assert wide[0].split()[:4] == ["task", "model", "KV", "policy"]
    assert narrow[0] == "all jobs: task niah, model a-model-with-a-rather-long-name,"
    assert narrow[2].split() == ["options", "safe", "cap", "change", "shape", "evidence"]
    assert [line.split()[0] for line in narrow[-2:]] == ["trials=20", "trials=21"]
