"""A whole run on the planted model: what it leaves, what it reuses, what it refuses."""

from __future__ import annotations

import signal
import sqlite3
from pathlib import Path

import pytest

from tests.commands import SIMULATED, contextcliff, ended, kept, once, reports, samples, started


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


# Long prompts and many of them, so that there is a middle to be interrupted in, also on a busy machine.
LONG = (
    *(*SIMULATED, "engine.concurrency=1", "dataset=synthetic", "model=qwen"),
    *("task.lengths=[16000,30000]", "task.trials=20", "task.haystacks=1"),
)
ALL = 440

CODES = {signal.SIGINT: 130, signal.SIGTERM: 143}
WORDS = {signal.SIGINT: "interrupted", signal.SIGTERM: "terminated"}
BOTH = pytest.mark.parametrize(
    "number", [signal.SIGINT, pytest.param(signal.SIGTERM, marks=pytest.mark.slow)], ids=["SIGINT", "SIGTERM"]
)
GOES_ON = "what was answered is kept, and the same command goes on\n"


@BOTH
def test_a_signal_stops_cleanly_with_a_report_that_says_it_is_partial(tmp_path: Path, number: signal.Signals) -> None:
    process = started(tmp_path, *LONG)
    once(process, lambda: kept(tmp_path / "outputs" / "state.db") >= 5)
    process.send_signal(number)
    process.send_signal(number)  # as `timeout` does, which tells process and group: one wish
    assert ended(process) == (CODES[number], f"{WORDS[number]}: {GOES_ON}")
    (report,) = reports(tmp_path)
    assert report["partial"] is True
    assert 5 <= report["counts"]["completed"] < ALL
    assert report["counts"]["planned"] == report["counts"]["completed"] + report["counts"]["unscored"] == ALL
    assert {line["failure"] for line in samples(tmp_path) if line["score"] is None} == {"not_sent"}
    assert contextcliff(*LONG, cwd=tmp_path).returncode == 0
    (whole,) = reports(tmp_path)
    assert (whole["partial"], whole["counts"]["completed"]) == (False, ALL)
    assert whole["counts"]["reused"] == report["counts"]["completed"]
    assert whole["usage"]["wall_s"] > report["usage"]["wall_s"] > 0
