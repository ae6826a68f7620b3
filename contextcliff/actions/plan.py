"""Action `plan`: what a run would send, cost, hold in memory, take, and be able to show. Sends no prompt."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from contextcliff.actions.action import Invocation, settled
from contextcliff.actions.ahead import (
    SCORE,
    Load,
    SearchAhead,
    best_case_of,
    impossible_cap,
    load_of,
    refuse_beyond,
    search_ahead,
    tested_quantity,
    unreachable_cap,
)
from contextcliff.actions.analyse import price_left_out
from contextcliff.actions.like import read_baseline, replay_notes, with_replay
from contextcliff.actions.prepare import Prepared, check_search, deployment, prepare, stored_before
from contextcliff.actions.report import manifest_of
from contextcliff.analysis.forecast import chance_to_clear, chance_to_pass
from contextcliff.analysis.limits import memory_cap, memory_of
from contextcliff.analysis.notes import beyond_trained, notes_of_control_tokens
from contextcliff.analysis.walk import AbsoluteThreshold
from contextcliff.engines.engine import Download, Served
from contextcliff.errors import ConfigError, ExitCode, RunError, UnreachableError
from contextcliff.execution.budget import NOTHING, Cost, Meter, answer_tokens
from contextcliff.execution.store import PlannedSample, Store
from contextcliff.findings.kv_cache import memory_words
from contextcliff.findings.phrases import duration
from contextcliff.models.model import dollars
from contextcliff.records.corpus import LengthAudit
from contextcliff.records.report import shown_model
from contextcliff.records.run_plan import JudgePlan, Plan, PlanBin, RunSize, SearchCourse
from contextcliff.records.sample import Sample
from contextcliff.settings import PositiveFloat, settings
from contextcliff.text.tokenizers import WordTokenizer
from contextcliff.text.tokens import Tokenizer

_SCORES = (SCORE, 0.95, 0.90)
"""True scores for which a plan says the chance that a length clears."""
_FALLEN = 0.05
"""The true score beyond the middle length, where the plan lets it fall."""
_ENDS_THERE = "; what is decided when the budget is used up is the answer"


@settings
class MakePlan:
    """Rates that are given win over measured ones."""

    prefill_tokens_per_s: PositiveFloat | None = None
    decode_tokens_per_s: PositiveFloat | None = None

    def __call__(self, invocation: Invocation) -> ExitCode:
        """Print the plan and write `plan.json`. An engine whose weights are at hand is opened to count tokens."""
        from contextcliff.reporting.plan_report import render_plan, write_plan
        from contextcliff.reporting.stored_reports import REPORT_NAME

        invocation.identify()  # raises for a policy or weights that the engine can't have
        check_search(invocation)
        download = invocation.engine.download(invocation.model)
        with Store(invocation.output_dir) as store:

            def planned(invocation: Invocation, prepared: Prepared, remarks: tuple[str, ...]) -> _Planned:
                # The first job of a sweep that is planned need not have run.
                baseline = None if invocation.like == "" else read_baseline(invocation)
                prepared = with_replay(invocation, invocation.identify(), prepared, baseline)
                return invocation, prepared, self._planner(invocation, prepared, store).plan(download, remarks)

            invocation, prepared, plan = _while_prepared(invocation, store, download, planned)
        write_plan(plan, folder=invocation.output_dir)
        invocation.on_planned(plan)
        before = invocation.experiment / plan.run_id
        if (before / REPORT_NAME).is_file():
            invocation.on_reported(before)
        audit = prepared.run.facts.audit
        if audit is not None:
            _write_draw(invocation, prepared, audit)
        if invocation.reporting.prints:
            render_plan(plan, folder=invocation.output_dir, audit=audit)
        return ExitCode.DONE

    def _planner(self, invocation: Invocation, prepared: Prepared, store: Store) -> _Planner:
        facts, ahead, planned = prepared.run.facts, None, prepared.planned
        if prepared.search is not None:
            ahead = search_ahead(invocation, invocation.identify(), prepared, prepared.search, store)
            planned = ahead.planned
        prefill, decode = store.rates(model=facts.model, engine=facts.engine)
        return _Planner(
            invocation=invocation,
            prepared=prepared,
            ahead=ahead,
            missing=store.missing(prepared.planned) if ahead is None else ahead.least,
            prefill_tokens_per_s=self.prefill_tokens_per_s or prefill,
            decode_tokens_per_s=self.decode_tokens_per_s or decode,
            whole_judge=_judging(invocation, prepared.run.run_id, planned, store),
        )


_Planned = tuple[Invocation, Prepared, Plan]
"""With what a server tells of itself, and what is replayed."""
_Plan = Callable[[Invocation, Prepared, tuple[str, ...]], _Planned]
"""Takes the samples, with the model that would answer them, and what is to be said of how they were counted."""


def _while_prepared(invocation: Invocation, store: Store, download: Download | None, plan: _Plan) -> _Planned:
    """Prepare the samples and plan with them, while the engine that counts their tokens is open.

    Nothing is fetched. A server is asked only where it can tell more than the configuration does; one that is not up
    yet is planned for by what the configuration says of it.
    """
    engine = invocation.engine
    words = WordTokenizer()

    def estimated(served: Served, *remarks: str, own: Tokenizer | None = words) -> _Planned:
        prepared = prepare(invocation, invocation.identify(), own=own, served=served, estimate=words)
        return plan(invocation, prepared, remarks)

    async def counted(invocation: Invocation) -> _Planned:
        async with invocation.engine.open(deployment(invocation)) as session:
            prepared = prepare(invocation, invocation.identify(), own=session.tokenizer, served=session.served)
            return plan(invocation, prepared, ())

    if download is not None:
        return estimated(Served())
    known = engine.known(invocation.model)
    if known is not None and (known.model is None or known.window is None):
        known = None
    if known is not None and not engine.may_have_tokenizer:
        return estimated(known, *_missing_key(invocation), own=None)
    if known is not None and not engine.is_remote:
        return estimated(known, "tokens are estimated: a plan does not start the server")
    try:
        engine.check()
        return asyncio.run(counted(settled(invocation, store)))
    except UnreachableError as error:
        if known is None:
            raise
        return estimated(known, f"tokens are estimated: {error}")


def _missing_key(invocation: Invocation) -> tuple[str, ...]:
    """A plan needs no key; that the run will is said."""
    try:
        invocation.engine.check()
    except ConfigError as error:
        return (f"the run will stop at once: {error}",)
    return ()


def _write_draw(invocation: Invocation, prepared: Prepared, audit: LengthAudit) -> None:
    """The manifest of what would be asked, and the picture of how long the documents are."""
    from contextcliff.findings.natural_lengths import audit_figure
    from contextcliff.reporting.figures import write_figure
    from contextcliff.reporting.files import write_manifest

    folder, dpi = invocation.output_dir, invocation.reporting.figure_dpi
    write_manifest(manifest_of(invocation, prepared.run, prepared.planned, prepared.documents), folder=folder)
    path = folder / "length_histogram.png"
    if dpi is None:
        path.unlink(missing_ok=True)
    else:
        title = f"Documents by length: {prepared.run.facts.dataset}"
        write_figure(audit_figure(audit, title=title), path=path, dpi=dpi)


def _judging(invocation: Invocation, run_id: str, planned: Sequence[PlannedSample], store: Store) -> JudgePlan | None:
    """What the judge would be asked, at its worst; its engine is not opened."""
    judge = invocation.judge
    if judge is None:
        return None
    judge.check(invocation.budget)
    ahead = judge.requests_ahead(planned, store, run_id=run_id, sampling=invocation.sampling)
    return JudgePlan(
        requests=len(ahead),
        prompt_tokens=sum(item.sample.built_tokens for item in ahead),
        completion_tokens=answer_tokens((item.sample for item in ahead), judge.sampling),
        usd=judge.meter(invocation.budget).worst(ahead).usd,
    )


@dataclass(frozen=True, kw_only=True)
class _Planner:
    """All that a plan is made of."""

    invocation: Invocation
    prepared: Prepared
    ahead: SearchAhead | None
    """None where the number of samples is fixed."""
    missing: Sequence[PlannedSample]
    """What is not stored; of a search, what a perfect model would be asked."""
    prefill_tokens_per_s: float | None
    decode_tokens_per_s: float | None
    whole_judge: JudgePlan | None
    """Of all samples; of a search, of those that a perfect model would be asked."""

    def plan(self, download: Download | None, remarks: Sequence[str]) -> Plan:
        from contextcliff.statistics.sample_size import detectable_drop

        facts, confidence, ahead = self.prepared.run.facts, self.invocation.analysis.confidence, self.ahead
        _, load = self._expected
        # Repeats of one question, and samples that one generation answers, are one piece of evidence.
        items = {(sample.document_id, sample.item or sample.sample_id): sample for sample in self._ordinary}
        evidence = Counter(self._length_of[sample.sample_id] for sample in items.values())
        size = self._size(load)
        memory = None if facts.cache is None else memory_of(facts.cache)
        return Plan(
            run_id=self.prepared.run.run_id,
            model=shown_model(facts.model, engine=facts.engine),
            engine=facts.engine,
            tokenizer=facts.tokenizer,
            samples=size.samples,
            controls=round(load.controls),
            stored=stored_before(self.prepared.planned, self.missing) if ahead is None else ahead.stored,
            prompt_tokens=size.prompt_tokens,
            cached_prompt_tokens=round(load.cached_tokens),
            completion_tokens=round(load.completion_tokens),
            usd=size.usd,
            wall_s=size.wall_s,
            download=None if download is None else download.name,
            download_gib=None if download is None else download.gib,
            detectable_drop=detectable_drop(min(evidence.values()), confidence=confidence),
            confidence=confidence,
            bins=self._bins,
            notes=tuple(self._notes(download, remarks)),
            judge=self._judge(load),
            least=None if ahead is None else self._size(self._least),
            most=None if ahead is None else self._size(ahead.most),
            memory_gib=memory,
            memory_cap_tokens=None if facts.cache is None or memory is None else memory_cap(facts.cache, memory),
            search=None if ahead is None else self._course(ahead),
        )

    @cached_property
    def _least(self) -> Load:
        return load_of(self.missing, self.invocation.sampling, self.invocation.model.price)

    @cached_property
    def _ordinary(self) -> Sequence[Sample]:
        return [item.sample for item in self.prepared.planned if item.sample.is_ordinary]

    @cached_property
    def _length_of(self) -> Mapping[str, int]:
        """The length of a sample by its id: the designed one, or the longest of its bin where texts have their own."""
        places = {each.sample_id: each.context_tokens if each.bin is None else each.bin for each in self._ordinary}
        longest: Counter[int] = Counter()
        for each in self._ordinary:
            place = places[each.sample_id]
            longest[place] = max(longest[place], each.context_tokens)
        return {sample_id: longest[place] for sample_id, place in places.items()}

    @cached_property
    def _expected(self) -> tuple[Mapping[int, float], Load]:
        """Samples to send at each length, and the load of all."""
        if self.ahead is not None:
            return self.ahead.expected(lambda _: SCORE)
        sent = (item.sample for item in self.missing if item.sample.is_ordinary)
        return dict(Counter(self._length_of[sample.sample_id] for sample in sent)), self._least

    @cached_property
    def _bins(self) -> tuple[PlanBin, ...]:
        samples, lengths = self._expected[0], sorted(set(self._length_of.values()))
        clears = self._clears(lengths)
        cache, sampling = self.prepared.run.facts.cache, self.invocation.sampling
        answer = max(sampling.for_answer(sample.answer_tokens).generated_tokens for sample in self._ordinary)
        return tuple(
            PlanBin(
                context_tokens=length,
                samples=round(samples.get(length, 0)),
                kv_gib=None if cache is None else cache.gib(length + answer),
                clears=clears.get(length),
            )
            for length in lengths
        )

    def _clears(self, lengths: Sequence[int]) -> Mapping[int, Mapping[str, float] | None]:
        """By length, the chance that it is shown above the threshold, for each of some true scores."""
        task = self.invocation.task
        if self.ahead is not None:
            plan, rule = self.ahead.search.plan, self.ahead.search.rule
            clears = _named({rate: chance_to_pass(plan, rule, rate) for rate in _SCORES})
            return dict.fromkeys(plan.lengths[1:] if rule.relative else plan.lengths, clears)
        if task.traits.graded and task.traits.cap_quantity == "score":
            return {}
        best = best_case_of(self.invocation, self.prepared)
        results = zip(lengths, best.sequence.results, strict=True)
        return {
            length: _named({rate: chance_to_clear(result, best.threshold, rate) for rate in _SCORES})
            for length, result in results
        }

    def _size(self, load: Load) -> RunSize:
        judge, prefill, decode = self._judge(load), self.prefill_tokens_per_s, self.decode_tokens_per_s
        known = [usd for usd in (self._usd(load), None if judge is None else judge.usd) if usd is not None]
        answers_s = 0.0 if decode is None else load.completion_tokens / decode
        return RunSize(
            samples=round(load.samples),
            prompt_tokens=round(load.prompt_tokens),
            usd=sum(known) if known else None,
            wall_s=None if prefill is None else load.computed_tokens / prefill + answers_s,
        )

    def _usd(self, load: Load) -> float | None:
        return load.usd if self.invocation.model.price.is_known else None

    def _judge(self, load: Load) -> JudgePlan | None:
        judge = self.whole_judge
        if judge is None or self.ahead is None:
            return judge
        share = self.ahead.share(load)
        return JudgePlan(
            requests=round(share * judge.requests),
            prompt_tokens=round(share * judge.prompt_tokens),
            completion_tokens=round(share * judge.completion_tokens),
            usd=None if judge.usd is None else share * judge.usd,
        )

    def _course(self, ahead: SearchAhead) -> SearchCourse:
        plan = ahead.search.plan
        falls_at = plan.lengths[len(plan.lengths) // 2]
        _, load = ahead.expected(lambda length: SCORE if length < falls_at else _FALLEN)
        return SearchCourse(
            block=plan.block,
            most_samples=plan.most_blocks * plan.block,
            refine=plan.refine,
            score=SCORE,
            falls_to=_FALLEN,
            falls_at_tokens=falls_at,
            if_it_falls=self._size(load),
        )

    def _notes(self, download: Download | None, remarks: Sequence[str]) -> Iterator[str]:
        invocation, prepared, (_, load) = self.invocation, self.prepared, self._expected
        facts, task, judge = prepared.run.facts, invocation.task, self._judge(load)
        first = tested_quantity(invocation), impossible_cap(invocation, prepared), unreachable_cap(invocation, prepared)
        yield from (note for note in first if note is not None)
        yield from replay_notes(invocation, prepared)
        yield from remarks
        if prepared.search is not None:
            yield from prepared.search.blocks.maker.notes({item.sample.sample_id for item in prepared.planned})
        yield from facts.notes
        yield from map(str, beyond_trained(facts.positions, facts.context_window))
        yield from map(str, notes_of_control_tokens(facts.control_tokens, kept=facts.keeps_control_tokens))
        if judge is not None and (self._usd(load) is None) is not (judge.usd is None):
            yield price_left_out(judge=judge.usd is None)
        if task.traits.graded and task.traits.cap_quantity == "score":
            yield (
                "the fall that is detected is one of right-or-wrong scores; those of prose are fractions and spread "
                "less: a run says how many rounds would settle it"
            )
        if download is not None:
            yield "the weights are not here yet: tokens are estimated, and the run would fetch them first"
        if self.prefill_tokens_per_s is None:
            yield (
                "no rate is known: give action.prefill_tokens_per_s (and action.decode_tokens_per_s), or run a few "
                "samples"
            )
        if self.ahead is None:
            yield from self._no_chances()
        yield from self._beyond_budget(load)
        yield from self._beyond_memory()

    def _no_chances(self) -> Iterator[str]:
        """Why a plan leaves out the chance that a length clears."""
        best = best_case_of(self.invocation, self.prepared)
        why = None if isinstance(best.threshold, AbsoluteThreshold) else "the score of the baseline"
        if any(result.sharing for result in best.sequence.results):
            why = "how alike the samples of one text are"
        if why is not None:
            yield f"the chance that a length clears is not given: it depends on {why}"

    def _beyond_budget(self, load: Load) -> Iterator[str]:
        """Why the run would be refused, or which limits it is expected to reach."""
        budget, size = self.invocation.budget, self._size(load)
        meter = Meter(budget, self.invocation.model.price, sampling=self.invocation.sampling)
        judge = self._judge(self._least)
        tokens = 0 if judge is None else judge.prompt_tokens + judge.completion_tokens
        beside = NOTHING if judge is None else Cost(tokens=tokens, usd=judge.usd)
        try:
            refuse_beyond(meter, self.missing, self.ahead, beside=beside)
        except RunError as error:
            yield str(error)
            return
        tokens = round(load.prompt_tokens + load.completion_tokens)
        if budget.minutes is not None and size.wall_s is not None and size.wall_s > 60.0 * budget.minutes:
            yield f"budget.minutes={budget.minutes:g}: the run would take about {duration(size.wall_s)}{_ENDS_THERE}"
        if budget.tokens is not None and tokens > budget.tokens:
            yield f"budget.tokens={budget.tokens:,}: the run would take about {tokens:,} tokens{_ENDS_THERE}"
        limit = budget.most_usd
        if limit is not None and size.usd is not None and size.usd > limit:
            most = f"auto: at most {dollars(limit)} are spent" if budget.usd == "auto" else f"{limit:g}"
            yield f"budget.usd={most}: the run would cost about {dollars(size.usd)}{_ENDS_THERE}"

    def _beyond_memory(self) -> Iterator[str]:
        """The first length whose KV cache does not fit beside the weights."""
        cache = self.prepared.run.facts.cache
        memory = None if cache is None else memory_of(cache)
        if cache is None or memory is None or cache.weights_gib is None:
            return
        for each in self._bins:
            if each.kv_gib is not None and cache.weights_gib + each.kv_gib > memory:
                yield (
                    f"from {each.context_tokens:,} tokens on the KV cache ({memory_words(each.kv_gib)}) and the "
                    f"weights ({memory_words(cache.weights_gib)}) take more than the {memory_words(memory)} that there "
                    "are"
                )
                return


def _named(chances: Mapping[float, float | None]) -> Mapping[str, float] | None:
    """Chances by the true score as text; None if one of them is unknown."""
    known = {f"{rate:.2f}": chance for rate, chance in chances.items() if chance is not None}
    return known if len(known) == len(chances) else None
