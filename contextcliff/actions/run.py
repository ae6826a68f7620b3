"""Action `run`: build the samples, send what is not stored yet, annotate, analyse and report."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from contextcliff.actions.action import Identity, Invocation
from contextcliff.actions.analyse_run import analyse_run, require_an_answer
from contextcliff.actions.annotate_run import annotate, ask_annotators
from contextcliff.actions.baseline import read_baseline
from contextcliff.actions.live_tracking import LiveTracking
from contextcliff.actions.naming import require_the_same, settled
from contextcliff.actions.override_keys import key_of
from contextcliff.actions.prepare_run import check_search, deployment
from contextcliff.actions.report_run import command_line, report_run
from contextcliff.actions.required_cap import require_cap
from contextcliff.actions.send_run import send
from contextcliff.annotation.ask_annotators import check_judge
from contextcliff.errors import ConfigError, ExitCode, RunError, tell
from contextcliff.execution.budget import DEFAULT_USD, Cost
from contextcliff.execution.stopping import ENDINGS
from contextcliff.execution.store import Store
from contextcliff.execution.turns import in_turn
from contextcliff.models.model import dollars
from contextcliff.reporting.progress import phase
from contextcliff.settings import settings


@settings
class Run:
    """Executes the task. A generation that is stored is never asked for again."""

    def __call__(self, invocation: Invocation) -> ExitCode:
        """Return `INTERRUPTED`, `TERMINATED` or `BUDGET_RAN_OUT` with a partial report; what was answered is kept.

        Raises `OverBudgetError` before anything is sent, and `GateFailed` after all is written.
        """
        live = LiveTracking(invocation=invocation, identity=invocation.identify())
        try:
            _check(invocation)
            with Store(invocation.output_dir) as store:
                asked, invocation = invocation, settled(invocation, store)
                if invocation is not asked:
                    live = LiveTracking(invocation=invocation, identity=invocation.identify())
                return _run(asked, invocation, live.identity, store, live)
        except KeyboardInterrupt:
            live.fail(_STOPPED, interrupted=True)
            raise
        except ConfigError:  # nothing was begun, and nothing is left of it
            raise
        except Exception as error:
            live.fail(" ".join(str(error).split()) or type(error).__name__)
            raise


_STOPPED = "stopped by a signal before there was a report; the same command goes on"


def _run(asked: Invocation, invocation: Invocation, identity: Identity, store: Store, live: LiveTracking) -> ExitCode:
    """`asked` is the invocation before it was known which model answers."""
    wanted = deployment(invocation)
    store.refuse_taken_label(invocation.label, fingerprint=identity.fingerprint)
    progress, family = invocation.reporting.progress, identity.family
    with (
        in_turn(invocation.output_dir, family, invocation.task.name, announce=progress),
        _timed(store, identity.run_id),
    ):
        if invocation is not asked:
            require_the_same(asked, invocation)
        sent = asyncio.run(send(invocation, identity, wanted, store, live))
        begun = store.run(identity.run_id) is not None
        stop, scorer, unrated = sent.stop, sent.scorer, ""
        if begun and stop is None:
            annotators = ask_annotators(invocation, identity, store, scorer=scorer, budget=sent.left)
            stop, scorer, unrated = annotators.stop, annotators.scorer, annotators.unrated
    if stop is not None:
        tell(f"{stop}: {unrated}{ENDINGS[stop].message}")
        if not begun or stop == "declined":
            live.fail(_STOPPED, interrupted=True)
            return ENDINGS[stop].code
    elif not begun:
        require_an_answer(sent.outcomes)
    with phase("analysing", shown=progress):
        annotated = annotate(invocation, identity.run_id, store, scorer=scorer)
        analysed = analyse_run(invocation, annotated, store, reused=sent.reused)
    folder = report_run(invocation, annotated, analysed, documents=sent.documents, stop=stop, live=live)
    if stop == "out of budget" and invocation.budget.usd == "auto":
        tell(_rest(invocation, sent.rest))
    code = ExitCode.DONE if stop is None else ENDINGS[stop].code
    if code in (ExitCode.DONE, ExitCode.BUDGET_RAN_OUT):  # after a signal nobody waits for a gate
        require_cap(invocation, analysed.analysis.safe_cap, folder, stopped=stop is not None)
    return code


def _rest(invocation: Invocation, rest: Cost | None) -> str:
    """What is left after the default limit was spent, and the command that goes on to the end."""
    known = None if rest is None or rest.usd is None else dollars(rest.usd, at_most=True)
    limit = "none" if known is None else known.removesuffix(" USD").replace(",", "")
    overrides = [each for each in invocation.overrides if key_of(each) != "budget.usd"]
    costs = "" if known is None else f", which costs at most {known},"
    return (
        f"at most {dollars(DEFAULT_USD)} are spent unless budget.usd says otherwise; the rest{costs} is asked by: "
        f"{command_line([*overrides, f'budget.usd={limit}'])}"
    )


def _check(invocation: Invocation) -> None:
    """Raise `ConfigError` for what can't be run, before a store is opened or a server asked."""
    deployment(invocation)
    check_search(invocation)
    read_baseline(invocation)
    invocation.engine.check()
    if invocation.judge is not None:
        check_judge(invocation.judge, invocation.budget)


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
