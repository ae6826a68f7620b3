"""A whole run: what it leaves and refuses, what a signal or a failing server leaves of it, and that it scores each
answer once."""

from __future__ import annotations

import signal
import socket
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from contextcliff.errors import ExitCode
from contextcliff.tasks.needles.niah import Niah
from contextcliff.tasks.questions.qa import Qa
from contextcliff.tasks.task import Task
from tests.commands import QUIET, SIMULATED, contextcliff, ended, kept, once, reports, samples, started
from tests.compositions import built
from tests.engines.fake_server import FakeServer, serving


def test_analyze_without_a_run_says_so(tmp_path: Path) -> None:
    done = contextcliff(*SIMULATED, "action=analyze", cwd=tmp_path)
    assert done.returncode == 2
    assert done.stderr.startswith("error: action=analyze: outputs/state.db holds no run of this configuration (niah-")
    assert list(tmp_path.iterdir()) == []


# Long prompts and many of them, so that there is a middle to be interrupted in, also on a busy machine.
LONG = (
    *(*SIMULATED, "engine.concurrency=1", "dataset=synthetic", "model=qwen"),
    *("task.lengths=[16000,30000]", "task.trials=10", "task.haystacks=1"),
)
ALL = 220

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
ERRORS: dict[str, tuple[int, object]] = {
    "refused": (400, {"error": {"message": "this is not to my liking"}}),
    "oom": (500, {"error": {"message": "CUDA out of memory. Tried to allocate 2.00 GiB"}}),
}


def asking(server: FakeServer, *overrides: str) -> tuple[str, ...]:
    return (
        *("engine=vllm", f"engine.base_url={server.address}", "model=served", "engine.concurrency=1", *QUIET, *SHORT),
        *overrides,
    )


def served(**behaviour: Any) -> FakeServer:
    return FakeServer(models=WINDOW, counts="/tokenize", errors=ERRORS, **behaviour)


class Rating(FakeServer):
    """Rates whatever it reads."""

    def answer(self, prompt: str) -> str:
        return "8"


@pytest.mark.slow
def test_answers_that_are_whole_when_a_signal_comes_are_kept_and_counted(tmp_path: Path) -> None:
    with serving(served(lingers_s=30.0)) as server:
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
    with serving(served()) as server, serving(Rating(models=WINDOW, pause_s=0.2)) as judge:
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
    with serving(served(pause_s=0.2)) as server:
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
    with serving(served(pause_s=0.2)) as server:
        process = started(tmp_path, *asking(server, "label=a,b,c"))
        once(process, lambda: kept(tmp_path / "outputs" / "state.db") >= 3)
        process.send_signal(number)
        assert ended(process) == (CODES[number], f"{WORDS[number]}: {GOES_ON}")
    assert [(report["label"], report["partial"]) for report in reports(tmp_path)] == [("a", True)]


@pytest.mark.slow
def test_a_second_signal_ends_at_once(tmp_path: Path) -> None:
    with serving(served(pause_s=0.2)) as server:
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


JUDGED = ("judge=llm", "engine@judge.engine=simulated", "model@judge.model=smollm2")
FEW = ("task.lengths=[300,600]", "task.depths=[0.2,0.8]", "task.trials=2", "reporting.dpi=50")


def run(folder: Path, *overrides: str) -> ExitCode:
    invocation = built(*SIMULATED, f"output_dir={folder}", *overrides)
    return invocation.action(invocation)


def counting(monkeypatch: pytest.MonkeyPatch, task: type[Task]) -> Counter[str]:
    """How often each sample is scored from here on."""
    score, counts = task.score, Counter[str]()

    def counted(self: Any, sample: Any, generation: Any, context: Any) -> Any:
        counts[sample.sample_id] += 1
        return score(self, sample, generation, context)

    monkeypatch.setattr(task, "score", counted)
    return counts


QUESTIONS = ("task=qa", "task.pilot=2", "task.samples_per_bin=8", "task.repeats=1", "analysis.bins=3")


@pytest.mark.parametrize(("task", "overrides"), [(Niah, (*FEW, "task.controls=true", *JUDGED)), (Qa, QUESTIONS)])
def test_an_answer_is_scored_once_in_a_run_and_once_in_an_analysis(
    task: type[Task], overrides: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for action in ("run", "analyze"):
        with monkeypatch.context() as patch:
            counts = counting(patch, task)
            assert run(tmp_path, *overrides, f"action={action}") is ExitCode.DONE
        assert len(counts) >= 8
        assert set(counts.values()) == {1}


def requests_to(server: FakeServer, *overrides: str) -> tuple[str, ...]:
    return asking(server, "task.depths=[0,0.5,1]", "task.trials=2", "engine.max_retries=0", *overrides)


@pytest.mark.slow
def test_an_answer_that_the_filter_stopped_is_unscored_and_paid_for(tmp_path: Path) -> None:
    with serving(served(finishes=lambda number: "content_filter" if number == 3 else "stop")) as server:
        assert contextcliff(*requests_to(server), cwd=tmp_path).returncode == 0
        seen = len(server.bodies)
        assert contextcliff(*requests_to(server), cwd=tmp_path).returncode == 0
        assert len(server.bodies) == seen == 6
    (report,) = reports(tmp_path)
    assert (report["mean"], report["counts"]["completed"], report["counts"]["unscored"]) == (1.0, 5, 1)
    (line,) = [line for line in samples(tmp_path) if line["score"] is None]
    assert (line["failure"], line["finish_reason"]) == ("content_filter", "content_filter")
    assert line["completion_tokens"] == 4
    assert report["usage"]["completion_tokens"] == 24


@pytest.mark.slow
def test_refusals_in_a_row_end_the_run_and_more_in_another_invocation_do_not(tmp_path: Path) -> None:
    many = ("task.trials=20",)
    with serving(served(fault=lambda number: "refused" if number > 10 else None)) as server:
        done = contextcliff(*requests_to(server, *many), cwd=tmp_path)
        assert (done.returncode, len(server.bodies)) == (1, 35)
        assert done.stderr.startswith(
            "error: 25 requests were refused and none was answered between them, the last with"
        )
        assert "this is not to my liking" in done.stderr
        assert done.stderr.count("\n") == 1
        # Those that were refused before are their own fault by now; the rest are answered.
        server.fault = lambda number: "refused" if number <= 35 + 25 else None
        again = contextcliff(*requests_to(server, *many), cwd=tmp_path)
        assert (again.returncode, again.stderr) == (0, "")
    (report,) = reports(tmp_path)
    assert (report["counts"]["completed"], report["counts"]["unscored"]) == (35, 25)
    assert report["counts"]["errors"] == {"bad_request": 50}


@pytest.mark.slow
def test_a_small_run_without_an_answer_says_the_fault_how_often_and_what_to_do(tmp_path: Path) -> None:
    with serving(served(fault=lambda _: "oom")) as server:
        done = contextcliff(*requests_to(server), cwd=tmp_path)
    assert (done.returncode, list(tmp_path.iterdir())) == (1, [])
    assert done.stderr == (
        "error: none of 6 samples was answered (server_error 6): Error code: 500 - CUDA out of memory. Tried to "
        "allocate 2.00 GiB; look at the server's log and its memory, or ask for shorter prompts; the same command goes "
        "on\n"
    )
