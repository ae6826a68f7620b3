"""The ends of a long sweep's runs are carried out in other processes, and none is lost."""

from __future__ import annotations

import multiprocessing
import os
import signal
import sqlite3
import subprocess
import sys
import time
from functools import partial
from pathlib import Path

import pytest

from contextcliff.actions.end_of_run import EndOfRun
from contextcliff.command_line.ends_of_runs import EndsOfRuns
from contextcliff.tracking.tracker import Begun, Tracked, TrackingError
from tests.commands import contextcliff
from tests.simulated_reports import simulated


class Recorder:
    """Writes down in which process it was asked; fails for runs of one name."""

    experiment = "contextcliff"

    def log(self, tracked: Tracked, *, begun: Begun | None = None) -> None:
        (tracked.folder / f"{tracked.name}-{os.getpid()}").write_text(str(begun), encoding="utf-8")
        if tracked.name == "refused":
            raise TrackingError("can't track in a test: no")
        if tracked.name == "broken":
            raise ZeroDivisionError("a fault of ours")
        if tracked.name == "killed" and len(list(tracked.folder.glob("killed-*"))) == 1:
            os.kill(os.getpid(), signal.SIGKILL)


def end(folder: Path, name: str) -> EndOfRun:
    tracked = Tracked(report=simulated(), folder=folder, parameters={}, samples=(), name=name)
    return EndOfRun(
        tracker=Recorder(),  # type: ignore[arg-type]
        tracked=tracked,
        begun=None,
        scored=(),
        dpi=None,
        html=False,
        excerpts={},
        upload_later="the same command",
    )


def told(folder: Path) -> list[tuple[str, bool]]:
    """Name of each run that was tracked, and whether in this process."""
    found = (file.name.rpartition("-") for file in folder.iterdir())
    return sorted((name, int(process) == os.getpid()) for name, _, process in found)


def test_ends_are_carried_out_in_another_process_and_a_tracker_that_fails_is_a_warning(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ends = EndsOfRuns()
    assert [ends.add(end(tmp_path, name)) for name in ("one", "refused", "two")] == [""] * 3
    ends.finish()
    assert told(tmp_path) == [("one", False), ("refused", False), ("two", False)]
    assert capsys.readouterr().err == (
        f"warning: can't track in a test: no; the results in {tmp_path} are complete; upload them later with: the same "
        "command\n"
    )


@pytest.mark.slow
def test_a_process_that_is_killed_costs_nothing(tmp_path: Path) -> None:
    ends = EndsOfRuns()
    for name in ("one", "killed", "two"):
        ends.add(end(tmp_path, name))
    ends.finish()
    assert {name for name, _ in told(tmp_path)} == {"one", "killed", "two"}
    assert ("killed", True) in told(tmp_path)


@pytest.mark.slow
def test_a_fault_of_one_end_is_raised_when_the_others_are_done(tmp_path: Path) -> None:
    ends = EndsOfRuns()
    for name in ("broken", "one", "two"):
        ends.add(end(tmp_path, name))
    with pytest.raises(ZeroDivisionError, match="a fault of ours"):
        ends.finish()
    assert {name for name, _ in told(tmp_path)} == {"broken", "one", "two"}


@pytest.mark.slow
def test_a_sweep_of_eight_leaves_every_figure_and_every_run(tmp_path: Path) -> None:
    asked = ("engine=simulated", "seed=range(8)", "task.lengths=[512,2048]", "reporting.dpi=50")
    ended = contextcliff(*asked, "reporting.progress=false", "reporting.console=none", cwd=tmp_path)
    assert (ended.returncode, ended.stderr) == (0, "")
    runs = sorted((tmp_path / "outputs" / "contextcliff").glob("niah-*"))
    figures = [sorted(file.name for file in (run / "figures").iterdir()) for run in runs]
    assert len(runs) == 8
    assert "score_by_length.png" in figures[0]
    for run, drawn in zip(runs, figures, strict=True):
        page = (run / "report.md").read_text(encoding="utf-8")
        assert all(f"](figures/{name})" in page for name in drawn)
        assert page.count("](figures/") == len(drawn)
    with sqlite3.connect(tmp_path / "mlruns" / "mlflow.db") as store:
        statuses = store.execute("SELECT status, count(*) FROM runs GROUP BY status").fetchall()
    assert statuses == [("FINISHED", 9)]  # eight, and the sweep's own


def fail() -> None:
    raise ImportError("a library is missing")


def note_process(folder: Path) -> None:
    (folder / f"loaded-{os.getpid()}").touch()


@pytest.mark.slow
def test_both_processes_load_what_ends_take_before_the_first_end_comes(tmp_path: Path) -> None:
    ends = EndsOfRuns()
    ends.prepare(partial(note_process, tmp_path))
    deadline = time.monotonic() + 60
    while len(list(tmp_path.iterdir())) < 2 and time.monotonic() < deadline:
        time.sleep(0.05)
    loaded = {file.name.rpartition("-")[2] for file in tmp_path.iterdir()}
    ends.add(end(tmp_path, "one"))
    ends.finish()
    (ended,) = tmp_path.glob("one-*")
    assert len(loaded) == 2
    assert ended.name.rpartition("-")[2] in loaded


@pytest.mark.slow
def test_processes_to_which_no_end_came_are_not_waited_for(tmp_path: Path) -> None:
    ends = EndsOfRuns()
    ends.prepare(partial(time.sleep, 3_600))
    ends.finish()
    assert multiprocessing.active_children() == []


@pytest.mark.slow
def test_a_fault_while_loading_is_no_fault_of_an_end(tmp_path: Path) -> None:
    ends = EndsOfRuns()
    ends.prepare(fail)
    ends.add(end(tmp_path, "one"))
    ends.finish()
    assert told(tmp_path) == [("one", False)]


@pytest.mark.slow
def test_no_process_outlives_one_that_was_killed(tmp_path: Path) -> None:
    program = (
        "import os, sys, time\n"
        "from pathlib import Path\n"
        "from tests.test_ends_of_runs import EndsOfRuns, end\n"
        "if __name__ == '__main__':\n"
        "    ends = EndsOfRuns()\n"
        "    ends.add(end(Path(sys.argv[1]), 'one'))\n"
        "    while not list(Path(sys.argv[1]).glob('one-*')): time.sleep(0.05)\n"
        "    os.kill(os.getpid(), 9)\n"
    )
    script = tmp_path / "script.py"
    script.write_text(program, encoding="utf-8")
    kept = tmp_path / "kept"
    kept.mkdir()
    root = str(Path(__file__).parents[1])
    subprocess.run([sys.executable, script, kept], env={**os.environ, "PYTHONPATH": root}, check=False, timeout=60)
    (written,) = kept.iterdir()
    process = int(written.name.rpartition("-")[2])
    deadline = time.monotonic() + 20
    while Path(f"/proc/{process}").exists() and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not Path(f"/proc/{process}").exists()
