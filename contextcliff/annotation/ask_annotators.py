"""The round after the answers: the judge rates each, every text that scores use is embedded, and all is kept."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from contextcliff.annotation.embedder import Embedder, embed_missing
from contextcliff.annotation.judge import Judge, judge_run_id
from contextcliff.errors import RunError, tell
from contextcliff.execution.budget import Budget, Meter
from contextcliff.execution.runner import Runner, send_listed
from contextcliff.execution.scoring import recall
from contextcliff.execution.store import PlannedSample, Store
from contextcliff.models.sampling import Sampling
from contextcliff.records.generation import Outcome, ScoredSample
from contextcliff.records.report import shown_model
from contextcliff.reporting.progress import phase


@dataclass(frozen=True, kw_only=True, slots=True)
class Judged:
    """How judging ended: whether a signal or the budget did it, and about how many answers it was not asked."""

    cut_short: bool
    ran_out: bool
    unrated: int
    answers: int


def check_judge(judge: Judge, budget: Budget) -> None:
    """Refuse, before anything is paid for, a judge without weights or a key, or without a price under a budget of
    dollars."""
    judge.respondent()
    judge.engine.check()
    judge_meter(judge, budget)


def judge_meter(judge: Judge, budget: Budget) -> Meter:
    """Counts what a judge takes. Raises `ConfigError` where a budget of dollars meets a judge without a price."""
    return Meter(budget, judge.model.price, sampling=judge.sampling, key="judge.model")


def requests_ahead(
    judge: Judge, planned: Iterable[PlannedSample], store: Store, *, run_id: str, sampling: Sampling
) -> tuple[PlannedSample, ...]:
    """What the judge is yet to be asked: of stored answers, and of others as long as `sampling` lets them be."""
    ordinary = {item.key: item for item in planned if item.sample.is_ordinary}
    coming = {item.key: item for item in store.missing(ordinary.values())}
    run = store.run(run_id)
    served = None if run is None else run.facts.judge_served
    stored = recall(store, run_id, [item for key, item in ordinary.items() if key not in coming])
    of_stored = judge.requests([_as_scored(outcome) for outcome in stored], served=served).values()
    longest = judge.longest_requests((item.sample for item in coming.values()), sampling)
    return (*store.missing(of_stored), *longest)


def _as_scored(outcome: Outcome) -> ScoredSample:
    """What an answer scores does not enter the judge's request, and prose takes long to score."""
    return ScoredSample(
        sample=outcome.sample,
        prompt_sha256=outcome.prompt_sha256,
        score=0.0 if outcome.unscored is None else None,
        failure=None,
        prediction="",
        generation=outcome.generation,
    )


async def ask_judge(
    judge: Judge, scored: Sequence[ScoredSample], store: Store, *, run_id: str, budget: Budget, progress: bool
) -> Judged:
    """Have every answer rated that has no rating yet, within what is left of the budget.

    Raises `RunError` where the judge can't be reached; the answers are stored by then, and the same command goes on.
    """
    meter = judge_meter(judge, budget)
    async with judge.engine.open(judge.deployment) as session:
        name = session.served.model or judge.model.name or judge.engine.name
        name = shown_model(name, engine=judge.engine.name)
        served = session.served.model
        store.change_facts(run_id, lambda facts: replace(facts, judge=name, judge_served=served))
        requests = judge.requests(scored, served=session.served.model)
        missing = store.missing({item.key: item for item in requests.values()}.values())
        runner = Runner(
            session=session,
            sampling=judge.sampling,
            documents={},
            store=store,
            run_id=judge_run_id(run_id),
            concurrency=judge.engine.concurrency,
            tokens_in_flight=judge.engine.tokens_in_flight,
            max_retries=judge.engine.max_retries,
            may_repeat=meter.may_repeat,
        )
        ended = await send_listed(runner, missing, meter, title=f"judge · {name}", shown=progress)
    return Judged(
        cut_short=ended.cut_short,
        ran_out=meter.ran_out,
        unrated=sum(store.generation(item.key) is None for item in requests.values()),
        answers=len(requests),
    )


Embedding = Literal["embedded", "failed", "interrupted"]


def check_embedder(embedder: Embedder) -> None:
    """Embed one short text, before anything is paid for. Raises `ConfigError`, `RunError` where that can't be done."""
    with embedder.open() as session:
        session.embed(["."])


def embed_texts(embedder: Embedder, texts: Iterable[str], store: Store, *, run_id: str, progress: bool) -> Embedding:
    """Embed and keep what has no vector yet, and record in the run which embedder did it.

    `failed` after a warning: scores then do without vectors, and the same command goes on.
    `interrupted` by Ctrl-C or SIGTERM.
    """
    try:
        with phase(f"embeddings · {embedder.name}", shown=progress) as done:
            embed_missing(embedder, texts, store, done=done)
    except RunError as error:
        tell(f"warning: {error}; coherence is not measured: the same command goes on")
        return "failed"
    except KeyboardInterrupt:
        return "interrupted"
    store.change_facts(run_id, lambda facts: replace(facts, embedder=embedder.name))
    return "embedded"
