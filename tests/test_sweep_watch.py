"""A sweep whose disk is full, and `task.like=first` between processes: who posts, who waits, and for what."""

from __future__ import annotations

import errno
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from contextcliff.actions.action import Invocation
from contextcliff.command_line import sweep, sweep_jobs
from contextcliff.command_line.sweep import SweepWatch
from contextcliff.command_line.sweep_jobs import like_first
from contextcliff.errors import ExitCode, RunError
from contextcliff.execution.signals import JOBS_FOLDER
from contextcliff.records.sweep import SweepRow
from contextcliff.reporting import leaderboard
from contextcliff.reporting.reporting_settings import ReportingSettings
from contextcliff.reporting.stored_sweeps import StoredSweep, write_row
from tests.commands import SIMULATED
from tests.compositions import built


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


@pytest.fixture
def jobs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of a sweep's jobs."""
    monkeypatch.setenv(JOBS_FOLDER, str(tmp_path))
    monkeypatch.setattr(sweep_jobs, "_LOOK_EVERY_S", 0.01)
    monkeypatch.setattr(sweep_jobs, "_BEGINS_WITHIN_S", 0.05)
    return tmp_path


def like(value: str = "first") -> Invocation:
    return built(*SIMULATED, f"task.like={value}")


def test_the_first_job_posts_its_run_and_the_next_one_names_it(jobs: Path) -> None:
    invocation = like()
    run = (invocation.output_dir / invocation.tracking.experiment / "run-1").absolute()
    heard: list[Path] = []
    with like_first(replace(invocation, on_reported=heard.append), job=0) as first:
        assert first.like is None
        first.on_reported(run)
    assert heard == [run]
    with like_first(invocation, job=1) as second:
        assert (second.like, second.parameters["task.like"]) == ("run-1", "run-1")
        assert second.overrides == (*SIMULATED, "task.like=run-1")
    with like_first(replace(invocation, output_dir=Path("elsewhere")), job=2) as third:
        assert third.like == str(run)


def test_a_job_waits_while_the_first_one_is_under_way(jobs: Path) -> None:
    begun, end = threading.Event(), threading.Event()

    def first() -> None:
        with like_first(like(), job=0) as invocation:
            begun.set()
            end.wait(10)
            invocation.on_reported(jobs / "run-1")

    thread = threading.Thread(target=first)
    thread.start()
    begun.wait(10)
    threading.Timer(0.1, end.set).start()
    with like_first(like(), job=1) as second:
        assert second.like == str(jobs / "run-1")
    thread.join()


def test_a_first_job_that_left_no_run_is_told_from_none(jobs: Path) -> None:
    with pytest.raises(RunError, match="its own fault"), like_first(like(), job=0):
        raise RunError("its own fault")
    with like_first(like(), job=1) as second:
        assert second.like == ""


@pytest.mark.parametrize("begun", [True, False])
def test_a_first_job_that_died_or_never_began_is_not_waited_for(jobs: Path, begun: bool) -> None:
    if begun:
        (jobs / "first-job-begun").touch()
    expected = r"is not there to wait for; run it by itself, and the others with task\.like=RUN_ID$"
    with pytest.raises(RunError, match=rf"^task\.like=first: the first job of this sweep {expected}"):
        like_first(like(), job=1).__enter__()


def test_a_job_on_another_machine_can_learn_of_no_first_job(jobs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(JOBS_FOLDER, str(jobs / "of another machine"))
    with pytest.raises(RunError, match=r"^task\.like=first: this job does not run on .* with task\.like=RUN_ID$"):
        like_first(like(), job=1).__enter__()
