"""A whole run on the planted model: what it leaves, what it reuses, what it refuses."""

from __future__ import annotations

import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.commands import SIMULATED, contextcliff, reports, samples


@pytest.mark.slow
def test_a_label_with_another_configuration_is_refused_before_anything_is_sent(tmp_path: Path) -> None:
    assert contextcliff(*SIMULATED, "label=tuned", cwd=tmp_path).returncode == 0
    assert contextcliff(*SIMULATED, "label=tuned", cwd=tmp_path).returncode == 0
    with sqlite3.connect(tmp_path / "outputs" / "state.db") as store:
        before = store.execute("SELECT count(*) FROM generations").fetchone()
    done = contextcliff(*SIMULATED, "label=tuned", "task.trials=2", cwd=tmp_path)
    (report,) = reports(tmp_path)
    assert done.returncode == 2
    assert done.stderr == (
        f"error: label=tuned: is the name of another configuration ({report['run_id']}); "
        "choose another label, or repeat that configuration\n"
    )
    with sqlite3.connect(tmp_path / "outputs" / "state.db") as store:
        assert store.execute("SELECT count(*) FROM generations").fetchone() == before


def test_analyze_without_a_run_says_so(tmp_path: Path) -> None:
    done = contextcliff(*SIMULATED, "action=analyze", cwd=tmp_path)
    assert done.returncode == 2
    assert done.stderr.startswith("error: action=analyze: outputs/state.db holds no run of this configuration (niah-")
    assert list(tmp_path.iterdir()) == []


def _hear_ctrl_c() -> None:
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def interrupted(folder: Path, *overrides: str, number: int) -> subprocess.CompletedProcess[str]:
    """Start a run, send it a signal once it has kept a few answers, and wait for its end."""
    process = subprocess.Popen(
        [sys.executable, "-m", "contextcliff", *overrides],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        # A shell lets what it runs in the background ignore Ctrl-C, and that is inherited.
        preexec_fn=_hear_ctrl_c,
    )
    store = folder / "outputs" / "state.db"
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and process.poll() is None:
        if store.exists() and kept(store) >= 5:
            break
        time.sleep(0.01)
    process.send_signal(number)
    out, err = process.communicate(timeout=60)
    return subprocess.CompletedProcess(process.args, process.returncode, out, err)


def kept(store: Path) -> int:
    try:
        with sqlite3.connect(f"file:{store}?mode=ro", uri=True) as connection:
            return int(connection.execute("SELECT count(*) FROM generations").fetchone()[0])
    except sqlite3.OperationalError:
        return 0


# Long prompts and many of them, so that there is a middle to be interrupted in, also on a busy machine.
LONG = (
    *(*SIMULATED, "engine.concurrency=1", "dataset=synthetic", "model=qwen"),
    *("task.lengths=[16000,30000]", "task.trials=20", "task.haystacks=1"),
)
ALL = 440


def test_ctrl_c_stops_cleanly_with_a_report_that_says_it_is_partial(tmp_path: Path) -> None:
    done = interrupted(tmp_path, *LONG, number=signal.SIGINT)
    assert done.returncode == 130
    assert done.stderr == "interrupted: what was answered is kept, and the same command goes on\n"
    (report,) = reports(tmp_path)
    assert report["partial"] is True
    assert 5 <= report["counts"]["completed"] < ALL
    assert report["counts"]["planned"] == report["counts"]["completed"] + report["counts"]["unscored"] == ALL
    assert {line["failure"] for line in samples(tmp_path) if line["score"] is None} == {"not_sent"}
    assert contextcliff(*LONG, cwd=tmp_path).returncode == 0
    (whole,) = reports(tmp_path)
    assert (whole["partial"], whole["counts"]["completed"]) == (False, ALL)
    assert whole["counts"]["reused"] == report["counts"]["completed"]


def test_a_killed_run_goes_on_where_it_was(tmp_path: Path) -> None:
    done = interrupted(tmp_path, *LONG, number=signal.SIGKILL)
    assert done.returncode == -signal.SIGKILL
    before = kept(tmp_path / "outputs" / "state.db")
    assert 5 <= before < ALL
    assert contextcliff(*LONG, cwd=tmp_path).returncode == 0
    (report,) = reports(tmp_path)
    assert (report["counts"]["reused"], report["counts"]["completed"], report["counts"]["unscored"]) == (before, ALL, 0)
    assert kept(tmp_path / "outputs" / "state.db") == ALL
