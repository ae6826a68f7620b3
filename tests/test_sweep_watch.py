"""Where a sweep looks for the rows of its jobs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from contextcliff.command_line.sweep_watch import SweepWatch
from contextcliff.records.sweep import SweepRow
from contextcliff.reporting.reporting_settings import ReportingSettings
from contextcliff.reporting.stored_sweeps import StoredSweep, write_row


def row(*, job: int) -> SweepRow:
    return SweepRow(job=job, model="m", task="niah", kv_policy="none", state="done")


@dataclass
class Tracker:
    """Counts how often it is asked for rows; it has that of job 1."""

    is_shared: bool
    asked: int = 0

    def sweep_rows(self, sweep_id: str) -> Sequence[SweepRow]:
        assert sweep_id == "s1"
        self.asked += 1
        return [row(job=1)]


def watch(folder: Path, tracker: Tracker) -> SweepWatch:
    sweep = StoredSweep(
        sweep_id="s1", name="a sweep", command="", overrides=(), n_jobs=2, began_at="2026-01-01T00:00:00+00:00"
    )
    return SweepWatch(sweep=sweep, folder=folder, tracker=tracker, reporting=ReportingSettings())  # type: ignore[arg-type]


@pytest.mark.parametrize("is_shared", [False, True])
def test_only_a_shared_tracker_is_asked_while_jobs_go_on(tmp_path: Path, is_shared: bool) -> None:
    tracker = Tracker(is_shared=is_shared)
    watching = watch(tmp_path, tracker)
    write_row(tmp_path, row(job=0))
    assert [each.job for each in watching._rows()] == ([0, 1] if is_shared else [0])
    assert tracker.asked == is_shared
    assert [each.job for each in watching._rows(ask=True)] == [0, 1]
    assert tracker.asked == is_shared + 1


def test_a_local_tracker_is_never_asked_for_a_sweep_of_which_nothing_has_begun(tmp_path: Path) -> None:
    tracker = Tracker(is_shared=False)
    assert watch(tmp_path, tracker)._rows(ask=True) == ()
    assert tracker.asked == 0
