"""Sends samples: so many at once, retried where the transport is to blame, kept at once, as far as the budget goes."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from filelock import FileLock, Timeout
from platformdirs import user_cache_path
from tenacity import AsyncRetrying, RetryCallState, retry_if_exception, wait_random_exponential

from contextcliff.engines.engine import Engine, Session
from contextcliff.engines.openai.faults import CONTENT_FILTER, QUOTA, TOO_LITTLE_A_MINUTE, TOOL_CALLS
from contextcliff.errors import EngineFault, RunError, tell
from contextcliff.execution.budget import Meter, answer_tokens
from contextcliff.execution.schedule import PrefixGate, Source
from contextcliff.execution.scoring import has_own_tokenizer, outcome_of
from contextcliff.execution.store import PlannedSample, Store
from contextcliff.models.sampling import Sampling
from contextcliff.records.corpus import Document
from contextcliff.records.generation import CUT_OFF, NO_ROOM, NO_TOKENS, OVERFLOW, Generation, Outcome
from contextcliff.records.sample import render
from contextcliff.seeding import digest_of

_FIRST_WAIT_S = 0.5
_LONGEST_WAIT_S = 30.0
_LONGEST_ASKED_WAIT_S = 600.0
_LAST_LOOK_S = 0.05


@dataclass(kw_only=True, slots=True)
class Runner:
    session: Session
    engine: Engine
    sampling: Sampling
    documents: Mapping[str, Document]
    store: Store
    run_id: str
    meter: Meter
    n_sent: int = 0
    faults: dict[str, EngineFault] = field(default_factory=dict)
    _own_tokenizer: bool = field(init=False)
    _refused_before: frozenset[str] = field(init=False)
    _health: Health = field(init=False)
    _gate: PrefixGate = field(init=False)
    _under_way: dict[asyncio.Task[Outcome], PlannedSample] = field(default_factory=dict)

    async def answers(self, source: Source) -> AsyncIterator[Outcome]:
        """Yield each sample's outcome as it ends, after its generation is stored and `source` has heard of it. Raises
        `RunError` for a fault that no prompt can mend (wrong key) and for a long row of failures or refusals."""
        self._own_tokenizer = has_own_tokenizer(self.store, self.run_id)
        before = dict(self.store.faults(self.run_id))
        self._refused_before = frozenset(name for name, fault in before.items() if fault.kind in REFUSALS)
        slots, most = self.session.served.slots, self.engine.concurrency
        self._health = Health(most=most if slots is None else min(slots, most))
        self._gate = PrefixGate(source, in_slots=slots is not None)
        try:
            while True:
                while (
                    not self.meter.ran_out
                    and len(self._under_way) < self._health.limit
                    and (item := self._gate.next()) is not None
                ):
                    if not (self._has_room(item) and self.meter.reserve(item)):
                        self._gate.put_back(item)
                        break
                    task = asyncio.create_task(self._answer(item))
                    task.add_done_callback(lambda _: self._gate.changed.set())
                    self._under_way[task] = item
                    self.n_sent += 1
                if not self._under_way:
                    return
                await self._gate.changed.wait()
                self._gate.changed.clear()
                for outcome in [self._take(task) for task in tuple(self._under_way) if task.done()]:
                    yield outcome
        finally:
            if self._under_way:  # answers that have arrived are read
                await asyncio.wait(self._under_way, timeout=_LAST_LOOK_S)
            for task in self._under_way:
                task.cancel()
                await asyncio.gather(*self._under_way, return_exceptions=True)
            for task in tuple(self._under_way):
                if not task.cancelled() and task.exception() is None:
                    self._take(task)

    def _has_room(self, item: PlannedSample) -> bool:
        samples = [each.sample for each in (*self._under_way.values(), item)]
        tokens = sum(each.built_tokens for each in samples) + answer_tokens(samples, self.sampling)
        most = self.engine.tokens_in_flight
        return most is None or len(samples) == 1 or tokens <= most  # alone it always goes

    def _take(self, task: asyncio.Task[Outcome]) -> Outcome:
        outcome, item = task.result(), self._under_way.pop(task)
        self.meter.settle(item, outcome.generation, refused=outcome.unscored == OVERFLOW)
        if outcome.unscored is not None and outcome.generation is None:
            self.faults[item.key] = EngineFault(outcome.unscored, outcome.detail)
        self._gate.ended(item, outcome)
        return outcome

    async def _answer(self, item: PlannedSample) -> Outcome:
        retrying = AsyncRetrying(retry=retry_if_exception(_is_retryable), stop=self._gives_up, wait=_wait, reraise=True)
        try:
            generation: Generation = await retrying(self._attempt, item)
        except EngineFault as fault:
            if fault.fatal:
                raise RunError(f"{fault}; {way_out(fault.kind)}; nothing that was stored is lost") from fault
            return outcome_of(item, None, fault, own=self._own_tokenizer)
        # In a thread: requests under way are served meanwhile. An answer is kept though its task is cancelled.
        write = asyncio.create_task(asyncio.to_thread(self.store.keep, item, generation))
        with suppress(asyncio.CancelledError):
            await asyncio.shield(write)
        await write
        return outcome_of(item, generation, None, own=self._own_tokenizer)

    def _gives_up(self, state: RetryCallState) -> bool:
        is_last = state.attempt_number > self.engine.max_retries
        return is_last or not self.meter.may_repeat(after_s=state.upcoming_sleep)

    async def _attempt(self, item: PlannedSample) -> Generation:
        # The prompt is built for the attempt and dropped after it: memory holds what is under way.
        sample = item.sample
        prompt, sampling = render(sample.recipe, self.documents), self.sampling.for_answer(sample.answer_tokens)
        started_s, first_s = time.perf_counter(), None

        def heard(_: str) -> None:
            nonlocal first_s
            first_s = first_s or time.perf_counter()
            self._gate.answering(item)

        try:
            generation = await self.session.generate(sample, prompt, sampling, heard)
        except EngineFault as fault:
            self.store.record_fault(self.run_id, sample.sample_id, fault)
            self._gate.failed(item)
            self._health.failed(fault, before=sample.sample_id in self._refused_before)
            if first_s is None or not sampling.draws_anew:
                raise
            # Long answers break off more often: the next draw would be a shorter one, and perhaps a better one.
            return Generation(
                text="",
                finish_reason=CUT_OFF,
                prompt_tokens=sample.built_tokens,
                completion_tokens=0,
                cached_tokens=None,
                server_counted=False,
                ttft_ms=(first_s - started_s) * 1000,
                latency_ms=(time.perf_counter() - started_s) * 1000,
            )
        self._health.answered()
        return generation


def _is_retryable(error: BaseException) -> bool:
    """Whether a failed request may be sent again: never where its task was cancelled as the answer came."""
    task = asyncio.current_task()
    return isinstance(error, EngineFault) and error.retryable and not (task is not None and task.cancelling())


_exponential: Callable[[RetryCallState], float] = wait_random_exponential(multiplier=_FIRST_WAIT_S, max=_LONGEST_WAIT_S)


def _wait(state: RetryCallState) -> float:
    fault = state.outcome.exception() if state.outcome is not None else None
    if isinstance(fault, EngineFault) and fault.retry_after_s is not None:
        return min(_LONGEST_ASKED_WAIT_S, fault.retry_after_s)
    return _exponential(state)


_REMEDIES: Mapping[str, str] = {
    "timeout": "raise engine.timeout_s, or ask for shorter prompts",
    "connect": "is the server up, and is engine.base_url its address?",
    "broken_stream": "look at the server's log, and at what stands between that may cut answers off",
    "aborted": "look at the server's log: its engine gave answers up",
    NO_TOKENS: "look at the server's log, and whether its window is as long as it says",
    NO_ROOM: "ask for shorter prompts, or start the server with a longer window",
    "rate_limit": "lower engine.concurrency, or set engine.requests_per_minute",
    "server_error": "look at the server's log and its memory, or ask for shorter prompts",
    "oom": "give the server more memory, or ask for shorter prompts",
    "overflow": "ask for shorter prompts, or start the server with a longer window",
    "truncated": "ask for shorter prompts, or start the server with a longer context",
    "too_large": "lower sampling.max_tokens",
    "bad_request": "look at the server's log, and at what is sent beside the prompt: model.extra_body, sampling "
    "(engine.sampler_names=null sends the temperature alone)",
    "unauthorized": "set the right key, and name its variable with engine.api_key_env",
    "forbidden": "may this key use the model?",
    "not_found": "does the server have model.name, and is engine.base_url right?",
    "no_bound": "name the field that it bounds an answer by with engine.max_tokens_name, or lower sampling.max_tokens",
    QUOTA: "add credit or raise the limit at the provider, or lower sampling.max_tokens; the same command goes on",
    TOO_LITTLE_A_MINUTE: "ask for shorter prompts (task.lengths), or have the provider raise the limit",
    TOOL_CALLS: "turn tools off on the server: it answered by tool calls",
    CONTENT_FILTER: "take other texts (dataset.path), or a provider that lets these pass",
}


def way_out(kind: str) -> str:
    return _REMEDIES.get(kind, "look at the server's log")


FAILURES_IN_A_ROW = 25
"""At a failure rate of 30%, so many in a row come once in 10¹³ attempts: chance opens no breaker."""
REFUSALS_IN_A_ROW = 25
"""Prompts on one document come together, and a filter refuses them together: a row has to be longer than that."""
REFUSALS = ("bad_request", CONTENT_FILTER)
"""Kinds that are one prompt's fault unless they come again and again."""


class Health:
    """Adapts the number of requests in flight and opens the breaker.

    Additive increase, multiplicative decrease (V. Jacobson, SIGCOMM 1988): a 429 halves the limit once for all requests
    that were in flight together, and each answer raises it by a share."""

    def __init__(self, *, most: int) -> None:
        self._most = most
        self._limit = float(most)
        self._answers_since_cut = 0
        self._failures = 0
        self._refusals = 0

    @property
    def limit(self) -> int:
        return int(self._limit)

    def answered(self) -> None:
        self._refusals = 0
        self._alive()

    def failed(self, fault: EngineFault, *, before: bool = False) -> None:
        """Count a failure. Raises `RunError` after too many in a row.

        What can't be retried was refused, by a server that is there. Prompts that are too long count in no row, nor do
        those that an earlier invocation was refused `before`: a run that ended well with them ends well again."""
        if not fault.retryable:
            self._alive()
            self._refusals += fault.kind in REFUSALS and not before
            if self._refusals >= REFUSALS_IN_A_ROW:
                raise RunError(
                    f"{REFUSALS_IN_A_ROW} requests were refused and none was answered between them, the last with "
                    f"{fault}; {way_out(fault.kind)}; what was answered is kept, and action=analyze reports it"
                )
            return
        self._failures += 1
        if fault.kind == "rate_limit" and (self._answers_since_cut > 0 or self._limit == self._most):
            self._limit = max(1.0, self._limit / 2.0)
            self._answers_since_cut = 0
        if self._failures >= FAILURES_IN_A_ROW:
            raise RunError(
                # Requests in flight together fail past the limit together; all tell of the row that opened it.
                f"{FAILURES_IN_A_ROW} requests failed in a row, the last with {fault}; what was answered is kept: "
                "when the server is well again, the same command goes on"
            )

    def _alive(self) -> None:
        self._failures = 0
        self._answers_since_cut += 1
        self._limit = min(float(self._most), self._limit + 1.0 / self._limit)


@contextmanager
def in_turn(output_dir: Path, *coordinates: object, announce: bool) -> Iterator[None]:
    """Hold the turn for what `coordinates` name in a store: two runs of one schedule would pay for every prompt twice.
    The lock lies in the user's cache folder: there is no output folder before the first answer."""
    name = digest_of(str(output_dir.resolve()), *coordinates)[:32]
    folder = user_cache_path("contextcliff")
    lock = FileLock(folder / f"{name}.lock")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        lock.acquire(timeout=0)
    except Timeout:
        if announce:
            tell("waiting: another process asks this model the same; its answers will be used")
        lock.acquire()
    except OSError as error:
        raise RunError(f"{folder}: can't be written ({error.strerror}); name another with XDG_CACHE_HOME") from error
    try:
        yield
    finally:
        lock.release()
