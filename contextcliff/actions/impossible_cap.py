"""Said before anything is sent: that no answers, however good, could give a safe cap, and what would be enough.

What would be enough is found by building the samples of a larger task and asking the same of them, so that it is true
of the texts and the haystacks that the run would have. On the way there only the two shortest of designed lengths are
built, in words, since how many samples there are does not depend on tokens; the suggested number is checked in full.
Of a search its plan alone says what would be enough: how many blocks of which size it may ask.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

from contextcliff.actions.action import Identity, Invocation
from contextcliff.actions.prepare_run import Prepared, planned_samples, search_rule
from contextcliff.analysis.search import SearchRule, fewest_blocks
from contextcliff.errors import ConfigError
from contextcliff.records.amounts import counted
from contextcliff.records.sample import Prompt, Sample
from contextcliff.records.search_record import SearchPlan
from contextcliff.tasks.task import Lever, Materials, Raised, Task
from contextcliff.text.tokenizers import WordTokenizer
from contextcliff.text.tokens import Tokenizer, token_counts

if TYPE_CHECKING:
    from contextcliff.analysis.forecast import BestCase

_TIMES_THE_FEWEST = 20
"""A setting is raised up to so many times the samples that would do if they shared nothing."""


def impossible_cap(invocation: Invocation, identity: Identity, prepared: Prepared) -> str | None:
    """A sentence where even a perfect model would get no cap of the whole range; None where one would."""
    best = best_case_of(invocation, prepared)
    if best.is_enough:
        return None
    larger = _Larger(invocation=invocation, identity=identity, prepared=prepared)
    return f"{best.shortfall()}; {_way_out(best, larger)}"


def tested_quantity(task: Task) -> str | None:
    """What the cap is tested on, where that is not the score: said before the first sentence that names it."""
    if task.cap_quantity == "score":
        return None
    from contextcliff.findings.answer import healthy_round

    return f"the cap is tested on {healthy_round()}"


def best_case_of(invocation: Invocation, prepared: Prepared) -> BestCase:
    """What a perfect model would show with the samples that are planned."""
    return _best_case(invocation, invocation.task, prepared.materials, [item.sample for item in prepared.planned])


def _best_case(invocation: Invocation, task: Task, materials: Materials, samples: Sequence[Sample]) -> BestCase:
    from contextcliff.analysis.forecast import SearchToJudge, best_case

    plan = _search_plan(invocation, task, materials)

    return best_case(
        [sample for sample in samples if sample.is_ordinary],
        invocation.analysis,
        designed_lengths=task.designed_lengths,
        relative_by_default=task.relative_by_default,
        perfect_score=task.perfect_score,
        quantity=task.cap_quantity,
        search=None if plan is None else SearchToJudge(plan=plan, rule=search_rule(invocation)),
    )


def _search_plan(invocation: Invocation, task: Task, materials: Materials) -> SearchPlan | None:
    return task.search_plan(materials.context_budget, refine=invocation.search == "refine")


def _way_out(best: BestCase, larger: _Larger) -> str:
    if best.fewest is None:
        return "no number of samples could; lower analysis.threshold"
    if best.is_baseline_alone:
        return "ask for more lengths, or take analysis.relative_to_baseline=false"
    enough = larger.enough(best, most=_TIMES_THE_FEWEST * best.fewest)
    if enough is not None:
        return f"{enough.override} ({counted(enough.case.samples, each_length=True)}) would be enough"
    if best.has_shared_draws:
        return (
            "samples that are one draw (temperature 0, or sampling.seed is set) count once, and more of them show no "
            "more; with a temperature above 0 and no sampling.seed each is a draw of its own"
        )
    return "no setting of this task would be enough with this dataset; lower analysis.threshold, or take more texts"


@dataclass(frozen=True, kw_only=True, slots=True)
class _Enough:
    override: str
    case: BestCase


@dataclass(frozen=True, kw_only=True)
class _Larger:
    """Larger versions of one invocation."""

    invocation: Invocation
    identity: Identity
    prepared: Prepared

    def enough(self, best: BestCase, *, most: int) -> _Enough | None:
        """The first setting, raised as little as will do, under which a perfect model gets the whole range."""
        if self.prepared.search is not None:
            return self._in_more_blocks(self.prepared.search.rule)
        levers = self.invocation.task.levers
        for lever in (*levers, *([_together(levers[0], rank=1)] if len(levers) > 1 else [])):
            larger = self._raised(lever, best, most)
            if larger is not None:
                return larger
        return None if self.invocation.task.designed_lengths else self._in_fewer_bins()

    def _in_more_blocks(self, rule: SearchRule) -> _Enough | None:
        """A search that may ask as many blocks as a perfect model needs, with the texts that it has or with others."""
        task = self.invocation.task
        others = [lever.at(2 * lever.now) for lever in task.levers[1:]]
        for start in (Raised(override="", task=task), *others):
            raised = self._with_blocks(start, rule)
            case = None if raised is None else self._of(self.invocation, raised.task, self._materials)
            if raised is not None and case is not None and case.is_enough:
                return _Enough(override=raised.override, case=case)
        return None

    def _with_blocks(self, start: Raised, rule: SearchRule) -> Raised | None:
        from contextcliff.analysis.forecast import fewest_of_search

        plan = _search_plan(self.invocation, start.task, self._materials)
        if plan is None:
            return None
        fewest = fewest_of_search(plan, rule)
        if fewest is None or fewest <= plan.most_blocks * plan.block_evidence:
            return start if fewest is not None else None
        raised = start.task.levers[0].at(fewest // plan.block_evidence * plan.block)
        return Raised(override=" ".join(filter(None, (start.override, raised.override))), task=raised.task)

    def _raised(self, lever: Lever, best: BestCase, most: int) -> _Enough | None:
        low, before = lever.now, best.samples
        high, case = 2 * low, self._sketched(lever, 2 * low)
        while case is not None and not case.is_enough:
            if case.samples == before or case.items > most:
                return None
            low, before = high, case.samples
            high, case = 2 * high, self._sketched(lever, 2 * high)
        if case is None:
            return None
        while high - low > 1:
            middle = (low + high) // 2
            tried = self._sketched(lever, middle)
            low, high = (low, middle) if tried is not None and tried.is_enough else (middle, high)
        return self._checked(lever, high)

    def _sketched(self, lever: Lever, value: int) -> BestCase | None:
        """The best case at the two shortest lengths; of natural lengths, at all."""
        task, materials = lever.at(value).task, self._materials
        if not task.designed_lengths:
            return self._of(self.invocation, task, materials)
        return self._of(
            self.invocation, task.shortened(materials.context_budget), replace(materials, tokenizer=WordTokenizer())
        )

    def _checked(self, lever: Lever, value: int) -> _Enough | None:
        """The whole task with this value, or a little more where longer lengths ask for it."""
        for more in range(value, value + 4):
            raised = lever.at(more)
            case = self._of(self.invocation, raised.task, self._materials)
            if case is not None and case.is_enough:
                return _Enough(override=raised.override, case=case)
        return None

    def _in_fewer_bins(self) -> _Enough | None:
        """Wider bins have more questions each."""
        analysis = self.invocation.analysis
        for bins in range(analysis.bins - 1, 0, -1):
            wider = replace(self.invocation, analysis=replace(analysis, bins=bins))
            case = self._of(wider, self.invocation.task, replace(self._materials, bins=bins))
            if case is not None and case.is_enough:
                return _Enough(override=f"analysis.bins={bins}", case=case)
        return None

    @cached_property
    def _materials(self) -> Materials:
        materials = self.prepared.materials
        return replace(materials, tokenizer=_Remembering(materials.tokenizer))

    def _of(self, invocation: Invocation, task: Task, materials: Materials) -> BestCase | None:
        """None where there is not text enough to build it."""
        try:
            budget = materials.context_budget
            longer = task.text_tokens(budget) > self.invocation.task.text_tokens(budget)
            if longer or task.texts > len(materials.corpus.documents):
                corpus = invocation.dataset.corpus(
                    tokens=task.text_tokens(budget), seed=invocation.seed, count=task.texts
                )
                materials = replace(materials, corpus=corpus)
            plan = _search_plan(invocation, task, materials)
            if plan is not None:
                blocks = fewest_blocks(plan, search_rule(invocation), perfect_score=task.perfect_score)
                materials = replace(materials, first_blocks=blocks)
            built = task.build(materials)
        except ConfigError:
            return None
        planned = planned_samples(built, materials.corpus, self.identity.respondent, served=self.prepared.served)
        return _best_case(invocation, task, materials, [item.sample for item in planned])


def _together(first: Lever, *, rank: int) -> Lever:
    """A lever and the one of that rank, raised by the same factor: more haystacks take more samples to fill them."""

    def at(factor: int) -> Raised:
        raised = first.at(factor * first.now)
        second = raised.task.levers[rank]
        both = second.at(factor * second.now)
        return Raised(override=f"{raised.override} {both.override}", task=both.task)

    return Lever(now=1, at=at)


class _Remembering:
    """A tokenizer that does not cut the same text twice: documents are the same in every version of a task."""

    def __init__(self, tokenizer: Tokenizer) -> None:
        self._tokenizer = tokenizer
        self._starts: dict[str, Sequence[int]] = {}
        self._counts: dict[Prompt, int] = {}

    @property
    def name(self) -> str:
        """That of the tokenizer."""
        return self._tokenizer.name

    def starts(self, text: str) -> Sequence[int]:
        """As the tokenizer says."""
        if text not in self._starts:
            self._starts[text] = self._tokenizer.starts(text)
        return self._starts[text]

    def counts(self, texts: Sequence[str]) -> Sequence[int]:
        """As the tokenizer says."""
        return token_counts(texts, self._tokenizer)

    def count_prompt(self, prompt: Prompt) -> int:
        """As the tokenizer says."""
        if prompt not in self._counts:
            self._counts[prompt] = self._tokenizer.count_prompt(prompt)
        return self._counts[prompt]
