"""The third stage of a run: its answers with their embeddings, their scores and a judge's ratings, in this order.

`ask_annotators` sends what is missing; `annotate` takes what is kept, as `action=analyze` does.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from contextcliff.actions.action import Identity, Invocation
from contextcliff.annotation.ask_annotators import ask_judge, embed_texts
from contextcliff.annotation.embedder import KeptVectors
from contextcliff.annotation.judge import Ratings, recall_ratings
from contextcliff.errors import ConfigError, RunError
from contextcliff.execution.budget import Budget
from contextcliff.execution.scoring import Scorer, recall
from contextcliff.execution.stopping import Stop, signalled
from contextcliff.execution.store import PlannedSample, Store, StoredRun
from contextcliff.records.corpus import Document
from contextcliff.records.generation import UNJUDGED, Outcome, ScoredSample


@dataclass(frozen=True, kw_only=True, slots=True)
class Asked:
    """How asking the annotators ended; `unrated` says how many answers a judge that was stopped did not get."""

    scorer: Scorer
    stop: Stop | None = None
    unrated: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class Annotated:
    """The answers of a run, each scored once."""

    run: StoredRun
    planned: tuple[PlannedSample, ...]
    outcomes: tuple[Outcome, ...]
    """One a planned sample."""
    documents: Mapping[str, Document]
    """Those that are kept with the run."""
    scored: tuple[ScoredSample, ...]
    """The samples that count, with the judge's rating of each."""
    controls: tuple[ScoredSample, ...]
    ratings: Ratings | None
    """None where no judge was asked."""


def ask_annotators(
    invocation: Invocation, identity: Identity, store: Store, *, scorer: Scorer | None, budget: Budget
) -> Asked:
    """Have the texts of the answers embedded and the answers judged, where that is asked for.

    `scorer` is that of the stage before; `budget` is what is left of it. Raises `RunError` where the judge can't be
    reached.
    """
    run_id, progress = identity.run_id, invocation.reporting.progress
    outcomes = recall(store, run_id, store.schedule(run_id))
    embedder = invocation.embedder if invocation.task.traits.embeds_texts else None
    documents = store.documents(run_id) if scorer is None or embedder is not None else {}
    scorer = scorer or _scorer(invocation, store, run_id, outcomes, documents)
    if embedder is not None:
        texts = (text for outcome in outcomes for text in scorer.texts_to_embed(outcome))
        embedding = embed_texts(embedder, texts, store, run_id=run_id, progress=progress)
        scorer = _scorer(invocation, store, run_id, outcomes, documents)
        if embedding == "interrupted":
            return Asked(scorer=scorer, stop=signalled())
    if invocation.judge is None:
        return Asked(scorer=scorer)
    if invocation.budget.usd == "auto" and not invocation.judge.model.price.is_known:
        budget = replace(budget, usd=None)
    scored = [scorer.score(outcome) for outcome in outcomes if outcome.sample.is_ordinary]
    asking = ask_judge(invocation.judge, scored, store, run_id=run_id, budget=budget, progress=progress)
    try:
        judged = asyncio.run(asking)
    except KeyboardInterrupt:  # before there was a request to cancel
        return Asked(scorer=scorer, stop=signalled())
    stop: Stop | None = signalled() if judged.cut_short else "out of budget" if judged.ran_out else None
    unrated = f"the judge was not asked about {judged.unrated:,} of {judged.answers:,} answers; "
    return Asked(scorer=scorer, stop=stop, unrated="" if stop is None else unrated)


def annotate(invocation: Invocation, run_id: str, store: Store, *, scorer: Scorer | None = None) -> Annotated:
    """Score what the store holds of a run, with the embeddings and ratings that are kept.

    `scorer` has the scores that were taken already. Raises `RunError` where nothing of the run is stored, `ConfigError`
    where a judge is to decide and has rated nothing.
    """
    run, planned = store.run(run_id), store.schedule(run_id)
    if run is None:
        raise RunError(f"no answer to {run_id} is stored, so there is nothing to report")
    outcomes, documents = recall(store, run_id, planned), store.documents(run_id)
    scorer = scorer or _scorer(invocation, store, run_id, outcomes, documents)
    # A pilot's answers chose the bins, and count in nothing else.
    scored = [scorer.score(outcome) for outcome in outcomes if not outcome.sample.pilot]
    ordinary = tuple(item for item in scored if item.sample.is_ordinary)
    ratings = _ratings(ordinary, invocation, run, store)
    if ratings is None and invocation.task.traits.is_judged:
        raise ConfigError(
            f"task.metric=judge: no judge has rated the answers of {run_id}; have them rated with action=run and the "
            "same overrides, or take another metric"
        )
    return Annotated(
        run=run,
        planned=planned,
        outcomes=outcomes,
        documents=documents,
        scored=_rated(ordinary, ratings, invocation),
        controls=tuple(item for item in scored if item.sample.control is not None),
        ratings=ratings,
    )


def _scorer(
    invocation: Invocation,
    store: Store,
    run_id: str,
    outcomes: Sequence[Outcome],
    documents: Mapping[str, Document],
) -> Scorer:
    """A scorer with the kept `documents`, and with the vectors where something embedded texts of the run."""
    run, embedder = store.run(run_id), invocation.embedder
    embedded = embedder is not None and run is not None and run.facts.embedder is not None
    return Scorer(
        invocation.task,
        [outcome.sample for outcome in outcomes],
        documents,
        vectors_of=KeptVectors(embedder, store).of if embedder is not None and embedded else None,
    )


def _ratings(scored: Sequence[ScoredSample], invocation: Invocation, run: StoredRun, store: Store) -> Ratings | None:
    """A judge's ratings; None where none was asked."""
    if invocation.judge is None or run.facts.judge is None:
        return None
    return recall_ratings(invocation.judge, scored, store, run_id=run.run_id, served=run.facts.judge_served)


def _rated(
    scored: tuple[ScoredSample, ...], ratings: Ratings | None, invocation: Invocation
) -> tuple[ScoredSample, ...]:
    if ratings is None or invocation.judge is None:
        return scored
    rated = (replace(item, judge_rating=ratings.by_sample.get(item.sample.sample_id)) for item in scored)
    if not invocation.task.traits.is_judged:
        return tuple(rated)
    return tuple(_by_verdict(item, right_from=invocation.judge.right_from) for item in rated)


def _by_verdict(item: ScoredSample, *, right_from: int) -> ScoredSample:
    """The answer with the judge's verdict as its score."""
    if item.score is None:
        return item
    if item.judge_rating is None:
        return replace(item, score=None, failure=UNJUDGED)
    if item.judge_rating >= right_from:
        return replace(item, score=1.0, failure=None)
    return replace(item, score=0.0, failure=item.failure or "wrong")
