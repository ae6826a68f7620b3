"""The round after the answers: the judge rates each, every text that scores use is embedded, and all is kept."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Literal

from contextcliff.annotation.embedder import Embedder, embed_missing
from contextcliff.annotation.judge import Judge, judge_run_id
from contextcliff.errors import RunError, tell
from contextcliff.execution.budget import Budget, Meter
from contextcliff.execution.runner import Runner
from contextcliff.execution.schedule import Listed
from contextcliff.execution.scoring import recall
from contextcliff.execution.signals import Stop, Stoppable
from contextcliff.execution.store import PlannedSample, Store
from contextcliff.models.sampling import Sampling
from contextcliff.records.generation import Outcome, ScoredSample
from contextcliff.records.report import shown_model
from contextcliff.reporting.progress import phase, progress_of


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
) -> tuple[Stop | None, str]:
    """Have every answer rated that has no rating yet, within what is left of the budget.

    Returns why it stopped before its end, and then about how many answers the judge was not asked. Raises `RunError`
    where it can't be reached; the answers are stored by then, and the same command goes on.
    """
    meter = judge_meter(judge, budget)
    async with judge.engine.open(judge.deployment) as session:
        served = session.served.model
        name = shown_model(served or judge.model.name or judge.engine.name, engine=judge.engine.name)
        store.change_facts(run_id, lambda facts: replace(facts, judge=name, judge_served=served))
        requests = judge.requests(scored, served=served)
        missing = store.missing({item.key: item for item in requests.values()}.values())
        runner = Runner(
            session=session,
            engine=judge.engine,
            sampling=judge.sampling,
            documents={},
            store=store,
            run_id=judge_run_id(run_id),
            meter=meter,
        )
        tokens, shown = sum(item.sample.built_tokens for item in missing), progress and bool(missing)
        with progress_of(f"judge · {name}", total_tokens=tokens, total_samples=len(missing), shown=shown) as told:
            async with Stoppable() as stoppable:
                async for outcome in runner.answers(Listed(missing)):
                    told.advance(outcome.sample.built_tokens, answer=outcome.text)
    stop = stoppable.stop or ("out of budget" if meter.ran_out else None)
    unrated = sum(store.generation(item.key) is None for item in requests.values())
    return stop, f"the judge was not asked about {unrated:,} of {len(requests):,} answers; " if stop else ""


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
