"""New texts of the shortest length, asked at the end of a run whose server was slower from some length on."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from contextcliff.engines.simulated import SimulatedSession
from contextcliff.errors import EngineFault, ExitCode
from contextcliff.execution import signals
from contextcliff.records.generation import Generation
from contextcliff.records.sample import RECHECK, Prompt, Sample
from tests.commands import QUIET, reports
from tests.compositions import built

RUN = ("engine=simulated", "engine.law=flat", "engine.ceiling=1.0", "engine.concurrency=1", "dataset=synthetic", *QUIET)
DESIGN = (*RUN, "task.lengths=[200,400,800,1600]", "task.depths=[0.0,0.5,1.0]")
FIXED = (*DESIGN, "task.trials=6")


def from_800_on(sample: Sample) -> float:
    return 5.0 if sample.context_tokens >= 800 else 1.0


class Asked:
    """The prompts that were sent, by a server that takes `factor` times as long, and refuses new texts after some."""

    def __init__(
        self, monkeypatch: pytest.MonkeyPatch, factor: Callable[[Sample], float] = from_800_on, *, most_new: int = 99
    ) -> None:
        self.samples: list[Sample] = []
        self.prompts: list[str] = []
        self.most_new = most_new
        generate = SimulatedSession.generate

        async def answered(session: SimulatedSession, sample: Sample, prompt: Prompt, *more: Any) -> Generation:
            if sample.control == RECHECK and len(self.new) >= self.most_new:
                raise EngineFault("oom", "no memory")
            self.samples.append(sample)
            self.prompts.append(prompt.user)
            noise = 1.0 + sample.seed % 100 / 1_000
            made = await generate(session, sample, prompt, *more)
            return replace(made, ttft_ms=made.ttft_ms * factor(sample) * noise)

        monkeypatch.setattr(SimulatedSession, "generate", answered)

    @property
    def new(self) -> list[Sample]:
        return [sample for sample in self.samples if sample.control == RECHECK]


def ran(folder: Path, *overrides: str, code: ExitCode = ExitCode.DONE) -> dict[str, Any]:
    invocation = built(*overrides, f"output_dir={folder}")
    assert invocation.action(invocation) is code
    (report,) = reports(folder)
    return report


def warned(report: dict[str, Any]) -> list[str]:
    return [each["name"] for each in report["warnings"]]


@pytest.mark.parametrize("design", [FIXED, (*DESIGN, "task.trials=auto")], ids=["fixed", "search"])
def test_where_the_server_is_slower_new_short_texts_are_asked_once(
    design: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = Asked(monkeypatch)
    first = ran(tmp_path, *design)
    assert (warned(first), first["counts"]["controls"]) == (["latency_canary"], 4)
    assert [sample.context_tokens for sample in asked.new] == [200] * 4
    assert len({prompt[:16] for prompt in asked.prompts[-4:]}) == 4
    n = len(asked.samples)
    for again in ((), ("action=analyze",)):
        assert warned(ran(tmp_path, *design, *again)) == ["latency_canary"]
    assert len(asked.samples) == n


def test_as_many_are_in_flight_as_in_the_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = Asked(monkeypatch)
    ran(tmp_path, *FIXED, "engine.concurrency=7")
    assert len(asked.new) == 7


@pytest.mark.parametrize("factor", [lambda _: 1.0, lambda sample: 1.0 + 4.0 * (sample.context_tokens == 800)])
def test_a_server_that_is_not_slower_from_a_length_on_is_asked_nothing(
    factor: Callable[[Sample], float], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = Asked(monkeypatch, factor)
    assert (warned(ran(tmp_path, *FIXED)), asked.new) == ([], [])


def test_a_server_that_is_slower_at_the_end_too_is_no_warning(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    Asked(monkeypatch, lambda sample: 5.0 if sample.control == RECHECK else from_800_on(sample))
    found = ran(tmp_path, *FIXED)
    assert found["warnings"] == []
    assert "asked at the end, took 5" in found["not_warned"]


def test_new_texts_that_are_not_answered_are_left_out_and_asked_by_the_next_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = Asked(monkeypatch, most_new=2)
    first = ran(tmp_path, *FIXED)
    assert (warned(first), first["counts"]["controls"], first["partial"]) == ([], 2, False)
    assert "no new texts of 1" in first["not_warned"]
    asked.most_new = 99
    n = len(asked.samples)
    assert warned(ran(tmp_path, *FIXED)) == ["latency_canary"]
    assert len(asked.samples) == n + 2


def test_a_signal_while_they_are_asked_stops_the_run_and_the_same_command_asks_the_rest(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = Asked(monkeypatch, lambda sample: from_800_on(sample) * (1.0 if len(asked.new) != 2 else stop()))
    handler = signal.getsignal(signal.SIGINT)
    monkeypatch.setattr(signals, "_state", signals._State())

    def stop() -> float:
        os.kill(os.getpid(), signal.SIGINT)
        return 1.0

    try:
        with signals.job_in_progress():
            first = ran(tmp_path, *FIXED, code=ExitCode.INTERRUPTED)
    finally:
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, handler if number == signal.SIGINT else signal.SIG_DFL)
    n = len(asked.new)
    assert (first["partial"], warned(first), n < 4) == (True, [], True)
    monkeypatch.setattr(signals, "_state", signals._State())
    assert (warned(ran(tmp_path, *FIXED)), len(asked.samples)) == (["latency_canary"], 72 + 4)


def test_a_budget_that_has_no_room_for_them_ends_the_run_as_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = Asked(monkeypatch)
    ran(tmp_path.with_name("whole"), *FIXED, "sampling.max_tokens=8")
    planned = sum(sample.built_tokens + 8 for sample in asked.samples if sample.control is None)
    asked.samples.clear()
    report = ran(tmp_path, *FIXED, "sampling.max_tokens=8", f"budget.tokens={planned}")
    assert (warned(report), report["partial"], len(asked.new) < 4) == ([], False, True)
    assert "no new texts" in report["not_warned"]
