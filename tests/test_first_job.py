"""`task.like=first` between processes: who posts, who waits, and what is said where there is nothing to wait for."""

from __future__ import annotations

import threading
from dataclasses import replace
from pathlib import Path

import pytest

from contextcliff.actions.action import Invocation
from contextcliff.command_line import sweep_jobs
from contextcliff.command_line.sweep_jobs import like_first
from contextcliff.errors import RunError
from contextcliff.execution.signals import JOBS_FOLDER
from tests.commands import SIMULATED
from tests.compositions import built


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


@pytest.mark.parametrize(("value", "job"), [("first", None), ("run-1", 1), ("null", 1)])
def test_what_names_no_first_job_is_left_as_it_is(jobs: Path, value: str, job: int | None) -> None:
    with like_first(like(value), job=job) as invocation:
        assert invocation == like(value)
    assert list(jobs.iterdir()) == []
