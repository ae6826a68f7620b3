"""The second stage of a run: what is prepared and not stored yet is sent, and every answer kept."""

from __future__ import annotations

import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, suppress
from dataclasses import replace
from statistics import fmean

from contextcliff.actions.action import Invocation, RunState
from contextcliff.actions.ahead import Ahead, SearchAhead
from contextcliff.actions.like import Baseline, pairs_at_longest, read_baseline, with_replay
from contextcliff.actions.prepare import (
    Prepared,
    deployment,
    planned_samples,
    planned_step,
    prepare,
    stored_before,
    with_earlier,
)
from contextcliff.analysis.search import Path
from contextcliff.engines.engine import Served
from contextcliff.errors import RunError
from contextcliff.execution.budget import Meter
from contextcliff.execution.runner import Runner
from contextcliff.execution.schedule import Listed
from contextcliff.execution.scoring import Scorer, outcome_of, recall
from contextcliff.execution.search_source import SearchSource
from contextcliff.execution.signals import Stoppable
from contextcliff.execution.store import PlannedSample, StoredRun
from contextcliff.records.generation import Outcome, ScoredSample
from contextcliff.records.sample import RECHECK, Sample, Words
from contextcliff.records.search_record import LengthStanding, Replay
from contextcliff.reporting.progress import Progress, progress_of
from contextcliff.seeding import digest_of, seed_of
from contextcliff.tasks.task import TaskPlan

_FORECAST_EVERY_S = 1.0


async def send(run: RunState) -> None:
    """Prepare the samples with the open engine, and send what the store has no answer to."""
    invocation, store = run.invocation, run.store
    meter = Meter(invocation.budget, invocation.model.price, sampling=invocation.sampling)
    async with invocation.engine.open(deployment(invocation)) as session:
        prepared = prepare(invocation, own=session.tokenizer, served=session.served)
        baseline = read_baseline(invocation)
        prepared = with_replay(invocation, with_earlier(prepared, store), baseline)
        run.prepared = prepared
        ahead = Ahead.of(invocation, prepared, store, meter)
        ahead.refuse_beyond_budget()
        if ahead.missing and invocation.reporting.progress:
            ahead.announce()
        if not ahead.agreed():
            run.stop = "declined"
            return
        if ahead.missing:
            if invocation.embedder is not None:
                with invocation.embedder.open() as embed:  # before anything is paid for
                    embed(["."])
            if invocation.judge is not None:
                await invocation.judge.open_once()
            run.live.begin()
        before = store.run(run.run_id)
        scorer = Scorer(invocation.task, [item.sample for item in prepared.planned], prepared.documents)
        search = search_of(run, prepared, scorer, baseline)
        watchers = [_length_watch(run, prepared, ahead.missing, scorer)]
        if invocation.reporting.progress and invocation.place is None:
            watchers.append(ahead.minutes())
        runner = Runner(
            session=session, engine=invocation.engine, sampling=invocation.sampling, documents=prepared.documents,
            store=store, run_id=run.run_id, meter=meter,
        )  # fmt: skip
        for source in _lists(run, prepared, scorer) if search is None else [search]:
            with _progress(invocation, source) as progress:
                if search is not None:
                    search.on_change = _standing(run, progress, search, ahead.search)
                async with Stoppable() as stoppable:
                    async for outcome in runner.answers(source):
                        progress.advance(outcome.sample.built_tokens, answer=outcome.text)
                        if said := " · ".join(filter(None, [watcher(outcome) for watcher in watchers])):
                            progress.remark(said)
            run.stop = stoppable.stop
            if run.stop or meter.ran_out:
                break
        prepared, ran_out = run.prepared or prepared, meter.ran_out
        _record(run, prepared, search, session.served, None if runner.n_sent else before)
        if not (run.stop or ran_out):
            await _recheck(run, runner, prepared, prepared.planned if search is None else search.asked())
    run.left = meter.remaining()
    if ran_out and not (search is not None and search.is_over):
        run.stop = run.stop or "out of budget"
        known = replace(ahead.search, known=search.complete) if search and ahead.search else None
        run.rest = replace(ahead, missing=store.missing(prepared.planned), search=known).most
    # Where no answer came nothing is stored, and the runner alone knows why.
    asked = prepared.planned if search is None else search.asked()
    run.outcomes = tuple(outcome_of(item, None, runner.faults.get(item.key), own=False) for item in asked)
    run.scorer = scorer if search is None and not has_pilot(prepared) else None


def _lists(run: RunState, prepared: Prepared, scorer: Scorer) -> Iterator[Listed]:
    """What is sent at once, recorded with the run: a pilot goes before the samples that it points to."""
    store, reads_documents = run.store, run.invocation.task.traits.reads_documents
    asked = {item.sample.document_id for item in prepared.planned if reads_documents}
    kept = [document for name, document in prepared.documents.items() if name in asked]
    pilot = [item for item in prepared.planned if not item.sample.is_ordinary]
    if has_pilot(prepared):
        store.begin(prepared.run, pilot, kept)
        yield Listed(store.missing(pilot))
        prepared = run.prepared = after_pilot(run, prepared, scorer)
    store.begin(prepared.run, prepared.planned, kept)
    missing = store.missing(prepared.planned)
    run.reused = stored_before(prepared.planned, missing)
    yield Listed(missing)


def has_pilot(prepared: Prepared) -> bool:
    return any(item.sample.pilot for item in prepared.planned)


def after_pilot(run: RunState, prepared: Prepared, scorer: Scorer) -> Prepared:
    """The pilot and the samples of the bins that it points to, always the same, with a note of what was saved."""
    from contextcliff.analysis.bins import bins_to_fill

    asked = [item for item in prepared.planned if item.sample.pilot]
    settings = run.invocation.analysis
    relative = settings.is_relative(by_default=run.invocation.task.traits.relative_by_default)
    answers = [scorer.score(outcome) for outcome in recall(run.store, run.run_id, asked)]
    chosen = bins_to_fill(answers, threshold=settings.threshold, relative=relative)
    planned = tuple(item for item in prepared.planned if not item.sample.is_ordinary or item.sample.bin in chosen)
    whole = sum(item.sample.built_tokens for item in prepared.planned)
    saved = whole - sum(item.sample.built_tokens for item in planned)
    bins = {item.sample.bin for item in prepared.planned if item.sample.bin is not None}
    numbers = ", ".join(str(position + 1) for position in chosen)
    note = (
        f"a pilot of {len(asked):,} samples pointed to bins {numbers} of {len(bins)}; only those were filled, which "
        f"saved {saved:,} of {whole:,} prompt tokens ({saved / whole:.0%}); the cap is tested on the fresh samples "
        "alone"
    )
    facts = replace(prepared.run.facts, notes=(*prepared.run.facts.notes, note))
    return replace(prepared, planned=planned, run=replace(prepared.run, facts=facts))


def search_of(run: RunState, prepared: Prepared, scorer: Scorer, baseline: Baseline | None) -> SearchSource | None:
    """The search, whose steps are recorded with the run as they are asked for; None where the samples are listed."""
    search, engine = prepared.search, run.invocation.engine
    if search is None:
        return None

    def recorded(planned: Sequence[PlannedSample]) -> Iterator[Outcome]:
        run.store.extend(run.run_id, planned)
        # Those that failed before are asked again.
        return (each for each in recall(run.store, run.run_id, planned) if each.generation is not None)

    run.store.begin(prepared.run, ())
    replayed, pairs = search.replayed, None
    if run.invocation.task.longest_steps:
        replayed, pairs = pairs_at_longest(run.invocation, prepared, baseline)
    return SearchSource(
        path=Path(search.plan, search.rule),
        build=lambda key: planned_step(prepared, key),
        recall=recorded,
        score=scorer.score,
        ahead=engine.concurrency - 1 if engine.speculation is None else engine.speculation,
        replayed=replayed,
        pairs=pairs,
    )


def _record(
    run: RunState, prepared: Prepared, search: SearchSource | None, served: Served, before: StoredRun | None
) -> None:
    facts, known = prepared.run.facts, None if before is None else before.facts
    if search is not None and prepared.search is not None:
        asked = search.asked()
        run.reused = search.reused
        run.store.begin(prepared.run, asked)
        made = prepared.search.steps.maker.notes({item.sample.sample_id for item in asked})
        facts = replace(facts, notes=(*facts.notes, *made))
        if facts.replay is None and search.replayed:  # asked for comparisons with this run
            steps = {length: number + 1 for length, number in sorted(search.replayed)}
            facts = replace(facts, replay=Replay(run_id=run.run_id, steps=steps))
    in_use = served.cache or (known.cache.in_use if known and known.cache else None)
    if facts.cache is not None and in_use is not None:
        facts = replace(facts, cache=replace(facts.cache, in_use=in_use))
    # What the server would not take is known only where it was asked.
    facts = replace(facts, server=tuple(served.lines if known is None else known.server))
    run.store.change_facts(run.run_id, lambda _: facts)


async def _recheck(run: RunState, runner: Runner, prepared: Prepared, asked: Sequence[PlannedSample]) -> None:
    """Where the server was slower from some length on, ask new texts of the shortest: is it as fast as at first?

    The run is complete without them. Only what was answered becomes a part of it, and the rest is no fault.
    """
    from contextcliff.analysis.bins import group
    from contextcliff.analysis.prefill import FEWEST, slowdown, times_by_length

    settings, designed = run.invocation.analysis, run.invocation.task.traits.designed_lengths
    ended = (
        ScoredSample(
            sample=each.sample, prompt_sha256=each.prompt_sha256, score=None, failure=each.unscored, prediction="",
            generation=each.generation,
        )
        for each in recall(run.store, run.run_id, asked) if each.sample.is_ordinary
    )  # fmt: skip
    groups = group(ended, designed_lengths=designed, bins=settings.bins)
    times = times_by_length(groups)
    if slowdown(times, settings.confidence) is None:
        return
    shortest = next(each.samples for each in groups if each.asked_tokens == times[0].asked_tokens)
    n = max(FEWEST, run.invocation.engine.concurrency)
    new = (_with_new_beginning(shortest[i % len(shortest)].sample, run.run_id, i) for i in range(n))
    planned = planned_samples(
        TaskPlan(samples=tuple(new)), prepared.materials.corpus, prepared.respondent, served=prepared.served
    )
    source = Listed(run.store.missing(planned))
    with suppress(RunError), _progress(run.invocation, source):  # a server that is gone by now costs the warning alone
        async with Stoppable() as stoppable:
            async for _ in runner.answers(source):
                pass
        run.stop = stoppable.stop
    missing = {item.key for item in run.store.missing(planned)}
    run.store.extend(run.run_id, [item for item in planned if item.key not in missing])


def _with_new_beginning(sample: Sample, run_id: str, number: int) -> Sample:
    """The sample as a control with a beginning of its own, so that no cache has its prompt."""
    digest = digest_of(RECHECK, run_id, number)
    words, turns, user = Words(text=f"{digest[:16]}\n\n"), sample.recipe.turns, sample.recipe.user
    recipe = replace(sample.recipe, user=(words, *user))
    if turns:
        first = replace(turns[0], user=(words, *turns[0].user))
        recipe = replace(sample.recipe, turns=(first, *turns[1:]))
    return replace(
        sample, sample_id=f"{sample.task}-{RECHECK}-{digest[:16]}", recipe=recipe, seed=seed_of(digest),
        built_tokens=sample.built_tokens + len(words.text), control=RECHECK, controls=(), cluster="", item="", repeat=0,
        step=None,
    )  # fmt: skip


def _progress(invocation: Invocation, source: Listed | SearchSource) -> AbstractContextManager[Progress]:
    place, shown = invocation.place, invocation.reporting.progress
    job = "" if place is None else f"job {place.job + 1}/{place.n_jobs} · "
    title = f"{job}{invocation.task_name} · {invocation.shown_model} · kv {invocation.shown_policy}"
    if isinstance(source, SearchSource):
        return progress_of(title, shown=shown)
    planned = source.planned
    tokens = sum(item.sample.built_tokens for item in planned)
    return progress_of(title, total_tokens=tokens, total_samples=len(planned), shown=shown and bool(planned))


def _standing(
    run: RunState, progress: Progress, search: SearchSource, ahead: SearchAhead | None
) -> Callable[[Sequence[LengthStanding]], None]:
    forecast_s, shown = time.monotonic(), run.invocation.reporting.progress

    def heard(standing: Sequence[LengthStanding]) -> None:
        nonlocal forecast_s
        progress.lengths(standing)
        run.live.lengths(standing)
        if ahead is not None and shown and time.monotonic() - forecast_s > _FORECAST_EVERY_S:
            progress.expect(ahead.tokens_left(search.complete))
            forecast_s = time.monotonic()

    return heard


def _length_watch(
    run: RunState, prepared: Prepared, missing: Sequence[PlannedSample], scorer: Scorer
) -> Callable[[Outcome], str | None]:
    """Says the mean of a length at its last answer, to the tracker too; nothing if scores are not known on the way."""
    invocation, traits = run.invocation, run.invocation.task.traits
    late = prepared.search or invocation.embedder is not None or traits.is_judged or not traits.designed_lengths
    if late:
        return lambda _: None
    left = Counter(item.sample.context_tokens for item in missing if item.sample.is_ordinary)
    to_send = {item.key for item in missing}
    ended: defaultdict[int, list[Outcome]] = defaultdict(list)
    for each in recall(run.store, run.run_id, [item for item in prepared.planned if item.key not in to_send]):
        if each.sample.is_ordinary:
            ended[each.sample.context_tokens].append(each)

    def heard(outcome: Outcome) -> str | None:
        length = outcome.sample.context_tokens
        if not outcome.sample.is_ordinary or length not in left:
            return None
        ended[length].append(outcome)
        left[length] -= 1
        scores = [] if left[length] else [scorer.score(each).score for each in ended.pop(length)]
        known = [score for score in scores if score is not None]
        if not known:
            return None
        mean, n = fmean(known), len(known)
        run.live.length(length, mean, n)
        return f"{length:,} tokens: mean score {mean:.2f}, {n:,} sample{'' if n == 1 else 's'}"

    return heard
