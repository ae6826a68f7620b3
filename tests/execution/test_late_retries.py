"""A request that failed goes out again only while there is time."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from contextcliff.engines.engine import OnToken, Served
from contextcliff.errors import EngineFault
from contextcliff.execution import runner as runner_module
from contextcliff.execution.budget import Budget, Meter
from contextcliff.execution.runner import Runner, send_all
from contextcliff.execution.schedule import FixedSource
from contextcliff.execution.store import PlannedSample, Store
from contextcliff.models.model import Price
from contextcliff.models.sampling import Sampling
from contextcliff.records.generation import Generation, Outcome
from contextcliff.records.sample import Prompt, Sample
from contextcliff.text.tokenizers import WordTokenizer
from tests.tasks.needles import TEXT, build, niah

PLANNED = [
    PlannedSample(sample=sample, prompt_sha256=str(i), key=str(i))
    for i, sample in enumerate(build(niah(lengths=[300], depths=[0.0, 1.0], trials=1)))
]


@dataclass
class Refusing:
    """A server that is too busy; every request takes it 50 seconds on the clock."""

    now_s: float = 0.0
    asked_at_s: list[float] = field(default_factory=list)
    tokenizer: WordTokenizer = field(default_factory=WordTokenizer)
    served: Served = field(default_factory=Served)

    async def generate(
        self,
        sample: Sample,
        prompt: Prompt,
        sampling: Sampling,
        on_token: OnToken | None = None,
    ) -> Generation:
        self.asked_at_s.append(self.now_s)
        self.now_s += 50.0
        raise EngineFault("rate_limit", "slow down", retryable=True)


def test_a_failed_request_is_not_repeated_when_the_minutes_are_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(runner_module, "_exponential", lambda _: 0.0)
    session, outcomes = Refusing(), list[Outcome]()
    meter = Meter(Budget(minutes=2), Price(), sampling=Sampling(), clock=lambda: session.now_s)
    with Store(tmp_path) as store:
        runner = Runner(
            session=session,
            sampling=Sampling(),
            documents={TEXT.document_id: TEXT},
            store=store,
            run_id="run",
            concurrency=1,
            max_retries=10,
            may_repeat=meter.may_repeat,
        )
        asyncio.run(send_all(runner, FixedSource(PLANNED), meter, ended=outcomes.append))
    assert session.asked_at_s == [0.0, 50.0, 100.0]
    assert [outcome.unscored for outcome in outcomes] == ["rate_limit"]
    assert meter.ran_out
