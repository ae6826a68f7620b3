"""A whole run: what it leaves, what it refuses, and what a signal at any moment leaves of it."""

from __future__ import annotations

import signal
import socket
import sqlite3
import time
from pathlib import Path
from typing import Any

import pytest

from tests.commands import QUIET, SIMULATED, contextcliff, ended, kept, once, reports, samples, started
from tests.engines.fake_server import FakeServer, serving


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


SHORT = ("task.lengths=[200]", "task.depths=[0.5]", "task.trials=40")
WINDOW = [{"id": "m", "max_model_len": 4096}]


def asking(server: FakeServer, *overrides: str) -> tuple[str, ...]:
    return (
        *("engine=vllm", f"engine.base_url={server.address}", "model=served", "engine.concurrency=1", *QUIET, *SHORT),
        *overrides,
    )


def slow_server(**behaviour: Any) -> FakeServer:
    return FakeServer(models=WINDOW, counts="/tokenize", pause_s=0.2, **behaviour)


class Rating(FakeServer):
    """Rates whatever it reads."""

    def answer(self, prompt: str) -> str:
        return "8"


def slow_judge() -> FakeServer:
    return Rating(models=WINDOW, pause_s=0.2)


@pytest.mark.slow
def test_answers_that_are_whole_when_a_signal_comes_are_kept_and_counted(tmp_path: Path) -> None:
    server = FakeServer(models=WINDOW, counts="/tokenize", lingers_s=30.0)
    with serving(server):
        process = started(tmp_path, *asking(server), "engine.concurrency=4")
        once(process, lambda: len(server.bodies) >= 4)
        time.sleep(0.2)
        process.send_signal(signal.SIGINT)
        assert ended(process) == (130, f"interrupted: {GOES_ON}")
    (report,) = reports(tmp_path)
    assert (report["counts"]["completed"], report["usage"]["completion_tokens"]) == (4, 16)
    assert kept(tmp_path / "outputs" / "state.db") == 4


@pytest.mark.slow
def test_a_signal_while_the_judge_rates_leaves_a_partial_report(tmp_path: Path) -> None:
    judged = ("judge=llm", "engine@judge.engine=vllm")
    with serving(FakeServer(models=WINDOW, counts="/tokenize")) as server, serving(slow_judge()) as judge:
        process = started(tmp_path, *asking(server, *judged, f"judge.engine.base_url={judge.address}"))
        once(process, lambda: kept(tmp_path / "outputs" / "state.db") >= 43)
        process.send_signal(signal.SIGTERM)
        code, told = ended(process)
    (report,) = reports(tmp_path)
    unjudged = report["judgement"]["n_unjudged"]
    assert code == 143
    assert told == f"terminated: the judge was not asked about {unjudged} of 40 answers; {GOES_ON}"
    assert (report["partial"], report["counts"]["completed"]) == (True, 40)
    assert 0 < unjudged <= 37


@pytest.mark.slow
def test_a_signal_before_anything_is_sent_is_one_line_and_leaves_nothing(tmp_path: Path) -> None:
    # A server that accepts and never answers: detection waits.
    with socket.create_server(("127.0.0.1", 0)) as silent:
        address = f"http://127.0.0.1:{silent.getsockname()[1]}"
        process = started(tmp_path, "engine=vllm", f"engine.base_url={address}", "model=served", *QUIET)
        connection, _ = silent.accept()
        with connection:  # kept open: closed, it would be an answer
            process.send_signal(signal.SIGTERM)
            code, told = ended(process)
    assert (code, told) == (143, "error: terminated; what was answered is kept, the same command goes on\n")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
def test_a_signal_while_another_process_has_the_turn_is_one_line(tmp_path: Path) -> None:
    with serving(slow_server()) as server:
        first = started(tmp_path, *asking(server))
        once(first, lambda: kept(tmp_path / "outputs" / "state.db") >= 1)
        second = started(tmp_path, *asking(server, "reporting.progress=true"))
        assert second.stderr is not None
        assert second.stderr.readline().startswith("waiting: another process")
        second.send_signal(signal.SIGTERM)
        code, told = ended(second)
        assert first.poll() is None
        first.send_signal(signal.SIGTERM)
        assert ended(first)[0] == 143
    assert (code, told) == (143, "error: terminated; what was answered is kept, the same command goes on\n")


@pytest.mark.slow
@BOTH
def test_the_jobs_that_are_left_of_a_sweep_are_not_begun(tmp_path: Path, number: signal.Signals) -> None:
    with serving(slow_server()) as server:
        process = started(tmp_path, *asking(server, "label=a,b,c"))
        once(process, lambda: kept(tmp_path / "outputs" / "state.db") >= 3)
        process.send_signal(number)
        assert ended(process) == (CODES[number], f"{WORDS[number]}: {GOES_ON}")
    assert [(report["label"], report["partial"]) for report in reports(tmp_path)] == [("a", True)]


@pytest.mark.slow
def test_a_second_signal_ends_at_once(tmp_path: Path) -> None:
    with serving(slow_server()) as server:
        process = started(tmp_path, *asking(server, "tracking=mlflow", "reporting.dpi=600"))
        once(process, lambda: kept(tmp_path / "outputs" / "state.db") >= 3)
        process.send_signal(signal.SIGTERM)
        time.sleep(1.2)
        assert process.poll() is None, "the report was written before the second signal came"
        process.send_signal(signal.SIGTERM)
        began = time.monotonic()
        code, told = ended(process)
    assert code == 143
    assert told.endswith("error: terminated twice, ended at once; what was answered is kept\n")
    assert time.monotonic() - began < 2
    assert kept(tmp_path / "outputs" / "state.db") >= 3
