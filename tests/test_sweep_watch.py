"""Where a sweep looks for the rows of its jobs, and what it does where it can't write."""

from __future__ import annotations

import errno
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from contextcliff.command_line import sweep
from contextcliff.command_line.sweep import SweepWatch
from contextcliff.errors import ExitCode, RunError
from contextcliff.records.sweep import SweepRow
from contextcliff.reporting import leaderboard
from contextcliff.reporting.reporting_settings import ReportingSettings
from contextcliff.reporting.stored_sweeps import StoredSweep, write_row


def row(*, job: int) -> SweepRow:
    return SweepRow(job=job, model="m", task="niah", kv_policy="none", state="done")


@dataclass
class Tracker:
    """Counts how often it is asked for rows; it has that of job 1."""

    is_sqlite_file: bool
    asked: int = 0

    def sweep_rows(self, sweep_id: str) -> Sequence[SweepRow]:
        assert sweep_id == "s1"
        self.asked += 1
        return [row(job=1)]

    def log_sweep(self, *_: object, **__: object) -> None:
        pass


def watch(folder: Path, tracker: Tracker) -> SweepWatch:
    stored = StoredSweep(
        sweep_id="s1", name="a sweep", command="", overrides=(), n_jobs=2, began_at="2026-01-01T00:00:00+00:00"
    )
    return SweepWatch(sweep=stored, jobs=(), folder=folder, tracker=tracker, reporting=ReportingSettings(figures=False))  # type: ignore[arg-type]


def test_only_a_tracker_that_machines_share_is_asked_for_rows_that_are_not_here(tmp_path: Path) -> None:
    write_row(tmp_path, row(job=0))
    shared, local = Tracker(is_sqlite_file=False), Tracker(is_sqlite_file=True)
    watching = watch(tmp_path, shared)
    for asked, ask in ((1, False), (1, False), (2, True)):
        assert [each.job for each in watching._rows(ask=ask)] == [0, 1]
        assert shared.asked == asked
    assert [each.job for each in watch(tmp_path, local)._rows(ask=True)] == [0]
    assert local.asked == 0


def no_space(*_: object, **__: object) -> None:
    raise OSError(errno.ENOSPC, "No space left on device")


def test_a_full_disk_leaves_the_leaderboard_whole_and_is_one_line_at_the_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def files() -> dict[str, bytes]:
        return {path.name: path.read_bytes() for path in (tmp_path / "leaderboard").iterdir()}

    monkeypatch.setattr(sweep, "_LOOK_EVERY_S", 0.01)
    watching = watch(tmp_path, Tracker(is_sqlite_file=True))
    write_row(tmp_path, row(job=0))
    watching._write([row(job=0)], over=False)
    whole = files()
    assert {"leaderboard.json", "leaderboard.csv", "leaderboard.md", "leaderboard.html"} == whole.keys()
    monkeypatch.setattr(leaderboard, "described", no_space)  # when the first of the files is written
    watching.begin()
    write_row(tmp_path, row(job=1))
    told, since = "", time.monotonic()
    while "warning" not in told and time.monotonic() - since < 30:
        time.sleep(0.01)
        told += capsys.readouterr().err
    full = f"{tmp_path}/leaderboard: No space left on device; "
    assert f"warning: {full}the leaderboard is not up to date\n" in told
    sweep._watching.append(watching)
    with pytest.raises(RunError) as raised:
        sweep.end_sweep(ExitCode.DONE)
    assert str(raised.value) == (f"{full}the answers are kept: free space and run the same command, or action=analyze")
    assert files() == whole
