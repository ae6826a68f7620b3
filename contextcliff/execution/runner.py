"""Sends the schedule: so many at once, retried where the transport is to blame, kept before it is scored."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Protocol

from tenacity import AsyncRetrying, RetryCallState, retry_if_exception, stop_after_attempt, wait_random_exponential

from contextcliff.engines.engine import Session
from contextcliff.errors import EngineFault, RunError
from contextcliff.execution.budget import Meter
from contextcliff.execution.health import REFUSALS, Health
from contextcliff.execution.schedule import FixedSource, PrefixGate, Source
from contextcliff.execution.stopping import until_stopped
from contextcliff.execution.store import Fault, PlannedSample, Store
from contextcliff.models.sampling import Sampling
from contextcliff.records.corpus import Document
from contextcliff.records.generation import Generation, Outcome
from contextcliff.records.sample import Sample, render
from contextcliff.reporting.progress import progress_bar

_FIRST_WAIT_S = 0.5
_LONGEST_WAIT_S = 30.0
_LONGEST_ASKED_WAIT_S = 600.0


class Listener(Protocol):
    """Hears what is written while it is written."""

    def began(self, sample: Sample) -> None:
        """A request goes out; for the same sample again where an earlier one broke off, whose words are void."""
        ...

    def wrote(self, sample: Sample, piece: str) -> None:
        """Some more words."""
        ...


@dataclass(frozen=True, kw_only=True, slots=True)
class Runner:
    """All that sending one sample takes."""

    session: Session
    sampling: Sampling
    documents: Mapping[str, Document]
    store: Store
    run_id: str
    concurrency: int
    max_retries: int
    tokens_in_flight: int | None = None
    """Most tokens, prompts and answers together, of the requests under way; None: no limit. One request always goes."""
    listener: Listener | None = None

    async def execute(self, source: Source) -> AsyncIterator[Outcome]:
        """Yield each sample's outcome as it ends; at most `concurrency` are under way, in the order given.

        Samples that share a prefix wait as `PrefixGate` has it. `source` hears of each outcome before it is yielded.

        A generation is in the store before its outcome is yielded. A fault that no prompt can mend (wrong key,
        unknown model) and a long row of failures or refusals end the run with `RunError`; one that persists leaves
        its sample unscored.
        """
        health = Health(most=self.concurrency)
        earlier = {name for name, fault in self.store.last_faults(self.run_id).items() if fault.kind in REFUSALS}
        gate, answering = PrefixGate(source), asyncio.Event()
        under_way: dict[asyncio.Task[Outcome], PlannedSample] = {}
        ended: set[asyncio.Task[Outcome]] = set()

        def first_token(item: PlannedSample) -> None:
            gate.answering(item)
            answering.set()

        try:
            while True:
                answering.clear()
                while len(under_way) < health.limit and (item := gate.next()) is not None:
                    if under_way and not self._has_room(item, under_way.values()):
                        gate.put_back(item)
                        break
                    sending = self._send(
                        item, health, partial(first_token, item), refused_before=item.sample.sample_id in earlier
                    )
                    under_way[asyncio.create_task(sending)] = item
                if not under_way:
                    return
                ended = await _first_ended(under_way, answering)
                outcomes = [(under_way.pop(task), task.result()) for task in ended]
                for item, outcome in outcomes:
                    gate.ended(item, outcome)
                for _, outcome in outcomes:
                    yield outcome
        finally:
            for task in under_way:
                task.cancel()
            # Those that ended beside a failed one are heard too, or asyncio complains of them at exit.
            await asyncio.gather(*under_way, *ended, return_exceptions=True)

    def _has_room(self, item: PlannedSample, under_way: Iterable[PlannedSample]) -> bool:
        """Whether the tokens of a sample fit beside those under way."""
        if self.tokens_in_flight is None:
            return True
        return sum(self._tokens(each) for each in (*under_way, item)) <= self.tokens_in_flight

    def _tokens(self, item: PlannedSample) -> int:
        return item.sample.built_tokens + self.sampling.for_answer(item.sample.answer_tokens).generated_tokens

    async def _send(
        self, planned: PlannedSample, health: Health, first_token: Callable[[], None], *, refused_before: bool
    ) -> Outcome:
        sample = planned.sample
        retrying = AsyncRetrying(
            retry=retry_if_exception(_is_retryable),
            stop=stop_after_attempt(1 + self.max_retries),
            wait=_wait,
            reraise=True,
        )
        try:
            generation: Generation = await retrying(
                self._attempt, planned, health, first_token, refused_before=refused_before
            )
        except EngineFault as fault:
            if fault.fatal:
                raise RunError(f"{fault}; nothing that was stored is lost") from fault
            return Outcome(
                sample=sample,
                prompt_sha256=planned.prompt_sha256,
                generation=None,
                unscored=fault.kind,
                detail=fault.detail,
            )
        self.store.keep(planned, generation)
        return Outcome(sample=sample, prompt_sha256=planned.prompt_sha256, generation=generation)

    async def _attempt(
        self, planned: PlannedSample, health: Health, first_token: Callable[[], None], *, refused_before: bool
    ) -> Generation:
        # The prompt is built for the attempt and dropped after it: memory holds what is under way.
        sample, listener = planned.sample, self.listener
        if listener is not None:
            listener.began(sample)
        waiting = True

        def on_token(text: str) -> None:
            nonlocal waiting
            if waiting:
                waiting = False
                first_token()
            if listener is not None:
                listener.wrote(sample, text)

        try:
            generation = await self.session.generate(
                sample,
                render(sample.recipe, self.documents),
                self.sampling.for_answer(sample.answer_tokens),
                on_token,
            )
        except EngineFault as fault:
            self.store.record_fault(self.run_id, planned.sample.sample_id, Fault(kind=fault.kind, detail=fault.detail))
            if fault.retryable:
                health.failed(fault)
            else:
                health.refused(fault, before=refused_before)
            raise
        health.answered()
        return generation


async def _first_ended(
    under_way: Iterable[asyncio.Task[Outcome]], answering: asyncio.Event
) -> set[asyncio.Task[Outcome]]:
    """Wait until a task has ended or a first token came; returns the tasks that have ended, maybe none."""
    token = asyncio.create_task(answering.wait())
    try:
        done, _ = await asyncio.wait([*under_way, token], return_when=asyncio.FIRST_COMPLETED)
    finally:
        token.cancel()
    return {task for task in under_way if task in done}


def _is_retryable(error: BaseException) -> bool:
    return isinstance(error, EngineFault) and error.retryable


_exponential: Callable[[RetryCallState], float] = wait_random_exponential(multiplier=_FIRST_WAIT_S, max=_LONGEST_WAIT_S)


def _wait(state: RetryCallState) -> float:
    """Back off exponentially with jitter, or as long as the server asks."""
    fault = state.outcome.exception() if state.outcome is not None else None
    if isinstance(fault, EngineFault) and fault.retry_after_s is not None:
        return min(_LONGEST_ASKED_WAIT_S, fault.retry_after_s)
    return _exponential(state)


@dataclass(frozen=True, kw_only=True, slots=True)
class Ended:
    """How sending ended: whether a signal cut it short, and by key why samples have no answer."""

    cut_short: bool
    faults: Mapping[str, Fault]


async def send_listed(
    runner: Runner,
    missing: Sequence[PlannedSample],
    meter: Meter,
    *,
    title: str,
    shown: bool,
    ended: Callable[[Outcome], None] | None = None,
) -> Ended:
    """Send what is missing, as far as the budget goes, and tell `ended` of each outcome."""
    if not missing:
        return Ended(cut_short=False, faults={})
    total = sum(item.sample.built_tokens for item in missing)
    with progress_bar(title, total_tokens=total, total_samples=len(missing), shown=shown) as advance:

        def show(outcome: Outcome) -> None:
            advance(outcome.sample.built_tokens)
            if ended is not None:
                ended(outcome)

        return await send_all(runner, FixedSource(missing), meter, ended=show)


async def send_all(
    runner: Runner,
    source: Source,
    meter: Meter,
    *,
    ended: Callable[[Outcome], None],
) -> Ended:
    """Send what a source gives, as far as the budget goes, and tell `ended` of each outcome."""
    metered = _Metered(source=source, meter=meter)

    async def send() -> None:
        async for outcome in runner.execute(metered):
            ended(outcome)

    cut_short = await until_stopped(send())
    return Ended(cut_short=cut_short, faults=metered.faults)


@dataclass(kw_only=True, slots=True)
class _Metered:
    """A source as far as each sample of it can still be paid at its worst."""

    source: Source
    meter: Meter
    faults: dict[str, Fault] = field(default_factory=dict)
    """By key, why samples have no answer."""
    _handed_on: dict[str, PlannedSample] = field(default_factory=dict)

    def next(self) -> PlannedSample | None:
        item = None if self.meter.ran_out else self.source.next()
        if item is None or not self.meter.reserve(item):
            return None
        self._handed_on[item.sample.sample_id] = item
        return item

    def ended(self, outcome: Outcome) -> None:
        item = self._handed_on.pop(outcome.sample.sample_id)
        self.meter.settle(item, outcome.generation)
        if outcome.unscored is not None:
            self.faults[item.key] = Fault(kind=outcome.unscored, detail=outcome.detail)
        self.source.ended(outcome)
