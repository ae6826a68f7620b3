"""Action `run`: build the samples, send what is not stored yet, annotate, analyse and report."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from contextcliff.actions.action import Invocation, RunState, settled
from contextcliff.actions.analyse import analyse, require_an_answer
from contextcliff.actions.annotate import annotate, ask_annotators
from contextcliff.actions.like import read_baseline
from contextcliff.actions.override_keys import key_of
from contextcliff.actions.prepare import deployment, search_rule
from contextcliff.actions.report import command_line, report, require_cap
from contextcliff.actions.send import send
from contextcliff.actions.track import LiveTracking
from contextcliff.errors import ConfigError, ExitCode, RunError, tell
from contextcliff.execution.budget import DEFAULT_USD
from contextcliff.execution.runner import in_turn
from contextcliff.execution.signals import ENDINGS
from contextcliff.execution.store import Store
from contextcliff.models.model import dollars
from contextcliff.reporting.progress import phase
from contextcliff.settings import settings

_STOPPED = "stopped by a signal before there was a report; the same command goes on"


@settings
class Run:
    """Executes the task. A generation that is stored is never asked for again."""

    def __call__(self, invocation: Invocation) -> ExitCode:
        """Return `INTERRUPTED`, `TERMINATED` or `BUDGET_RAN_OUT` with a partial report; may raise `GateFailed`."""
        invocation.identify()  # raises for a policy or weights that the engine can't have
        live = LiveTracking(invocation=invocation)
        with _failures_told(live), Store(invocation.output_dir) as store:
            _check(invocation)
            asked, invocation = invocation, settled(invocation, store)
            live.invocation, identity = invocation, invocation.identify()
            store.refuse_taken_label(invocation.label, fingerprint=identity.fingerprint)
            run = RunState(invocation=invocation, store=store, run_id=identity.run_id, live=live)
            family, progress = (identity.family, invocation.task.name), invocation.reporting.progress
            with in_turn(invocation.output_dir, *family, announce=progress), _timed(run):
                now = invocation.model.name if invocation is asked else asked.engine.settle(asked.model).name
                # The server may have changed while another process had the turn.
                if now != invocation.model.name and invocation.model.name is not None:
                    raise RunError(
                        f"the server has another model now, {now} and not {invocation.model.name}; the same command "
                        "runs that one"
                    )
                asyncio.run(send(run))
                begun = store.run(run.run_id) is not None
                unrated = ask_annotators(run) if begun and run.stop is None else ""
            code, told = (ExitCode.DONE, "") if run.stop is None else ENDINGS[run.stop]
            if run.stop is not None:
                tell(f"{run.stop}: {unrated}{told}")
            if run.stop == "declined" or (run.stop is not None and not begun):
                live.fail(_STOPPED, interrupted=True)
                return code
            if not begun:
                require_an_answer(run.outcomes)
            with phase("analysing", shown=progress):
                annotate(run)
                analyse(run)
            folder = report(run)
            if run.stop == "out of budget" and invocation.budget.usd == "auto":
                tell(_rest(run))
            if code in (ExitCode.DONE, ExitCode.BUDGET_RAN_OUT):  # after a signal nobody waits for a gate
                require_cap(run, folder)
            return code


@contextmanager
def _failures_told(live: LiveTracking) -> Iterator[None]:
    try:
        yield
    except KeyboardInterrupt:
        live.fail(_STOPPED, interrupted=True)
        raise
    except ConfigError:  # nothing was begun, and nothing is left of it
        raise
    except Exception as error:
        live.fail(" ".join(str(error).split()) or type(error).__name__)
        raise


def _rest(run: RunState) -> str:
    known = None if run.rest is None or run.rest.usd is None else dollars(run.rest.usd, at_most=True)
    limit = "none" if known is None else known.removesuffix(" USD").replace(",", "")
    overrides = [each for each in run.invocation.overrides if key_of(each) != "budget.usd"]
    costs = "" if known is None else f", which costs at most {known},"
    return (
        f"at most {dollars(DEFAULT_USD)} are spent unless budget.usd says otherwise; the rest{costs} is asked by: "
        f"{command_line([*overrides, f'budget.usd={limit}'])}"
    )


def _check(invocation: Invocation) -> None:
    deployment(invocation)
    if invocation.task.traits.is_searched:
        search_rule(invocation)
    read_baseline(invocation)
    invocation.engine.check()
    if invocation.judge is not None:
        invocation.judge.check(invocation.budget)


@contextmanager
def _timed(run: RunState) -> Iterator[None]:
    started = time.monotonic()
    try:
        yield
    except BaseException:
        with suppress(RunError):  # the store itself may be what failed
            run.store.add_wall_time(run.run_id, time.monotonic() - started)
        raise
    run.store.add_wall_time(run.run_id, time.monotonic() - started)
