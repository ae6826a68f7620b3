"""Action `plan`: what a run would send, cost, hold in memory, take, and be able to show. Sends no prompt."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property

from contextcliff.actions.action import Invocation, settled
from contextcliff.actions.ahead import SCORE, Ahead, Load, SearchAhead, best_case_of, hopeless, load_of
from contextcliff.actions.analyse import price_left_out
from contextcliff.actions.like import read_baseline, replay_notes, with_replay
from contextcliff.actions.prepare import Prepared, deployment, prepare, search_rule, stored_before
from contextcliff.actions.report import manifest_of
from contextcliff.actions.track import title_of, track_result
from contextcliff.analysis.forecast import chance_to_clear
from contextcliff.analysis.limits import memory_cap, memory_of
from contextcliff.analysis.notes import beyond_trained, notes_of_control_tokens
from contextcliff.engines.engine import Served
from contextcliff.errors import ConfigError, ExitCode, RunError, UnreachableError
from contextcliff.execution.budget import Meter
from contextcliff.execution.store import Store
from contextcliff.findings.phrases import duration
from contextcliff.models.model import dollars
from contextcliff.records.report import shown_model
from contextcliff.records.run_plan import Course, JudgePlan, Plan, PlanBin, RunSize, SearchCourse
from contextcliff.records.sample import Sample
from contextcliff.settings import PositiveFloat, settings
from contextcliff.text.tokenizers import WordTokenizer
from contextcliff.text.tokens import Tokenizer

_SCORES = (SCORE, 0.95, 0.90)


@settings
class MakePlan:
    """Rates that are given win over measured ones."""

    prefill_tokens_per_s: PositiveFloat | None = None
    decode_tokens_per_s: PositiveFloat | None = None
    track: bool = False

    def __call__(self, invocation: Invocation) -> ExitCode:
        """Print the plan and write `plan.json`. An engine whose weights are at hand is opened to count tokens."""
        from contextcliff.reporting.plan_report import PLAN_NAME, render_plan, write_plan
        from contextcliff.reporting.stored_reports import REPORT_NAME

        invocation.identify()  # raises for a policy or weights that the engine can't have
        if invocation.task.traits.is_searched:
            search_rule(invocation)  # raises for a search that could decide nothing
        if invocation.judge is not None:
            invocation.judge.check(invocation.budget)
        with Store(invocation.output_dir) as store:
            ahead, plan = self._while_prepared(invocation, store)
        write_plan(plan, folder=invocation.output_dir)
        invocation.on_planned(plan)
        before = invocation.experiment / plan.run_id
        if (before / REPORT_NAME).is_file():
            invocation.on_reported(before)
        audit = ahead.prepared.run.facts.audit
        if audit is not None:
            from contextcliff.reporting.files import write_manifest  # few plans need it

            prepared = ahead.prepared
            drawn = manifest_of(ahead.invocation, prepared.run, prepared.planned, prepared.documents)
            write_manifest(drawn, folder=invocation.output_dir)
        if self.track:
            tags = {"model": plan.model, "engine": plan.engine, "kv_policy": invocation.shown_policy}
            track_result(
                invocation, "plan", plan.run_id, folder=invocation.output_dir, files=PLAN_NAME,
                title=f"plan · {title_of(invocation)}", numbers={"plan": asdict(plan)}, tags=tags,
            )  # fmt: skip
        if invocation.reporting.prints:
            render_plan(plan, folder=invocation.output_dir, audit=audit)
        return ExitCode.DONE

    def _while_prepared(self, invocation: Invocation, store: Store) -> tuple[Ahead, Plan]:
        """Plan while the engine that counts tokens is open. Nothing is fetched; no server tells what is known."""
        engine, words = invocation.engine, WordTokenizer()
        download, known = engine.download(invocation.model), engine.known(invocation.model)

        def planned(invocation: Invocation, prepared: Prepared, *remarks: str) -> tuple[Ahead, Plan]:
            # The first job of a sweep that is planned need not have run.
            baseline = None if invocation.like == "" else read_baseline(invocation)
            prepared = with_replay(invocation, prepared, baseline)
            meter = Meter(invocation.budget, invocation.model.price, sampling=invocation.sampling)
            ahead = Ahead.of(invocation, prepared, store, meter)
            prefill, decode = store.rates(model=prepared.run.facts.model, engine=prepared.run.facts.engine)
            planner = _Planner(
                ahead=ahead,
                prefill_tokens_per_s=self.prefill_tokens_per_s or prefill,
                decode_tokens_per_s=self.decode_tokens_per_s or decode,
            )
            return ahead, planner.plan(download, remarks)

        def estimated(served: Served, *remarks: str, own: Tokenizer | None = words) -> tuple[Ahead, Plan]:
            return planned(invocation, prepare(invocation, own=own, served=served, estimate=words), *remarks)

        async def counted(invocation: Invocation) -> tuple[Ahead, Plan]:
            async with engine.open(deployment(invocation)) as session:
                return planned(invocation, prepare(invocation, own=session.tokenizer, served=session.served))

        if download is not None:
            note = "the weights are not here yet: tokens are estimated, and the run would fetch them first"
            return estimated(Served(), note)
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
    try:
        invocation.engine.check()
    except ConfigError as error:
        return (f"the run will stop at once: {error}",)
    return ()


@dataclass(frozen=True, kw_only=True)
class _Planner:
    """All that a plan is made of."""

    ahead: Ahead
    prefill_tokens_per_s: float | None
    decode_tokens_per_s: float | None

    def plan(self, download: tuple[str, float | None] | None, remarks: Sequence[str]) -> Plan:
        from contextcliff.statistics.sample_size import detectable_drop

        ahead, confidence = self.ahead, self.ahead.invocation.analysis.confidence
        run, search = ahead.prepared.run, ahead.search
        facts, (_, load, _) = run.facts, self._expected
        # Repeats of one question, and samples that one generation answers, are one piece of evidence.
        items = {(sample.document_id, sample.item or sample.sample_id): sample for sample in self._ordinary}
        evidence = Counter(self._length_of[sample.sample_id] for sample in items.values())
        size = self._size(load)
        memory = None if facts.cache is None else memory_of(facts.cache)
        return Plan(
            run_id=run.run_id,
            model=shown_model(facts.model, engine=facts.engine),
            engine=facts.engine,
            tokenizer=facts.tokenizer,
            samples=size.samples,
            controls=round(load.controls),
            stored=stored_before(ahead.prepared.planned, ahead.missing) if search is None else search.stored,
            prompt_tokens=size.prompt_tokens,
            cached_prompt_tokens=round(load.cached_tokens),
            completion_tokens=round(load.completion_tokens),
            usd=size.usd,
            wall_s=size.wall_s,
            download=None if download is None else download[0],
            download_gib=None if download is None else download[1],
            detectable_drop=detectable_drop(min(evidence.values()), confidence=confidence),
            confidence=confidence,
            bins=tuple(self._bins()),
            notes=tuple(self._notes(load, size, remarks)),
            judge=self._judge(load),
            least=None if search is None else self._size(self._least),
            most=None if search is None else self._size(search.most),
            memory_gib=memory,
            memory_cap_tokens=None if facts.cache is None or memory is None else memory_cap(facts.cache, memory),
            search=None if search is None else self._course(search),
        )

    @cached_property
    def _least(self) -> Load:
        invocation = self.ahead.invocation
        return load_of(self.ahead.missing, invocation.sampling, invocation.model.price)

    @cached_property
    def _ordinary(self) -> Sequence[Sample]:
        return [item.sample for item in self.ahead.prepared.planned if item.sample.is_ordinary]

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
    def _expected(self) -> tuple[Mapping[int, float], Load, float]:
        if self.ahead.search is not None:
            return self.ahead.search.expected(lambda _: SCORE)
        sent = (item.sample for item in self.ahead.missing if item.sample.is_ordinary)
        return Counter(self._length_of[sample.sample_id] for sample in sent), self._least, 0.0

    def _bins(self) -> Iterator[PlanBin]:
        samples, lengths = self._expected[0], sorted(set(self._length_of.values()))
        clears = self._clears(lengths)
        cache, sampling = self.ahead.prepared.run.facts.cache, self.ahead.invocation.sampling
        answer = max(sampling.for_answer(sample.answer_tokens).generated_tokens for sample in self._ordinary)
        for length in lengths:
            yield PlanBin(
                context_tokens=length,
                samples=round(samples.get(length, 0)),
                kv_gib=None if cache is None else cache.gib(length + answer),
                clears=clears.get(length),
            )

    def _clears(self, lengths: Sequence[int]) -> Mapping[int, Mapping[str, float] | None]:
        traits = self.ahead.invocation.task.traits
        if self.ahead.search is not None or (traits.graded and traits.cap_quantity == "score"):
            return {}
        best = best_case_of(self.ahead.invocation, self.ahead.prepared)
        clears: dict[int, Mapping[str, float] | None] = {}
        for length, result in zip(lengths, best.sequence.results, strict=True):
            chances = {f"{rate:.2f}": chance_to_clear(result, best.threshold, rate) for rate in _SCORES}
            known = {rate: chance for rate, chance in chances.items() if chance is not None}
            clears[length] = known if len(known) == len(chances) else None
        return clears

    def _size(self, load: Load) -> RunSize:
        judge, prefill, decode = self._judge(load), self.prefill_tokens_per_s, self.decode_tokens_per_s
        known = [usd for usd in (self._usd(load), None if judge is None else judge.usd) if usd is not None]
        answers_s = 0.0 if decode is None else load.completion_tokens / decode
        return RunSize(
            samples=round(load.samples),
            prompt_tokens=round(load.prompt_tokens),
            usd=sum(known) if known else None,
            wall_s=None if prefill is None else (load.prompt_tokens - load.cached_tokens) / prefill + answers_s,
        )

    def _usd(self, load: Load) -> float | None:
        return load.usd if self.ahead.invocation.model.price.is_known else None

    def _judge(self, load: Load) -> JudgePlan | None:
        judge, search = self.ahead.judge, self.ahead.search
        if judge is None or search is None:
            return judge
        share = search.share(load)
        return JudgePlan(
            requests=round(share * judge.requests),
            prompt_tokens=round(share * judge.prompt_tokens),
            completion_tokens=round(share * judge.completion_tokens),
            usd=None if judge.usd is None else share * judge.usd,
        )

    def _course(self, search: SearchAhead) -> SearchCourse:
        plan, courses = search.path.plan, []
        for score in _SCORES:
            _, load, whole = search.expected(lambda _: score)  # noqa: B023 - called there
            courses.append(Course(score=score, whole_range=whole, size=self._size(load)))
        return SearchCourse(
            most_samples=plan.most_steps * plan.step_samples, refine=plan.refine, courses=tuple(courses)
        )

    def _notes(self, load: Load, size: RunSize, remarks: Sequence[str]) -> Iterator[str]:
        invocation, prepared, judge = self.ahead.invocation, self.ahead.prepared, self._judge(load)
        facts = prepared.run.facts
        yield from hopeless(invocation, prepared)
        yield from replay_notes(invocation, prepared)
        yield from remarks
        if prepared.search is not None:
            yield from prepared.search.steps.maker.notes({item.sample.sample_id for item in prepared.planned})
        yield from facts.notes
        yield from map(str, beyond_trained(facts.positions, facts.context_window))
        yield from map(str, notes_of_control_tokens(facts.control_tokens, kept=facts.keeps_control_tokens))
        if judge is not None and (self._usd(load) is None) is not (judge.usd is None):
            yield price_left_out(judge=judge.usd is None)
        if self.prefill_tokens_per_s is None:
            yield (
                "no rate is known: give action.prefill_tokens_per_s (and action.decode_tokens_per_s), or run a few "
                "samples"
            )
        try:
            self.ahead.refuse_beyond_budget()
        except RunError as error:
            yield str(error)
            return
        budget, tokens = self.ahead.invocation.budget, round(load.prompt_tokens + load.completion_tokens)
        ends_there = "; what is decided when the budget is used up is the answer"
        if budget.minutes is not None and size.wall_s is not None and size.wall_s > 60.0 * budget.minutes:
            yield f"budget.minutes={budget.minutes:g}: the run would take about {duration(size.wall_s)}{ends_there}"
        if budget.tokens is not None and tokens > budget.tokens:
            yield f"budget.tokens={budget.tokens:,}: the run would take about {tokens:,} tokens{ends_there}"
        limit = budget.most_usd
        if limit is not None and size.usd is not None and size.usd > limit:
            most = f"auto: at most {dollars(limit)} are spent" if budget.usd == "auto" else f"{limit:g}"
            yield f"budget.usd={most}: the run would cost about {dollars(size.usd)}{ends_there}"
