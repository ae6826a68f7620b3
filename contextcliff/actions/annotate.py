"""The third stage of a run: its answers with their embeddings, their scores and a judge's ratings, in this order.

`ask_annotators` sends what is missing; `annotate` takes what is kept, as `action=analyze` does."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace

from contextcliff.actions.action import RunState
from contextcliff.annotation.embedder import embed_texts, kept_vectors
from contextcliff.annotation.judge import ask_judge, recall_ratings
from contextcliff.errors import ConfigError, RunError
from contextcliff.execution.scoring import Scorer, recall
from contextcliff.execution.signals import signalled
from contextcliff.records.corpus import Document
from contextcliff.records.generation import UNJUDGED, Outcome, ScoredSample


def ask_annotators(run: RunState) -> str:
    """Have the answers embedded and judged where asked; returns how many a judge that was stopped did not get."""
    invocation, store, run_id = run.invocation, run.store, run.run_id
    judge, progress, budget = invocation.judge, invocation.reporting.progress, run.left
    embedder = invocation.embedder if invocation.task.traits.embeds_texts else None
    if embedder is None and judge is None:
        return ""
    outcomes, documents = recall(store, run_id, store.schedule(run_id)), store.documents(run_id)
    if embedder is not None:
        scorer = run.scorer or _scorer(run, outcomes, documents)
        texts = (text for outcome in outcomes for text in scorer.texts_to_embed(outcome))
        if embed_texts(embedder, texts, store, run_id=run_id, progress=progress) == "interrupted":
            run.stop = signalled()
        run.scorer = None  # its scores are without the vectors
    run.scorer = run.scorer or _scorer(run, outcomes, documents)
    if judge is None or run.stop is not None:
        return ""
    if invocation.budget.usd == "auto" and not judge.model.price.is_known:
        budget = replace(budget, usd=None)
    scored = [run.scorer.score(outcome) for outcome in outcomes if outcome.sample.is_ordinary]
    try:
        run.stop, unrated = asyncio.run(
            ask_judge(judge, scored, store, run_id=run_id, budget=budget, progress=progress)
        )
    except KeyboardInterrupt:  # before there was a request to cancel
        run.stop, unrated = signalled(), ""
    return unrated


def annotate(run: RunState) -> None:
    """Score what the store holds of a run, each answer once, with the embeddings and ratings that are kept."""
    store, task, judge = run.store, run.invocation.task, run.invocation.judge
    stored = store.run(run.run_id)
    if stored is None:
        raise RunError(f"no answer to {run.run_id} is stored, so there is nothing to report")
    run.stored, run.planned, run.documents = stored, store.schedule(run.run_id), store.documents(run.run_id)
    run.errors = dict(Counter(fault.kind for _, fault in store.faults(run.run_id)))
    run.outcomes = recall(store, run.run_id, run.planned)
    scorer = run.scorer or _scorer(run, run.outcomes, run.documents)
    # A pilot's answers chose the bins, and count in nothing else.
    scored = [scorer.score(outcome) for outcome in run.outcomes if not outcome.sample.pilot]
    run.scored = tuple(item for item in scored if item.sample.is_ordinary)
    run.controls = tuple(item for item in scored if item.sample.control is not None)
    run.ratings = None
    if judge is not None and stored.facts.judge is not None:
        served = stored.facts.judge_served
        run.ratings = recall_ratings(judge, run.scored, store, run_id=run.run_id, served=served)
        ratings = run.ratings.by_sample
        run.scored = tuple(replace(item, judge_rating=ratings.get(item.sample.sample_id)) for item in run.scored)
        if task.traits.is_judged:
            run.scored = tuple(_by_verdict(item, right_from=judge.right_from) for item in run.scored)
    elif task.traits.is_judged:
        raise ConfigError(
            f"task.metric=judge: no judge has rated the answers of {run.run_id}; have them rated with action=run and "
            "the same overrides, or take another metric"
        )


def _scorer(run: RunState, outcomes: Sequence[Outcome], documents: Mapping[str, Document]) -> Scorer:
    stored, embedder = run.store.run(run.run_id), run.invocation.embedder
    vectors_of = None
    if embedder is not None and stored is not None and stored.facts.embedder is not None:
        vectors_of = kept_vectors(embedder, run.store)
    samples = [outcome.sample for outcome in outcomes]
    return Scorer(run.invocation.task, samples, documents, vectors_of=vectors_of)


def _by_verdict(item: ScoredSample, *, right_from: int) -> ScoredSample:
    if item.score is None:
        return item
    if item.judge_rating is None:
        return replace(item, score=None, failure=UNJUDGED)
    if item.judge_rating >= right_from:
        return replace(item, score=1.0, failure=None)
    return replace(item, score=0.0, failure=item.failure or "wrong")
