"""How long a search takes beside its own samples sent at once, by the clock of the simulated engine's delays.

    .venv/bin/python benchmarks/search_wall_time.py [CONCURRENCY] [SPECULATION] [SEEDS]

A search has to wait for answers before it knows what to ask next; what it asks ahead fills the time. Waits are not
waited for but added up, so that the figures are those of the schedule and not of this machine. Prints for each law and
number of lengths the ratio of the two times (mean and worst over the seeds) for the samples that the decisions rest on,
and for all that were sent (the mean), the share of samples that were asked in vain, and the processor time that the
search took for each sample beside sending it.
"""

from __future__ import annotations

import asyncio
import selectors
import statistics
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hydra import compose, initialize_config_dir

from contextcliff.actions.action import Invocation, RunState
from contextcliff.actions.prepare import deployment, prepare
from contextcliff.actions.send import search_of
from contextcliff.actions.track import LiveTracking
from contextcliff.analysis.search import Path as SearchPath
from contextcliff.analysis.search import complete_steps, step_key
from contextcliff.composing import conf_dir
from contextcliff.config import build_invocation
from contextcliff.engines.engine import Session
from contextcliff.execution.budget import Budget, Meter
from contextcliff.execution.runner import Runner
from contextcliff.execution.schedule import Listed
from contextcliff.execution.scoring import Scorer, recall
from contextcliff.execution.search_source import SearchSource
from contextcliff.execution.store import PlannedSample, Store

DELAY_MS = 1000
LENGTHS = {3: "512,1024,2048", 7: "256,512,1024,2048,3072,4096,6144"}
LAWS = {
    "flat .98": ("engine.law=flat", "engine.ceiling=0.98"),
    "flat .90": ("engine.law=flat", "engine.ceiling=0.90"),
    "cliff": ("engine.law=cliff", "engine.cliff_tokens=1500"),
    "slope": ("engine.law=slope", "engine.cliff_tokens=6000"),
}


class _Clock:
    """Seconds that were waited for in no time."""

    def __init__(self) -> None:
        self.now = 0.0


class _Selector(selectors.DefaultSelector):
    """Waits for nothing: the clock jumps to the next timer."""

    def __init__(self, clock: _Clock) -> None:
        super().__init__()
        self._clock = clock

    def select(self, timeout: float | None = None) -> Any:
        self._clock.now += max(0.0, timeout or 0.0)
        return super().select(0)


def in_jumps(work: Any) -> tuple[Any, float]:
    """What `work` returns, and the seconds that it waited for."""
    clock = _Clock()
    loop = asyncio.SelectorEventLoop(_Selector(clock))
    loop.time = lambda: clock.now  # type: ignore[method-assign]
    try:
        return loop.run_until_complete(work), clock.now
    finally:
        loop.close()


@dataclass(frozen=True, kw_only=True, slots=True)
class Measured:
    """One search."""

    search_s: float
    at_once_s: float
    """Of the samples that its decisions rest on."""
    all_at_once_s: float
    """Of every sample that it sent."""
    samples: int
    """That its decisions rest on."""
    sent: int
    processor_s: float
    """Of the search, and not of the samples sent at once."""


async def search(invocation: Invocation, folder: Path) -> tuple[RunState, SearchSource]:
    with Store(folder) as store:
        live = LiveTracking(invocation=invocation)
        run = RunState(invocation=invocation, store=store, run_id=invocation.identify().run_id, live=live)
        async with invocation.engine.open(deployment(invocation)) as session:
            prepared = run.prepared = prepare(invocation, own=session.tokenizer, served=session.served)
            run.scorer = Scorer(invocation.task, [item.sample for item in prepared.planned])
            source = search_of(run, prepared, run.scorer, None)
            assert source is not None
            async for _ in _runner(run, session, store).answers(source):
                pass
    return run, source


async def send_at_once(run: RunState, samples: Sequence[PlannedSample], folder: Path) -> None:
    assert run.prepared is not None
    with Store(folder) as store:
        store.begin(run.prepared.run, samples)
        async with run.invocation.engine.open(deployment(run.invocation)) as session:
            async for _ in _runner(run, session, store).answers(Listed(samples)):
                pass


def _runner(run: RunState, session: Session, store: Store) -> Runner:
    invocation = run.invocation
    assert run.prepared is not None
    return Runner(
        session=session,
        engine=invocation.engine,
        sampling=invocation.sampling,
        documents=run.prepared.documents,
        store=store,
        run_id=run.run_id,
        meter=Meter(Budget(), invocation.model.price, sampling=invocation.sampling),
    )


def measure(overrides: tuple[str, ...]) -> Measured:
    """Search, then send what the decisions rest on at once."""
    with initialize_config_dir(str(conf_dir()), version_base="1.3"):
        invocation = build_invocation(compose("config", overrides=list(overrides)), overrides)
    with tempfile.TemporaryDirectory() as name:
        folder, began = Path(name), time.process_time()
        (run, source), search_s = in_jumps(search(invocation, folder / "search"))
        took = time.process_time() - began
        asked, plan = source.asked(), source.path.plan
        with Store(folder / "search") as store:
            outcomes = recall(store, run.run_id, asked)
        assert run.scorer is not None
        path = SearchPath(plan, source.path.rule)
        assert not path.follow(complete_steps([run.scorer.score(each) for each in outcomes], plan))
        own = [item for item in asked if step_key(item.sample) in path.used]
        began = time.process_time()
        _, at_once_s = in_jumps(send_at_once(run, own, folder / "at once"))
        beside = (time.process_time() - began) * len(outcomes) / len(own)
        sent = [item for item, outcome in zip(asked, outcomes, strict=True) if outcome.generation is not None]
        _, all_at_once_s = in_jumps(send_at_once(run, sent, folder / "all at once"))
    return Measured(
        search_s=search_s,
        at_once_s=at_once_s,
        all_at_once_s=all_at_once_s,
        samples=len(own),
        sent=len(sent),
        processor_s=took - beside,
    )


def main() -> None:
    """Measure and print."""
    concurrency, speculation, seeds = (*sys.argv[1:], *("64", "null", "5")[len(sys.argv) - 1 :])
    print(f"concurrency {concurrency}, speculation {speculation}, {seeds} seeds; 1.00 is all samples sent at once")
    print(
        f"{'law':<10} {'lengths':>7} {'samples':>8} {'mean':>6} {'worst':>6} {'of all':>7} {'in vain':>8} "
        f"{'ms a sample':>12}"
    )
    for law, overrides in LAWS.items():
        for count, lengths in LENGTHS.items():
            runs = [
                measure(
                    (
                        *("engine=simulated", "tracking=none", "dataset=synthetic", f"engine.delay_ms={DELAY_MS}"),
                        *(
                            "task.trials=auto",
                            "task.haystacks=fresh",
                            f"task.lengths=[{lengths}]",
                            f"engine.seed={seed}",
                        ),
                        *(f"engine.concurrency={concurrency}", f"engine.speculation={speculation}", *overrides),
                    )
                )
                for seed in range(int(seeds))
            ]
            ratios = [run.search_s / run.at_once_s for run in runs]
            of_all = [run.search_s / run.all_at_once_s for run in runs]
            samples, sent = sum(run.samples for run in runs), sum(run.sent for run in runs)
            print(
                f"{law:<10} {count:>7} {samples / len(runs):>8.0f} {statistics.mean(ratios):>6.2f} {max(ratios):>6.2f} "
                f"{statistics.mean(of_all):>7.2f} "
                f"{(sent - samples) / sent:>8.0%} {1000 * sum(run.processor_s for run in runs) / sent:>12.2f}"
            )


if __name__ == "__main__":
    main()
