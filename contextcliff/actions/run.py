"""Action `run`: build the samples, send what is not stored yet, conclude."""

from __future__ import annotations

import asyncio
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from typing import Literal

from contextcliff.actions.action import Identity, Invocation
from contextcliff.actions.asking_judge import ask_judge, check_judge, worst_of_judge
from contextcliff.actions.embedding_stage import check_embedder, embed
from contextcliff.actions.finish_run import finish_run, require_an_answer
from contextcliff.actions.impossible_cap import impossible_cap
from contextcliff.actions.live_run import watched
from contextcliff.actions.naming import require_the_same, settled
from contextcliff.actions.pilot_stage import after_pilot, first_stage, has_pilot
from contextcliff.actions.preparation import deployment, prepare, stored_before
from contextcliff.actions.sending import send_all
from contextcliff.engines.engine import Deployment, ServerEngine
from contextcliff.errors import ExitCode, RunError
from contextcliff.execution.budget import Budget, Cost, Meter
from contextcliff.execution.judge import Judge
from contextcliff.execution.outcomes import outcome_of
from contextcliff.execution.runner import Runner
from contextcliff.execution.stopping import stop_code
from contextcliff.execution.store import Fault, Store, refuse_taken_label
from contextcliff.execution.turns import in_turn
from contextcliff.models.price import dollars
from contextcliff.records.corpus import Document
from contextcliff.records.generation import Outcome
from contextcliff.settings import settings

Stop = Literal["interrupted", "terminated", "out of budget", "declined"]


@dataclass(frozen=True, kw_only=True, slots=True)
class _Ending:
    code: ExitCode
    told: str


_GOES_ON = "what was answered is kept, and the same command goes on"
_STOPS: Mapping[Stop, _Ending] = {
    "interrupted": _Ending(code=ExitCode.INTERRUPTED, told=_GOES_ON),
    "terminated": _Ending(code=ExitCode.TERMINATED, told=_GOES_ON),
    "out of budget": _Ending(
        code=ExitCode.BUDGET_RAN_OUT, told="what was answered is kept; the same command with a new budget goes on"
    ),
    "declined": _Ending(code=ExitCode.DONE, told="nothing was sent"),
}


@dataclass(frozen=True, kw_only=True, slots=True)
class _Sent:
    reused: int
    stop: Stop | None
    left: Budget
    documents: Mapping[str, Document]
    outcomes: tuple[Outcome, ...] = ()
    """Of this invocation, where nothing of it is stored."""
    unrated: str = ""
    """How many answers the judge was not asked about, where it was stopped."""


@settings
class Run:
    """Executes the task. A generation that is stored is never asked for again."""

    def __call__(self, invocation: Invocation) -> ExitCode:
        """Return `INTERRUPTED`, `TERMINATED` or `BUDGET_RAN_OUT` with a partial report; what was answered is kept.

        Raises `OverBudgetError` before anything is sent.
        """
        asked = invocation
        invocation.identify()
        deployment(invocation)
        if isinstance(invocation.engine, ServerEngine):
            invocation.engine.check()
        if invocation.judge is not None:
            check_judge(invocation.judge, invocation.budget)
        with Store(invocation.output_dir) as store:
            invocation = settled(asked, store)
            identity, wanted = invocation.identify(), deployment(invocation)
            refuse_taken_label(store, label=invocation.label, fingerprint=identity.fingerprint)
            with (
                in_turn(
                    invocation.output_dir, identity.family, invocation.task.name, told=invocation.reporting.progress
                ),
                _timed(store, identity.run_id),
            ):
                if invocation is not asked:
                    require_the_same(asked, invocation)
                sent = asyncio.run(_send(invocation, identity, wanted, store))
                sent = _after_sending(invocation, identity, store, sent)
            begun = store.run(identity.run_id) is not None
            if sent.stop is not None:
                sys.stderr.write(f"{sent.stop}: {sent.unrated}{_STOPS[sent.stop].told}\n")
                if not begun or sent.stop == "declined":
                    return _STOPS[sent.stop].code
            elif not begun:
                require_an_answer(sent.outcomes)
            finish_run(
                invocation,
                identity,
                store,
                reused=sent.reused,
                documents=sent.documents,
                stopped=sent.stop is not None,
            )
        return ExitCode.DONE if sent.stop is None else _STOPS[sent.stop].code


@contextmanager
def _timed(store: Store, run_id: str) -> Iterator[None]:
    """Add the time spent to the run's, however it ends."""
    started = time.monotonic()
    try:
        yield
    except BaseException:
        with suppress(RunError):  # the store itself may be what failed
            store.add_wall_time(run_id, time.monotonic() - started)
        raise
    store.add_wall_time(run_id, time.monotonic() - started)


def _after_sending(invocation: Invocation, identity: Identity, store: Store, sent: _Sent) -> _Sent:
    """Have the answers judged and their sentences embedded, where that is asked for and nothing stopped the run."""
    if store.run(identity.run_id) is None:
        return sent
    if sent.stop is None and invocation.judge is not None:
        sent = _judged(invocation.judge, invocation, identity, store, sent)
    embedder = invocation.embedder
    if sent.stop is None and embedder is not None and embed(embedder, invocation, identity, store):
        sent = replace(sent, stop=_signalled())
    return sent


def _judged(judge: Judge, invocation: Invocation, identity: Identity, store: Store, sent: _Sent) -> _Sent:
    try:
        judged = asyncio.run(ask_judge(judge, invocation, identity, store, sent.left))
    except KeyboardInterrupt:  # before there was a request to cancel
        return replace(sent, stop=_signalled())
    stop: Stop | None = _signalled() if judged.cut_short else "out of budget" if judged.ran_out else None
    unrated = f"the judge was not asked about {judged.unrated:,} of {judged.answers:,} answers; "
    return replace(sent, stop=stop, unrated=unrated if stop is not None else "")


def _signalled() -> Stop:
    return "terminated" if stop_code() is ExitCode.TERMINATED else "interrupted"


async def _send(invocation: Invocation, identity: Identity, wanted: Deployment, store: Store) -> _Sent:
    meter = Meter(invocation.budget, invocation.model.price, sampling=invocation.sampling)
    async with invocation.engine.open(wanted) as session:
        prepared = prepare(invocation, identity, own=session.tokenizer, served=session.served)
        missing = store.missing(prepared.planned)
        judging = worst_of_judge(invocation, prepared, store)
        meter.refuse_beyond(missing, beside=judging)
        if missing and invocation.reporting.progress:
            _warn(impossible_cap(invocation, identity, prepared))
        if not _agreed(invocation, meter.worst(missing) + judging):
            return _Sent(reused=0, stop="declined", left=meter.remaining(), documents=prepared.documents)
        if missing and invocation.embedder is not None:
            check_embedder(invocation.embedder)
        asked = {item.sample.document_id for item in prepared.planned if invocation.task.reads_documents}
        kept = tuple(document for name, document in prepared.documents.items() if name in asked)
        live = watched(invocation, prepared)
        runner = Runner(
            session=session,
            sampling=invocation.sampling,
            documents=prepared.documents,
            store=store,
            run_id=identity.run_id,
            concurrency=invocation.engine.concurrency,
            max_retries=invocation.engine.max_retries,
            listener=None if live is None else live.writing,
        )
        title = f"{invocation.task_name} · {invocation.model_name} · kv {invocation.kv_policy.name}"
        shown, ended = invocation.reporting.progress and live is None, None if live is None else live.ended
        cut_short, faults, before, asking = False, dict[str, Fault](), store.run(identity.run_id), False
        if has_pilot(prepared):
            first = first_stage(prepared)
            store.begin(first.run, first.planned, kept)
            pilots = store.missing(first.planned)
            asking = bool(pilots)
            sent = await send_all(runner, pilots, meter, title=title, shown=shown, ended=ended)
            cut_short = sent.cut_short
            faults |= sent.faults
            if not cut_short and not meter.ran_out:
                prepared = after_pilot(invocation, identity, store, prepared)
                missing = store.missing(prepared.planned)
        if not cut_short and not meter.ran_out:
            store.begin(prepared.run, prepared.planned, kept)
            asking = asking or bool(missing)
            sent = await send_all(runner, missing, meter, title=title, shown=shown, ended=ended)
            cut_short = sent.cut_short
            faults |= sent.faults
        # What the server would not take is known only now, and only where it was asked.
        told = "\n".join(session.served.lines)
        known = told if before is None or asking else before.facts.get("server", told)
        store.record_facts(identity.run_id, {"server": known})
    stop: Stop | None = _signalled() if cut_short else "out of budget" if meter.ran_out else None
    return _Sent(
        reused=stored_before(prepared.planned, missing),
        stop=stop,
        left=meter.remaining(),
        documents=prepared.documents,
        outcomes=tuple(outcome_of(item, None, faults.get(item.key)) for item in prepared.planned),
    )


def _warn(impossible: str | None) -> None:
    """Say beforehand, beside the progress, that no cap will come; the plan says it too."""
    if impossible is not None:
        sys.stderr.write(f"warning: {impossible}\n")


def _agreed(invocation: Invocation, worst: Cost) -> bool:
    """Ask before a paid run at a terminal; where a budget is set, or nobody is there, that is the answer."""
    if not worst.usd or invocation.budget.is_set or not (sys.stdin.isatty() and sys.stderr.isatty()):
        return True
    sys.stderr.write(f"This run can cost {dollars(worst.usd, at_most=True)} ({worst.tokens:,} tokens). Go on? [y/N] ")
    sys.stderr.flush()
    return sys.stdin.readline().strip().lower() in ("y", "yes")
