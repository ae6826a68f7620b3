"""The second round of a run that has a judge: every answer is rated, and every rating kept."""

from __future__ import annotations

from contextcliff.actions.action import Identity, Invocation
from contextcliff.actions.sending import send_all
from contextcliff.execution.budget import Budget, Meter
from contextcliff.execution.judging import JUDGE_FACT, Judge
from contextcliff.execution.outcomes import recall
from contextcliff.execution.runner import Runner
from contextcliff.execution.scoring import score_outcomes
from contextcliff.execution.store import Store
from contextcliff.records import ScoredSample


def check_judge(judge: Judge, budget: Budget) -> None:
    """Refuse, before anything is paid for, a judge without weights, or without a price under a budget of dollars."""
    judge.respondent()
    Meter(budget, judge.model.price, sampling=judge.sampling)


async def ask_judge(judge: Judge, invocation: Invocation, identity: Identity, store: Store, left: Budget) -> bool:
    """Send what has no rating yet, within what is left of the budget; True where Ctrl-C ended it.

    Raises `RunError` where the judge can't be reached; the answers are stored by then, and the same command goes on.
    """
    meter = Meter(left, judge.model.price, sampling=judge.sampling)
    async with judge.engine.open(judge.deployment) as session:
        name = session.served.model or judge.model.name or judge.engine.name
        store.record_facts(identity.run_id, {JUDGE_FACT: name, f"{JUDGE_FACT}_served": session.served.model or ""})
        requests = judge.requests(answered(invocation, identity, store), served=session.served.model)
        missing = store.missing({item.key: item for item in requests.values()}.values())
        runner = Runner(
            session=session,
            sampling=judge.sampling,
            documents={},
            store=store,
            run_id=f"{identity.run_id}/judge",
            concurrency=judge.engine.concurrency,
            max_retries=judge.engine.max_retries,
        )
        return await send_all(runner, missing, meter, title=f"judge · {name}", shown=invocation.reporting.progress)


def answered(invocation: Invocation, identity: Identity, store: Store) -> tuple[ScoredSample, ...]:
    """The scored samples of a run, without its controls."""
    outcomes = recall(store, identity.run_id, store.schedule(identity.run_id))
    scored = score_outcomes(invocation.task, outcomes, store.documents(identity.run_id))
    return tuple(item for item in scored if item.sample.is_ordinary)
