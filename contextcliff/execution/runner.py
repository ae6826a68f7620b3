"""Sends samples: so many at once, retried where the transport is to blame, kept at once, as far as the budget goes."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Protocol

from tenacity import AsyncRetrying, RetryCallState, retry_if_exception, wait_random_exponential

from contextcliff.engines.engine import Session
from contextcliff.errors import EngineFault, RunError
from contextcliff.execution.budget import Meter
from contextcliff.execution.health import REFUSALS, Health, way_out
from contextcliff.execution.schedule import FixedSource, PrefixGate, Source
from contextcliff.execution.scoring import has_own_tokenizer, outcome_of
from contextcliff.execution.stopping import until_stopped
from contextcliff.execution.store import Fault, PlannedSample, Store
from contextcliff.models.sampling import Sampling
from contextcliff.records.corpus import Document
from contextcliff.records.generation import OVERFLOW, Generation, Outcome
from contextcliff.records.sample import render
from contextcliff.reporting.progress import progress_of

_FIRST_WAIT_S = 0.5
_LONGEST_WAIT_S = 30.0
_LONGEST_ASKED_WAIT_S = 600.0
_LAST_LOOK_S = 0.05
"""Time in which a run that ends takes the answers that are there."""


class MayRepeat(Protocol):
    """Whether a request that failed may go out again."""

    def __call__(self, *, after_s: float) -> bool:
        """So many seconds from now."""
        ...


def _at_any_time(*, after_s: float) -> bool:  # noqa: ARG001 - there is no limit
    return True


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
    may_repeat: MayRepeat = _at_any_time

    async def execute(
        self, source: Source, *, admits: Callable[[PlannedSample], bool] = lambda _: True
    ) -> AsyncIterator[Outcome]:
        """Yield each sample's outcome as it ends; at most `concurrency` are under way, in the order given.

        Samples that share a prefix wait as `PrefixGate` has it. `source` hears of each outcome before it is yielded.
        `admits` is asked right before a sample is sent, and again after others have ended where it said no; with none
        under way that is the end.

        A generation is in the store before its outcome is yielded. A fault that no prompt can mend (wrong key,
        unknown model) and a long row of failures or refusals end the run with `RunError`; one that persists leaves
        its sample unscored.
        """
        slots = self.session.served.slots
        health = Health(most=self.concurrency if slots is None else min(slots, self.concurrency))
        earlier = {name for name, fault in dict(self.store.faults(self.run_id)).items() if fault.kind in REFUSALS}
        own = has_own_tokenizer(self.store, self.run_id)
        gate, changed = PrefixGate(source, in_slots=slots is not None), asyncio.Event()
        under_way: dict[asyncio.Task[Outcome], PlannedSample] = {}
        ended: set[asyncio.Task[Outcome]] = set()
        try:
            while True:
                changed.clear()
                while len(under_way) < health.limit and (item := gate.next()) is not None:
                    if not (self._has_room(item, under_way.values()) and admits(item)):
                        gate.put_back(item)
                        break
                    attempts = _Attempts(
                        item=item,
                        gate=gate,
                        changed=changed,
                        health=health,
                        refused_before=item.sample.sample_id in earlier,
                    )
                    under_way[asyncio.create_task(self._send(attempts, own=own))] = item
                if not under_way:
                    return
                ended = await _first_ended(under_way, changed)
                outcomes = [(under_way.pop(task), task.result()) for task in ended]
                for item, outcome in outcomes:
                    gate.ended(item, outcome)
                for _, outcome in outcomes:
                    yield outcome
        finally:
            if under_way:  # answers that have arrived are read
                await asyncio.wait(under_way, timeout=_LAST_LOOK_S)
            for task in under_way:
                task.cancel()
            # Those that ended beside a failed one are heard too, or asyncio complains of them at exit.
            await asyncio.gather(*under_way, *ended, return_exceptions=True)
            for task, item in under_way.items():
                if not task.cancelled() and task.exception() is None:
                    gate.ended(item, task.result())

    def _has_room(self, item: PlannedSample, under_way: Collection[PlannedSample]) -> bool:
        """Whether the tokens of a sample fit beside those under way; alone it always goes."""
        if self.tokens_in_flight is None or not under_way:
            return True
        return sum(self._tokens(each) for each in (*under_way, item)) <= self.tokens_in_flight

    def _tokens(self, item: PlannedSample) -> int:
        return item.sample.built_tokens + self.sampling.for_answer(item.sample.answer_tokens).generated_tokens

    async def _send(self, attempts: _Attempts, *, own: bool) -> Outcome:
        planned = attempts.item
        retrying = AsyncRetrying(
            retry=retry_if_exception(_is_retryable),
            stop=self._gives_up,
            wait=_wait,
            reraise=True,
        )
        try:
            generation: Generation = await retrying(self._attempt, attempts)
        except EngineFault as fault:
            if fault.fatal:
                raise RunError(f"{fault}; {way_out(fault.kind)}; nothing that was stored is lost") from fault
            return outcome_of(planned, None, Fault(kind=fault.kind, detail=fault.detail), own=own)
        # In a thread: requests under way are served meanwhile. An answer is kept though its task is cancelled.
        write = asyncio.create_task(asyncio.to_thread(self.store.keep, planned, generation))
        with suppress(asyncio.CancelledError):
            await asyncio.shield(write)
        await write
        return outcome_of(planned, generation, None, own=own)

    def _gives_up(self, state: RetryCallState) -> bool:
        """Whether a failed attempt was the last: none is left, or the next one would go out too late."""
        return state.attempt_number > self.max_retries or not self.may_repeat(after_s=state.upcoming_sleep)

    async def _attempt(self, attempts: _Attempts) -> Generation:
        # The prompt is built for the attempt and dropped after it: memory holds what is under way.
        sample = attempts.item.sample
        try:
            generation = await self.session.generate(
                sample,
                render(sample.recipe, self.documents),
                self.sampling.for_answer(sample.answer_tokens),
                lambda _: attempts.answering(),
            )
        except EngineFault as fault:
            self.store.record_fault(self.run_id, sample.sample_id, Fault(kind=fault.kind, detail=fault.detail))
            attempts.failed(fault)
            raise
        attempts.health.answered()
        return generation


@dataclass(kw_only=True, slots=True)
class _Attempts:
    """The attempts at one sample, and who hears of how they go."""

    item: PlannedSample
    gate: PrefixGate
    changed: asyncio.Event
    """Set where samples that waited for this one may go."""
    health: Health
    refused_before: bool
    """Whether an earlier invocation was refused it."""
    _is_answering: bool = False

    def answering(self) -> None:
        """Some text of the answer is back."""
        if not self._is_answering:
            self._is_answering = True
            self.gate.answering(self.item)
            self.changed.set()

    def failed(self, fault: EngineFault) -> None:
        """An attempt failed. Raises `RunError` where the server seems to be lost."""
        self._is_answering = False
        self.gate.failed(self.item)
        self.changed.set()
        if fault.retryable:
            self.health.failed(fault)
        else:
            self.health.refused(fault, before=self.refused_before)


async def _first_ended(
    under_way: Iterable[asyncio.Task[Outcome]], changed: asyncio.Event
) -> set[asyncio.Task[Outcome]]:
    """Wait until a task has ended or others may go; returns the tasks that have ended, maybe none."""
    change = asyncio.create_task(changed.wait())
    try:
        done, _ = await asyncio.wait([*under_way, change], return_when=asyncio.FIRST_COMPLETED)
    finally:
        change.cancel()
    return {task for task in under_way if task in done}


def _is_retryable(error: BaseException) -> bool:
    """Whether a failed request may be sent again: never where its task was cancelled as the answer came."""
    task = asyncio.current_task()
    return isinstance(error, EngineFault) and error.retryable and not (task is not None and task.cancelling())


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
    ended: Callable[[Outcome], str | None] = lambda _: None,
) -> Ended:
    """Send what is missing, as far as the budget goes; `ended` hears of each outcome, and may say something of it."""
    if not missing:
        return Ended(cut_short=False, faults={})
    total = sum(item.sample.built_tokens for item in missing)
    with progress_of(title, total_tokens=total, total_samples=len(missing), shown=shown) as progress:

        def show(outcome: Outcome) -> None:
            progress.advance(outcome.sample.built_tokens, answer=outcome.text)
            remark = ended(outcome)
            if remark is not None:
                progress.remark(remark)

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
        async for outcome in runner.execute(metered, admits=metered.admits):
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
    _under_way: dict[str, PlannedSample] = field(default_factory=dict)

    def next(self) -> PlannedSample | None:
        return None if self.meter.ran_out else self.source.next()

    def admits(self, item: PlannedSample) -> bool:
        """Set aside what a sample takes, right before it is sent: one that only waits for its prefix holds nothing."""
        if self.meter.ran_out or not self.meter.reserve(item):
            return False
        self._under_way[item.sample.sample_id] = item
        return True

    def ended(self, outcome: Outcome) -> None:
        item = self._under_way.pop(outcome.sample.sample_id)
        self.meter.settle(item, outcome.generation, refused=outcome.unscored == OVERFLOW)
        if outcome.unscored is not None and outcome.generation is None:
            self.faults[item.key] = Fault(kind=outcome.unscored, detail=outcome.detail)
        self.source.ended(outcome)
