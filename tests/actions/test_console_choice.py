"""`reporting.console=full|summary|none`: how much of the answer is said on stdout."""

from __future__ import annotations

from pathlib import Path

import pytest

from contextcliff.records.sweep import SweepRow
from contextcliff.reporting.leaderboard import change_words
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


def row(job: int, cap: int | None, below: int | None = None, *, task: str = "niah", censored: bool = False) -> SweepRow:
    return SweepRow(
        job=job, model="m", task=task, kv_policy="none", state="done", cap_tokens=cap, crossing_high=below,
        censored=censored,
    )  # fmt: skip


def test_a_cap_stands_beside_that_of_the_first_job_of_its_task_where_they_are_shown_to_differ() -> None:
    rows = (
        *(row(2, 860, 990), row(0, 1000, 1200), row(1, 1000, 1100), row(3, None), row(4, 500, task="tracing")),
        *(row(5, 1250, 1300), row(6, 860, 1001), row(7, 860), row(8, 1190, 1300)),
    )
    assert [change_words(each, rows) for each in rows] == [
        *("-14%", "first", "same", "", "first", "+25%", "not shown", "not shown", "not shown"),
    ]
