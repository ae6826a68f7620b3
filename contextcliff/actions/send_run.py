"""The second stage of a run: what is prepared and not stored yet is sent, and every answer kept."""

from __future__ import annotations

import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from statistics import fmean

from contextcliff.actions.action import Identity, Invocation
from contextcliff.actions.like import read_baseline, with_replay
from contextcliff.actions.live_tracking import LiveTracking
from contextcliff.actions.prepare_run import Prepared, prepare, stored_before
from contextcliff.actions.required_cap import (
    announce,
    impossible_cap,
    minutes,
    tested_quantity,
    unreachable_cap,
)
from contextcliff.actions.rest_of_search import SearchAhead, refuse_beyond, search_ahead
from contextcliff.actions.search_run import SearchRun
from contextcliff.annotation.ask_annotators import check_embedder, judge_meter, requests_ahead
from contextcliff.engines.engine import Deployment
from contextcliff.errors import tell
from contextcliff.execution.budget import NOTHING, Budget, Cost, Meter
from contextcliff.execution.runner import Runner, send_listed
from contextcliff.execution.scoring import Scorer, outcome_of, recall
from contextcliff.execution.stopping import Stop, signalled
from contextcliff.execution.store import Fault, PlannedSample, Store, StoredRun
from contextcliff.models.model import dollars
from contextcliff.records.corpus import Document
from contextcliff.records.generation import Outcome
from contextcliff.records.kv_cache import CacheInUse
from contextcliff.records.sample import Sample
from contextcliff.records.search_record import LengthStanding
from contextcliff.tasks.task import Task
from contextcliff.tracking.tracker import LengthPoint


def has_pilot(prepared: Prepared) -> bool:
    """Whether some samples are sent first, to say which others are."""
    return any(item.sample.pilot for item in prepared.planned)


def first_stage(prepared: Prepared) -> Prepared:
    """The pilot alone, with the controls."""
    return replace(prepared, planned=tuple(item for item in prepared.planned if not item.sample.is_ordinary))


def after_pilot(
    invocation: Invocation, identity: Identity, store: Store, prepared: Prepared, scorer: Scorer
) -> Prepared:
    """The pilot and the samples of the bins that it points to, with a note of what was saved.

    The same pilot gives the same choice, so that a run that was stopped goes on where it was.
    """
    from contextcliff.analysis.bins import bins_to_fill

    asked = [item for item in prepared.planned if item.sample.pilot]
    outcomes = recall(store, identity.run_id, asked)
    scored = [scorer.score(outcome) for outcome in outcomes]
    settings = invocation.analysis
    chosen = bins_to_fill(
        scored,
        threshold=settings.threshold,
        relative=settings.is_relative(by_default=invocation.task.traits.relative_by_default),
    )
    planned = tuple(item for item in prepared.planned if not item.sample.is_ordinary or item.sample.bin in chosen)
    whole = sum(item.sample.built_tokens for item in prepared.planned)
    left = sum(item.sample.built_tokens for item in planned)
    bins = sorted({item.sample.bin for item in prepared.planned if item.sample.bin is not None})
    numbers = ", ".join(str(position + 1) for position in chosen)
    note = (
        f"a pilot of {len(asked):,} samples pointed to bins {numbers} of {len(bins)}; only those were filled, which "
        f"saved {whole - left:,} of {whole:,} prompt tokens ({(whole - left) / whole:.0%}); the cap is tested on the "
        "fresh samples alone"
    )
    facts = replace(prepared.run.facts, notes=(*prepared.run.facts.notes, note))
    return replace(prepared, planned=planned, run=replace(prepared.run, facts=facts))


@dataclass(frozen=True, kw_only=True, slots=True)
class Sent:
    """How sending ended. `reused` counts the samples that a stored generation answered before."""

    reused: int
    stop: Stop | None
    left: Budget
    """Of the invocation's budget."""
    documents: Mapping[str, Document]
    """Those that the prompts were cut from."""
    outcomes: tuple[Outcome, ...] = ()
    """Of this invocation, where nothing of it is stored."""
    scorer: Scorer | None = None
    """With the scores that are known already; None where a pilot chose the samples."""
    rest: Cost | None = None
    """Most that what is left takes, where the budget ran out."""


async def send(
    invocation: Invocation, identity: Identity, deployment: Deployment, store: Store, live: LiveTracking
) -> Sent:
    """Prepare the samples with the open engine, and send what the store has no answer to; `live` hears of it.

    Raises `OverBudgetError` before anything is sent.
    """
    meter = Meter(invocation.budget, invocation.model.price, sampling=invocation.sampling)
    async with invocation.engine.open(deployment) as session:
        prepared = prepare(invocation, identity, own=session.tokenizer, served=session.served)
        prepared = with_replay(invocation, identity, prepared, read_baseline(invocation))
        ahead = None
        if prepared.search is not None:
            ahead = search_ahead(invocation, identity, prepared, prepared.search, store)
        missing = store.missing(prepared.planned) if ahead is None else ahead.least
        judging = _worst_of_judge(invocation, prepared.planned if ahead is None else ahead.planned, prepared, store)
        refuse_beyond(meter, missing, ahead, beside=judging)
        if missing and invocation.reporting.progress:
            impossible = impossible_cap(invocation, prepared)
            tested = tested_quantity(invocation)
            _warn(impossible if impossible is None or tested is None else f"{impossible} ({tested})")
            _warn(unreachable_cap(invocation, prepared))
        least, most = meter.worst(missing) + judging, _worst(meter, missing, ahead, judging)
        if missing and invocation.reporting.progress:
            announce(invocation, prepared, missing, ahead, least=least, most=most, limit_usd=meter.limit_usd)
        if not _agreed(invocation, most.within(meter.limit_usd)):
            return Sent(reused=0, stop="declined", left=meter.remaining(), documents=prepared.documents)
        if missing and invocation.embedder is not None:
            check_embedder(invocation.embedder)
        if missing:
            live.begin()
        scorer = _scorer(invocation, prepared)
        watch = None if prepared.search is not None else _watch(invocation, prepared, missing, store, scorer, live)
        timed = invocation.reporting.progress and invocation.place is None
        takes = minutes(least, most, limit_usd=meter.limit_usd) if timed else None
        sender = _Sender(
            runner=Runner(
                session=session,
                sampling=invocation.sampling,
                documents=prepared.documents,
                store=store,
                run_id=identity.run_id,
                concurrency=invocation.engine.concurrency,
                tokens_in_flight=invocation.engine.tokens_in_flight,
                max_retries=invocation.engine.max_retries,
                may_repeat=meter.may_repeat,
            ),
            meter=meter,
            store=store,
            kept=_kept(invocation, prepared),
            title=_title(invocation),
            shown=invocation.reporting.progress,
            ended=_said_of((None if watch is None else watch.ended, takes)),
            lengths=live.lengths,
        )
        before = store.run(identity.run_id)
        searching, answered_before = None, 0
        if prepared.search is not None and ahead is not None:
            searching = SearchRun(
                invocation=invocation,
                identity=identity,
                prepared=prepared,
                search=prepared.search,
                store=store,
                scorer=scorer,
                ahead=ahead,
            )
            answered_before = await sender.search(searching)
        elif has_pilot(prepared):
            await sender.send(first_stage(prepared))
            if not sender.is_over:
                prepared = after_pilot(invocation, identity, store, prepared, scorer)
                missing = store.missing(prepared.planned)
        if searching is None and not sender.is_over:
            await sender.send(prepared)
        # What the server would not take is known only now, and only where it was asked.
        lines = session.served.lines if before is None or sender.asked else before.facts.server
        store.change_facts(identity.run_id, lambda facts: replace(facts, server=tuple(lines)))
        _record_cache(store, identity.run_id, prepared, session.served.cache, before if not sender.asked else None)
    ran_out = meter.ran_out and not sender.is_decided
    stop: Stop | None = signalled() if sender.cut_short else "out of budget" if ran_out else None
    rest = None
    if ran_out and invocation.budget.usd == "auto":
        if ahead is not None and searching is not None:
            ahead = replace(ahead, known=searching.answered)
        rest = _worst(meter, store.missing(prepared.planned), ahead, judging)
    planned = prepared.planned if searching is None else tuple(searching.asked)
    return Sent(
        reused=stored_before(prepared.planned, missing) if searching is None else answered_before,
        stop=stop,
        left=meter.remaining(),
        documents=prepared.documents,
        outcomes=tuple(outcome_of(item, None, sender.faults.get(item.key), own=False) for item in planned),
        scorer=None if has_pilot(prepared) or searching is not None else scorer,
        rest=rest,
    )


def _said_of(listeners: Iterable[Callable[[Outcome], str | None] | None]) -> Callable[[Outcome], str | None]:
    """What any of them says of an outcome."""
    known = [listener for listener in listeners if listener is not None]
    return lambda outcome: " · ".join(filter(None, [listener(outcome) for listener in known])) or None


def _record_cache(
    store: Store, run_id: str, prepared: Prepared, measured: CacheInUse | None, before: StoredRun | None
) -> None:
    """What the engine has as its cache by now; of a run that asked nothing, `before`, what was known then."""
    known = prepared.run.facts.cache
    if before is not None and before.facts.cache is not None:
        measured = measured or before.facts.cache.in_use
    if known is not None and measured is not None:
        cache = replace(known, in_use=measured)
        store.change_facts(run_id, lambda facts: replace(facts, cache=cache))


@dataclass(kw_only=True, slots=True)
class _Sender:
    """Sends the rounds of one run, and keeps how they ended."""

    runner: Runner
    meter: Meter
    store: Store
    kept: tuple[Document, ...]
    title: str
    shown: bool
    ended: Callable[[Outcome], str | None]
    """Hears of each outcome, and may say something of it."""
    lengths: Callable[[Sequence[LengthStanding]], None]
    """Hears how the lengths of a search stand."""
    faults: dict[str, Fault] = field(default_factory=dict)
    """By key, why samples have no answer."""
    cut_short: bool = False
    asked: bool = False
    """Whether anything was sent."""
    is_decided: bool = False
    """Whether a search came to its end."""

    @property
    def is_over(self) -> bool:
        """Whether a signal or the budget forbids another round."""
        return self.cut_short or self.meter.ran_out

    async def search(self, searching: SearchRun) -> int:
        """Record the run and search; returns how many samples were answered before."""
        sent = await searching.send(
            self.runner, self.meter, title=self.title, shown=self.shown, ended=self.ended, lengths=self.lengths
        )
        self.asked = self.asked or sent.n_sent > 0
        self.is_decided = sent.is_over
        self.cut_short = sent.ended.cut_short
        self.faults |= sent.ended.faults
        return sent.reused

    async def send(self, prepared: Prepared) -> None:
        """Record the run with these samples, and send those of them that have no answer."""
        self.store.begin(prepared.run, prepared.planned, self.kept)
        missing = self.store.missing(prepared.planned)
        self.asked = self.asked or bool(missing)
        sent = await send_listed(self.runner, missing, self.meter, title=self.title, shown=self.shown, ended=self.ended)
        self.cut_short = sent.cut_short
        self.faults |= sent.faults


def _title(invocation: Invocation) -> str:
    place = invocation.place
    job = "" if place is None else f"job {place.job + 1}/{place.n_jobs} · "
    return f"{job}{invocation.task_name} · {invocation.shown_model} · kv {invocation.shown_policy}"


def _watch(
    invocation: Invocation,
    prepared: Prepared,
    missing: Sequence[PlannedSample],
    store: Store,
    scorer: Scorer,
    live: LiveTracking,
) -> LengthWatch | None:
    """What sums up each length when it is complete; None where the scores are not known on the way."""
    unbinned = any(item.sample.bin is None and item.sample.is_ordinary for item in missing)
    late = invocation.embedder is not None or invocation.task.traits.is_judged
    if late or has_pilot(prepared) or (unbinned and not invocation.task.traits.designed_lengths):
        return None
    to_send = {item.key for item in missing}
    before = [item for item in prepared.planned if item.key not in to_send]
    answered = recall(store, prepared.run.run_id, before)
    return LengthWatch.of(invocation.task, scorer, missing=missing, answered=answered, tell=live.point)


def _kept(invocation: Invocation, prepared: Prepared) -> tuple[Document, ...]:
    """The documents that scoring reads, which are kept with the run."""
    if not invocation.task.traits.reads_documents:
        return ()
    asked = {item.sample.document_id for item in prepared.planned}
    return tuple(document for name, document in prepared.documents.items() if name in asked)


def _scorer(invocation: Invocation, prepared: Prepared) -> Scorer:
    return Scorer(invocation.task, [item.sample for item in prepared.planned], prepared.documents)


def _worst(meter: Meter, missing: Sequence[PlannedSample], ahead: SearchAhead | None, judging: Cost) -> Cost:
    """Most that the run can take, and its judge, of which `judging` is known; a search can ask more than is planned."""
    if ahead is None:
        return meter.worst(missing) + judging
    most, known = ahead.most, ahead.invocation.model.price.is_known
    tokens = round(most.prompt_tokens) + round(most.completion_tokens)
    return Cost(tokens=tokens, usd=most.worst_usd if known else None) + judging.times(ahead.share(most))


def _worst_of_judge(invocation: Invocation, planned: Sequence[PlannedSample], prepared: Prepared, store: Store) -> Cost:
    """Most that the judge of a run can take yet; nothing where there is none."""
    judge = invocation.judge
    if judge is None:
        return NOTHING
    ahead = requests_ahead(judge, planned, store, run_id=prepared.run.run_id, sampling=invocation.sampling)
    return judge_meter(judge, invocation.budget).worst(ahead)


def _warn(beforehand: str | None) -> None:
    """Say beforehand, beside the progress, that no cap will come, or not the required one; the plan says it too."""
    if beforehand is not None:
        tell(f"warning: {beforehand}")


def _agreed(invocation: Invocation, worst: Cost) -> bool:
    """Ask for consent to a paid run at a terminal. A budget is consent, and so is a run without a terminal."""
    if not worst.usd or invocation.budget.is_set or not (sys.stdin.isatty() and sys.stderr.isatty()):
        return True
    sys.stderr.write(f"This run can cost {dollars(worst.usd, at_most=True)} ({worst.tokens:,} tokens). Go on? [y/N] ")
    sys.stderr.flush()
    return sys.stdin.readline().strip().lower() in ("y", "yes")


@dataclass(kw_only=True, slots=True)
class LengthWatch:
    """Counts the outcomes of each length, and scores them when the last one is there."""

    task: Task
    scorer: Scorer
    tell: Callable[[LengthPoint], None]
    """Hears the mean score of each length that the task designs."""
    _left: Counter[int]
    """Samples without an outcome, by length or, where documents have their own, by bin."""
    _ended: defaultdict[int, list[Outcome]]

    @classmethod
    def of(
        cls,
        task: Task,
        scorer: Scorer,
        *,
        missing: Sequence[PlannedSample],
        answered: Iterable[Outcome],
        tell: Callable[[LengthPoint], None],
    ) -> LengthWatch:
        """A watch over `missing`; what was `answered` before counts in the means of its length."""
        ended: defaultdict[int, list[Outcome]] = defaultdict(list)
        for outcome in answered:
            if outcome.sample.is_ordinary:
                ended[_place(outcome.sample)].append(outcome)
        left = Counter(_place(item.sample) for item in missing if item.sample.is_ordinary)
        return cls(task=task, scorer=scorer, tell=tell, _left=left, _ended=ended)

    def ended(self, outcome: Outcome) -> str | None:
        """One more sample has its answer, or has failed for good. Returns the averages of a length that is complete."""
        place = _place(outcome.sample)
        if not outcome.sample.is_ordinary or place not in self._left:
            return None
        self._ended[place].append(outcome)
        self._left[place] -= 1
        if self._left[place]:
            return None
        scored = [self.scorer.score(each) for each in self._ended.pop(place)]
        scores = [each.score for each in scored if each.score is not None]
        if not scores:
            return None
        mean = fmean(scores)
        if outcome.sample.bin is None:
            self.tell(LengthPoint(context_tokens=place, score=mean, n_samples=len(scores)))
        name = f"{place:,} tokens" if outcome.sample.bin is None else f"bin {place + 1}"
        n = f"{len(scores):,} sample{'' if len(scores) == 1 else 's'}"
        figures = self.task.answer_figures(_means(each.details for each in scored if each.score is not None))
        return " · ".join((f"{name}: mean score {mean:.2f}, {n}", *figures))


def _place(sample: Sample) -> int:
    return sample.context_tokens if sample.bin is None else sample.bin


def _means(details: Iterable[Mapping[str, float]]) -> dict[str, float]:
    """Of each detail over the answers that have it."""
    values: defaultdict[str, list[float]] = defaultdict(list)
    for each in details:
        for name, value in each.items():
            values[name].append(value)
    return {name: fmean(found) for name, found in values.items()}
