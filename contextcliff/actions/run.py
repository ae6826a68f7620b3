"""Action `run`: build the samples, send what is not stored yet, conclude."""

from __future__ import annotations

import asyncio
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal

from contextcliff.actions.action import Identity, Invocation
from contextcliff.actions.conclude import conclude
from contextcliff.actions.judging import ask_judge, check_judge
from contextcliff.actions.live import watched
from contextcliff.actions.pilot import after_pilot, first_stage, has_pilot
from contextcliff.actions.preparation import deployment, prepare, stored_before
from contextcliff.actions.sending import send_all
from contextcliff.actions.writing import check_embedder, embed
from contextcliff.engines.engine import Deployment
from contextcliff.errors import ExitCode
from contextcliff.execution.budget import Budget, Cost, Meter
from contextcliff.execution.runner import Runner
from contextcliff.execution.store import Store, refuse_taken_label
from contextcliff.execution.turns import in_turn
from contextcliff.records import Document
from contextcliff.settings import settings

Stop = Literal["interrupted", "out of budget", "declined"]


@dataclass(frozen=True, kw_only=True, slots=True)
class _Ending:
    code: ExitCode
    told: str


_STOPS: Mapping[Stop, _Ending] = {
    "interrupted": _Ending(code=ExitCode.INTERRUPTED, told="what was answered is kept, and the same command goes on"),
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


@settings
class Run:
    """Executes the task. A generation that is stored is never asked for again."""

    def __call__(self, invocation: Invocation) -> ExitCode:
        """Return `INTERRUPTED` after Ctrl-C and `BUDGET_RAN_OUT`, with a partial report; what was answered is kept.

        Raises `OverBudgetError` before anything is sent.
        """
        identity = invocation.identify()
        wanted = deployment(invocation)
        if invocation.judge is not None:
            check_judge(invocation.judge, invocation.budget)
        with Store(invocation.output_dir) as store:
            refuse_taken_label(store, label=invocation.label, fingerprint=identity.fingerprint)
            with in_turn(
                invocation.output_dir, identity.family, invocation.task.name, told=invocation.reporting.progress
            ):
                started = time.monotonic()
                sent = asyncio.run(_send(invocation, identity, wanted, store))
                if sent.stop is None and invocation.judge is not None:
                    interrupted = asyncio.run(ask_judge(invocation.judge, invocation, identity, store, sent.left))
                    sent = replace(sent, stop="interrupted" if interrupted else None)
                if sent.stop is None and invocation.embedder is not None:
                    interrupted = embed(invocation.embedder, invocation, identity, store)
                    sent = replace(sent, stop="interrupted" if interrupted else None)
                store.add_wall_time(identity.run_id, time.monotonic() - started)
            if sent.stop is not None:
                sys.stderr.write(f"{sent.stop}: {_STOPS[sent.stop].told}\n")
                if store.run(identity.run_id) is None or sent.stop == "declined":
                    return _STOPS[sent.stop].code
            conclude(invocation, identity, store, reused=sent.reused, documents=sent.documents)
        return ExitCode.DONE if sent.stop is None else _STOPS[sent.stop].code


async def _send(invocation: Invocation, identity: Identity, wanted: Deployment, store: Store) -> _Sent:
    meter = Meter(invocation.budget, invocation.model.price, sampling=invocation.sampling)
    async with invocation.engine.open(wanted) as session:
        prepared = prepare(invocation, identity, own=session.tokenizer, served=session.served)
        missing = store.missing(prepared.planned)
        meter.refuse_beyond(missing)
        if not _agreed(invocation, meter.worst(missing)):
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
        title = f"{invocation.task.name} · {invocation.model_name} · kv {invocation.kv_policy.name}"
        shown, ended = invocation.reporting.progress and live is None, None if live is None else live.ended
        interrupted = False
        if has_pilot(prepared):
            first = first_stage(prepared)
            store.begin(first.run, first.planned, kept)
            interrupted = await send_all(
                runner, store.missing(first.planned), meter, title=title, shown=shown, ended=ended
            )
            if not interrupted and not meter.ran_out:
                prepared = after_pilot(invocation, identity, store, prepared)
                missing = store.missing(prepared.planned)
        if not interrupted and not meter.ran_out:
            store.begin(prepared.run, prepared.planned, kept)
            interrupted = await send_all(runner, missing, meter, title=title, shown=shown, ended=ended)
        # What the server would not take is known only now.
        store.record_facts(identity.run_id, {"server": "\n".join(session.served.told)})
    stop: Stop | None = "interrupted" if interrupted else "out of budget" if meter.ran_out else None
    return _Sent(
        reused=stored_before(prepared.planned, missing),
        stop=stop,
        left=meter.remaining(),
        documents=prepared.documents,
    )


def _agreed(invocation: Invocation, worst: Cost) -> bool:
    """Ask before a paid run at a terminal; where a budget is set, or nobody is there, that is the answer."""
    if not worst.usd or invocation.budget.is_set or not (sys.stdin.isatty() and sys.stderr.isatty()):
        return True
    sys.stderr.write(f"This run can cost {worst.usd:.2f} USD ({worst.tokens:,} tokens). Go on? [y/N] ")
    sys.stderr.flush()
    return sys.stdin.readline().strip().lower() in ("y", "yes")
