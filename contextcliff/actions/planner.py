"""The figures of a plan: what a run would take beyond what is stored, and how likely each length is to clear."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from contextcliff.actions.action import Invocation
from contextcliff.actions.ahead import SCORE, Load, SearchAhead, best_case_of, load_of, refuse_beyond
from contextcliff.actions.analyse import price_left_out
from contextcliff.actions.prepare import Prepared, stored_before
from contextcliff.analysis.forecast import BestCase, chance_to_clear, chance_to_pass
from contextcliff.analysis.limits import memory_cap, memory_of
from contextcliff.analysis.notes import beyond_trained, notes_of_control_tokens
from contextcliff.analysis.walk import AbsoluteThreshold
from contextcliff.engines.engine import Download
from contextcliff.errors import RunError
from contextcliff.execution.budget import NOTHING, Budget, Cost, Meter
from contextcliff.execution.store import PlannedSample, Rates
from contextcliff.findings.kv_cache import memory_words
from contextcliff.findings.phrases import duration
from contextcliff.models.model import dollars
from contextcliff.records.kv_cache import CacheFacts
from contextcliff.records.report import shown_model
from contextcliff.records.run_plan import JudgePlan, Plan, PlanBin, RunSize, SearchCourse
from contextcliff.records.sample import Sample

SCORES = (SCORE, 0.95, 0.90)
"""True scores for which a plan says the chance that a length clears."""
FALLEN = 0.05
"""Its true score beyond the middle length, where the plan lets it fall."""


@dataclass(frozen=True, kw_only=True)
class Planner:
    """All that a plan is made of."""

    invocation: Invocation
    prepared: Prepared
    ahead: SearchAhead | None
    """None where the number of samples is fixed."""
    missing: Sequence[PlannedSample]
    """What is not stored; of a search, what a perfect model would be asked."""
    rates: Rates | None
    download: Download | None
    judge: JudgePlan | None
    """Of all samples; of a search, of those that a perfect model would be asked."""

    def plan(self, *, first_notes: Sequence[str]) -> Plan:
        from contextcliff.statistics.sample_size import detectable_drop

        facts, invocation, load, judge = self.prepared.run.facts, self.invocation, self._load, self._judge(self._load)
        # Repeats of one question, and samples that one generation answers, are one piece of evidence.
        items = {(sample.document_id, sample.item or sample.sample_id): sample for sample in self._ordinary}
        evidence = Counter(self._binned[sample.sample_id] for sample in items.values())
        size = self._size(load)
        memory = None if facts.cache is None else memory_of(facts.cache)
        return Plan(
            run_id=self.prepared.run.run_id,
            model=shown_model(facts.model, engine=facts.engine),
            engine=facts.engine,
            tokenizer=facts.tokenizer,
            samples=size.samples,
            controls=round(load.controls),
            stored=stored_before(self.prepared.planned, self.missing) if self.ahead is None else self.ahead.stored,
            prompt_tokens=size.prompt_tokens,
            cached_prompt_tokens=round(load.cached_tokens),
            completion_tokens=round(load.completion_tokens),
            usd=size.usd,
            wall_s=size.wall_s,
            download=None if self.download is None else self.download.name,
            download_gib=None if self.download is None else self.download.gib,
            detectable_drop=detectable_drop(min(evidence.values()), confidence=invocation.analysis.confidence),
            confidence=invocation.analysis.confidence,
            bins=self._bins(),
            notes=(
                *first_notes,
                *facts.notes,
                *map(str, beyond_trained(facts.positions, facts.context_window)),
                *map(str, notes_of_control_tokens(facts.control_tokens, kept=facts.keeps_control_tokens)),
                *unpriced(self._usd(load), judge),
                *notes_of(invocation, self.rates, self.download),
                *(no_chances(best_case_of(invocation, self.prepared)) if self.ahead is None else ()),
                *self._budget_notes(size),
                *beyond_memory(facts.cache, self._bins()),
            ),
            judge=judge,
            least=None if self.ahead is None else self._size(self._least),
            most=None if self.ahead is None else self._size(self.ahead.most),
            memory_gib=memory,
            memory_cap_tokens=None if facts.cache is None or memory is None else memory_cap(facts.cache, memory),
            search=None if self.ahead is None else self._course(self.ahead),
        )

    @cached_property
    def _least(self) -> Load:
        return load_of(self.missing, self.invocation.sampling, self.invocation.model.price)

    @cached_property
    def _ordinary(self) -> Sequence[Sample]:
        return [item.sample for item in self.prepared.planned if item.sample.is_ordinary]

    @cached_property
    def _binned(self) -> Mapping[str, int]:
        return {sample.sample_id: length for length, group in _lengths(self._ordinary).items() for sample in group}

    @cached_property
    def _expected(self) -> tuple[Mapping[int, float], Load]:
        """Samples to send at each length, and their load."""
        if self.ahead is not None:
            return self.ahead.expected(lambda _: SCORE)
        to_send = Counter(self._binned[item.sample.sample_id] for item in self.missing if item.sample.is_ordinary)
        return dict(to_send), self._least

    @property
    def _load(self) -> Load:
        return self._expected[1]

    def _bins(self) -> tuple[PlanBin, ...]:
        samples, clears = self._expected[0], self._clears()
        cache, sampling = self.prepared.run.facts.cache, self.invocation.sampling
        answer = max(sampling.for_answer(sample.answer_tokens).generated_tokens for sample in self._ordinary)
        return tuple(
            PlanBin(
                context_tokens=length,
                samples=round(samples.get(length, 0)),
                kv_gib=None if cache is None else cache.gib(length + answer),
                clears=clears.get(length),
            )
            for length in sorted(set(self._binned.values()))
        )

    def _clears(self) -> Mapping[int, Mapping[str, float] | None]:
        """By length, the chance that it is shown above the threshold."""
        if self.ahead is None:
            best = best_case_of(self.invocation, self.prepared)
            chances = [
                _named({rate: chance_to_clear(each, best.threshold, rate) for rate in SCORES})
                for each in best.sequence.results
            ]
            task = self.invocation.task
            fractions = task.graded and task.cap_quantity == "score"
            return {} if fractions else dict(zip(sorted(set(self._binned.values())), chances, strict=True))
        plan, rule = self.ahead.search.plan, self.ahead.search.rule
        tested = plan.lengths[1:] if rule.relative else plan.lengths
        clears = _named({rate: chance_to_pass(plan, rule, rate) for rate in SCORES})
        return dict.fromkeys(tested, clears)

    def _size(self, load: Load) -> RunSize:
        judge = self._judge(load)
        dollars = [known for known in (self._usd(load), None if judge is None else judge.usd) if known is not None]
        return RunSize(
            samples=round(load.samples),
            prompt_tokens=round(load.prompt_tokens),
            usd=sum(dollars) if dollars else None,
            wall_s=_wall_s(self.rates, load),
        )

    def _usd(self, load: Load) -> float | None:
        return load.usd if self.invocation.model.price.is_known else None

    def _judge(self, load: Load) -> JudgePlan | None:
        if self.judge is None or self.ahead is None:
            return self.judge
        share = self.ahead.share(load)
        return JudgePlan(
            requests=round(share * self.judge.requests),
            prompt_tokens=round(share * self.judge.prompt_tokens),
            completion_tokens=round(share * self.judge.completion_tokens),
            usd=None if self.judge.usd is None else share * self.judge.usd,
        )

    def _course(self, ahead: SearchAhead) -> SearchCourse:
        plan = ahead.search.plan
        falls_at = plan.lengths[len(plan.lengths) // 2]
        _, load = ahead.expected(lambda length: SCORE if length < falls_at else FALLEN)
        return SearchCourse(
            block=plan.block,
            most_samples=plan.most_blocks * plan.block,
            refine=plan.refine,
            score=SCORE,
            falls_to=FALLEN,
            falls_at_tokens=falls_at,
            if_it_falls=self._size(load),
        )

    def _budget_notes(self, size: RunSize) -> tuple[str, ...]:
        """Where the run would be refused, or could end before its end."""
        budget = self.invocation.budget
        meter = Meter(budget, self.invocation.model.price, sampling=self.invocation.sampling)
        try:
            refuse_beyond(
                meter,
                self.missing,
                self.ahead,
                beside=_cost(self._judge(self._least)),
            )
        except RunError as error:
            return (str(error),)
        return tuple(beyond_budget(budget, size, self._load))


def _named(chances: Mapping[float, float | None]) -> Mapping[str, float] | None:
    """Chances by the true score as text; None where one of them is not known."""
    known = {f"{rate:.2f}": chance for rate, chance in chances.items() if chance is not None}
    return known if len(known) == len(chances) else None


def _cost(judge: JudgePlan | None) -> Cost:
    if judge is None:
        return NOTHING
    return Cost(tokens=judge.prompt_tokens + judge.completion_tokens, usd=judge.usd)


def _lengths(samples: Sequence[Sample]) -> Mapping[int, Sequence[Sample]]:
    """Samples by designed length; where documents have their own, by the longest of each bin."""
    groups: defaultdict[int, list[Sample]] = defaultdict(list)
    for sample in samples:
        groups[sample.context_tokens if sample.bin is None else sample.bin].append(sample)
    return {max(sample.context_tokens for sample in group): group for group in groups.values()}


def _wall_s(rates: Rates | None, load: Load) -> float | None:
    """Seconds of one request after another; answers count where their rate is known."""
    if rates is None:
        return None
    answers = 0.0 if rates.decode_tokens_per_s is None else load.completion_tokens / rates.decode_tokens_per_s
    return load.computed_tokens / rates.prefill_tokens_per_s + answers


_ENDS_THERE = "; what is decided when the budget is used up is the answer"


def notes_of(invocation: Invocation, rates: Rates | None, download: Download | None) -> tuple[str, ...]:
    notes = []
    if invocation.task.graded and invocation.task.cap_quantity == "score":
        notes.append(
            "the fall that is detected is one of right-or-wrong scores; those of prose are fractions and spread less: "
            "a run says how many rounds would settle it"
        )
    if download is not None:
        notes.append("the weights are not here yet: tokens are estimated, and the run would fetch them first")
    if rates is None:
        notes.append(
            "no rate is known: give action.prefill_tokens_per_s (and action.decode_tokens_per_s), or run a few samples"
        )
    return tuple(notes)


def unpriced(usd: float | None, judge: JudgePlan | None) -> tuple[str, ...]:
    """What the dollars of a plan leave out."""
    if judge is None or (usd is None) is (judge.usd is None):
        return ()
    return (price_left_out(judge=judge.usd is None),)


def no_chances(best: BestCase) -> tuple[str, ...]:
    """Why a plan leaves out the chance that a length clears."""
    if any(result.sharing for result in best.sequence.results):
        return ("the chance that a length clears is not given: it depends on how alike the samples of one text are",)
    if not isinstance(best.threshold, AbsoluteThreshold):
        return ("the chance that a length clears is not given: it depends on the score of the baseline",)
    return ()


def beyond_memory(cache: CacheFacts | None, bins: Sequence[PlanBin]) -> Iterator[str]:
    """Lengths whose KV cache does not fit beside the weights."""
    memory = None if cache is None else memory_of(cache)
    if cache is None or memory is None or cache.weights_gib is None:
        return
    for each in bins:
        if each.kv_gib is not None and cache.weights_gib + each.kv_gib > memory:
            yield (
                f"from {each.context_tokens:,} tokens on the KV cache ({memory_words(each.kv_gib)}) and the weights "
                f"({memory_words(cache.weights_gib)}) take more than the {memory_words(memory)} that there are"
            )
            return


def beyond_budget(budget: Budget, size: RunSize, load: Load) -> Iterator[str]:
    """Limits that the run is expected to reach."""
    tokens = round(load.prompt_tokens + load.completion_tokens)
    if budget.minutes is not None and size.wall_s is not None and size.wall_s > 60.0 * budget.minutes:
        yield f"budget.minutes={budget.minutes:g}: the run would take about {duration(size.wall_s)}{_ENDS_THERE}"
    if budget.tokens is not None and tokens > budget.tokens:
        yield f"budget.tokens={budget.tokens:,}: the run would take about {tokens:,} tokens{_ENDS_THERE}"
    limit = budget.most_usd
    if limit is not None and size.usd is not None and size.usd > limit:
        most = f"auto: at most {dollars(limit)} are spent" if budget.usd == "auto" else f"{limit:g}"
        yield f"budget.usd={most}: the run would cost about {dollars(size.usd)}{_ENDS_THERE}"
