"""Sending: retried, bounded, kept before it is scored, and never blamed on the model."""

from __future__ import annotations

import asyncio
import threading
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from contextcliff.engines.engine import Engine, OnToken, Served
from contextcliff.errors import EngineFault, RunError
from contextcliff.execution import runner as runner_module
from contextcliff.execution.budget import Budget, Meter
from contextcliff.execution.runner import Runner
from contextcliff.execution.schedule import Listed
from contextcliff.execution.store import PlannedSample, Store
from contextcliff.models.model import Price
from contextcliff.models.sampling import Sampling
from contextcliff.records.generation import Generation, Outcome
from contextcliff.records.sample import Prompt, Sample
from contextcliff.text.tokenizers import WordTokenizer
from tests.execution.planned_samples import score_outcomes
from tests.tasks.needles import TEXT, build, niah, said

TASK = niah(lengths=[300], depths=[0.0, 0.5, 1.0], trials=4)
PLANNED = tuple(
    PlannedSample(sample=sample, prompt_sha256=str(i), key=f"key-{i}") for i, sample in enumerate(build(TASK))
)
Behaviour = Callable[[Sample, int], Generation]


@dataclass
class Scripted:
    """A session that behaves as told, by sample and attempt; it counts and notes what is under way."""

    behaviour: Behaviour
    begins: bool = False
    """Whether a first token comes before everything."""
    tokenizer: WordTokenizer = field(default_factory=WordTokenizer)
    served: Served = field(default_factory=Served)
    attempts: Counter[str] = field(default_factory=Counter)
    under_way: int = 0
    most_under_way: int = 0
    tokens: int = 0
    most_tokens: int = 0
    """Of the prompts under way and the longest answers they may have."""

    async def generate(
        self, sample: Sample, prompt: Prompt, sampling: Sampling, on_token: OnToken | None = None
    ) -> Generation:
        assert sample.answers[0] in prompt.user
        self.attempts[sample.sample_id] += 1
        self.under_way += 1
        self.most_under_way = max(self.most_under_way, self.under_way)
        tokens = sample.built_tokens + sampling.generated_tokens
        self.tokens += tokens
        self.most_tokens = max(self.most_tokens, self.tokens)
        try:
            await asyncio.sleep(0.002)
            if self.begins and on_token is not None:
                on_token("The")
            generation = self.behaviour(sample, self.attempts[sample.sample_id])
            return replace(generation, prompt_tokens=sample.built_tokens)  # nothing was cut
        finally:
            self.under_way -= 1
            self.tokens -= tokens


@pytest.fixture(autouse=True)
def _no_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runner_module, "_exponential", lambda _: 0.0)


def no_limit() -> Meter:
    return Meter(Budget(), Price(), sampling=Sampling())


def runner_of(
    session: Scripted, store: Store, *, meter: Meter | None = None, temperature: float = 0.0, **limits: Any
) -> Runner:
    engine = SimpleNamespace(**{"concurrency": 3, "max_retries": 2, "tokens_in_flight": None, **limits})
    return Runner(
        session=session,
        engine=cast("Engine", engine),
        sampling=Sampling(temperature=temperature),
        documents={TEXT.document_id: TEXT},
        store=store,
        run_id="run",
        meter=meter or no_limit(),
    )


def execute(session: Scripted, folder: Path, **how: Any) -> list[Outcome]:
    async def all_of_it(store: Store) -> list[Outcome]:
        outcomes = []
        async for outcome in runner_of(session, store, **how).answers(Listed(PLANNED)):
            if outcome.generation is not None:
                kept = Store(folder)  # another connection sees only what is durable
                key = next(item.key for item in PLANNED if item.sample == outcome.sample)
                assert kept.generation(key) == outcome.generation
            outcomes.append(outcome)
        return outcomes

    with Store(folder) as store:
        return asyncio.run(all_of_it(store))


def right(sample: Sample, _: int) -> Generation:
    return said(sample.answers[0])


def failing(kind: str, *, at: Callable[[Sample, int], bool] = lambda *_: True, **fault: Any) -> Scripted:
    """A session that fails at these samples and attempts, by default at all, and is right at the others."""

    def behaviour(sample: Sample, attempt: int) -> Generation:
        if at(sample, attempt):
            raise EngineFault(kind, "as told", **fault)
        return right(sample, attempt)

    return Scripted(behaviour)


@pytest.mark.parametrize("busy", ["disk", "loop"])
def test_answers_that_are_there_when_the_run_is_cancelled_are_kept_and_paid(busy: str, tmp_path: Path) -> None:
    disk_is_busy, disk_is_ready = threading.Event(), threading.Event()

    class Slow(Store):
        def keep(self, item: PlannedSample, generation: Generation) -> None:
            disk_is_busy.set()
            if busy == "disk":
                disk_is_ready.wait()
            super().keep(item, generation)

    meter = Meter(Budget(tokens=1_000_000), Price(), sampling=Sampling())

    async def cancelled(store: Store) -> None:
        session = Scripted(right)
        runner = runner_of(session, store, concurrency=len(PLANNED), meter=meter)
        task = asyncio.ensure_future(anext(runner.answers(Listed(PLANNED))))
        if busy == "disk":
            await asyncio.to_thread(disk_is_busy.wait)
        else:
            while session.under_way < 2:
                await asyncio.sleep(0)
            time.sleep(0.02)
        task.cancel()
        asyncio.get_running_loop().call_later(0.05, disk_is_ready.set)
        with pytest.raises(asyncio.CancelledError):
            await task

    with Slow(tmp_path) as store:
        asyncio.run(cancelled(store))
        assert not store.missing(PLANNED)
    paid = sum(item.sample.built_tokens + 1 for item in PLANNED)
    assert meter.remaining().tokens == 1_000_000 - paid


def test_tokens_in_flight_are_never_exceeded_except_by_one_request_alone(tmp_path: Path) -> None:
    longest = max(item.sample.built_tokens for item in PLANNED) + Sampling().generated_tokens
    two = Scripted(right)
    assert len(execute(two, tmp_path / "two", concurrency=8, tokens_in_flight=2 * longest)) == len(PLANNED)
    assert two.most_under_way == 2
    assert two.most_tokens <= 2 * longest
    alone = Scripted(right)
    assert len(execute(alone, tmp_path / "alone", concurrency=8, tokens_in_flight=1)) == len(PLANNED)
    assert alone.most_under_way == 1


def test_transport_faults_are_retried_and_counted(tmp_path: Path) -> None:
    outcomes = execute(failing("server_error", at=lambda _, attempt: attempt == 1, retryable=True), tmp_path)
    assert all(outcome.generation is not None for outcome in outcomes)
    with Store(tmp_path) as store:
        assert [fault.kind for _, fault in store.faults("run")] == ["server_error"] * len(PLANNED)


def test_a_fault_that_persists_leaves_its_sample_unscored_and_lowers_no_mean(tmp_path: Path) -> None:
    lost = PLANNED[5].sample
    session = failing("timeout", at=lambda sample, _: sample == lost, retryable=True)
    scored = score_outcomes(TASK, execute(session, tmp_path, max_retries=2))
    assert session.attempts[lost.sample_id] == 3
    assert Counter((item.score, item.failure) for item in scored) == {(1.0, None): 11, (None, "timeout"): 1}


@pytest.mark.parametrize(
    ("temperature", "begins", "attempts", "failure"),
    [(0.0, True, 2, None), (0.7, False, 2, None), (0.7, True, 1, "cut_off")],
)
def test_an_answer_that_broke_off_is_never_replaced_by_another_draw(
    temperature: float, begins: bool, attempts: int, failure: str | None, tmp_path: Path
) -> None:
    broken = PLANNED[5].sample
    session = failing("broken_stream", at=lambda each, attempt: (each, attempt) == (broken, 1), retryable=True)
    session.begins = begins
    scored = score_outcomes(TASK, execute(session, tmp_path, temperature=temperature))
    (score,) = ((each.score, each.failure) for each in scored if each.sample == broken)
    assert (score, session.attempts[broken.sample_id]) == ((None if failure else 1.0, failure), attempts)
    with Store(tmp_path) as store:
        assert store.missing(PLANNED) == []  # nor by another command
        assert [fault.kind for _, fault in store.faults("run")] == ["broken_stream"]


def test_a_fatal_fault_stops_the_run_after_no_more_requests_than_are_under_way(tmp_path: Path) -> None:
    session = failing("unauthorized", fatal=True)
    with pytest.raises(RunError, match="unauthorized: as told"):
        execute(session, tmp_path, concurrency=3)
    assert sum(session.attempts.values()) <= 3


def test_a_failed_request_is_not_repeated_when_the_minutes_are_over(tmp_path: Path) -> None:
    asked_at_s: list[float] = []

    def busy(*_: object) -> Generation:  # every request takes 50 seconds on the clock
        asked_at_s.append(50.0 * len(asked_at_s))
        raise EngineFault("rate_limit", "slow down", retryable=True)

    meter = Meter(Budget(minutes=2), Price(), sampling=Sampling(), clock=lambda: 50.0 * len(asked_at_s))
    outcomes = execute(Scripted(busy), tmp_path, concurrency=1, max_retries=10, meter=meter)
    assert asked_at_s == [0.0, 50.0, 100.0]
    assert [outcome.unscored for outcome in outcomes] == ["rate_limit"]
    assert meter.ran_out


def test_a_server_that_asks_for_patience_gets_it(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    waits: list[float] = []
    sleep = asyncio.sleep

    async def note(seconds: float) -> None:
        if seconds >= 1.0:
            waits.append(seconds)
        await sleep(0)

    monkeypatch.setattr(asyncio, "sleep", note)
    busy = failing("rate_limit", at=lambda _, attempt: attempt == 1, retryable=True, retry_after_s=7.0)
    execute(busy, tmp_path)
    assert waits == [7.0] * len(PLANNED)
