"""The fourth stage of a run: what its answers say, what they took, and how many there are."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from contextcliff.actions.action import Invocation
from contextcliff.actions.annotate_run import Annotated
from contextcliff.actions.usage import usage_of
from contextcliff.errors import RunError
from contextcliff.execution.health import way_out
from contextcliff.execution.scoring import NOT_SENT
from contextcliff.execution.store import Store
from contextcliff.records.analysis import Analysis
from contextcliff.records.generation import Outcome
from contextcliff.records.report import Counts, Usage

if TYPE_CHECKING:
    from contextcliff.analysis.study import StudyFacts


@dataclass(frozen=True, kw_only=True, slots=True)
class Analysed:
    """The findings of a run, with what it took."""

    analysis: Analysis
    counts: Counts
    usage: Usage


def analyse_run(invocation: Invocation, annotated: Annotated, store: Store, *, reused: int | None = None) -> Analysed:
    """Analyse the annotated answers of a run: the cap, and every finding of its sections.

    `reused` counts the generations that were there before; None: all of them. Raises `RunError` where no sample was
    answered.
    """
    from contextcliff.analysis.analyse import analyse, study_of
    from contextcliff.reporting.section_list import sections_with

    require_an_answer(annotated.outcomes)
    facts = _study_facts(invocation, annotated)
    study = study_of(annotated.scored, invocation.analysis, facts, controls=annotated.controls)
    return Analysed(
        analysis=analyse(study, sections_with(invocation.task.findings)),
        counts=_counts(annotated, store, reused=reused),
        usage=_usage(invocation, annotated),
    )


def require_an_answer(outcomes: Sequence[Outcome]) -> None:
    """Raise `RunError` where no ordinary sample was answered: how often each fault came, the commonest, a way out."""
    asked = [outcome for outcome in outcomes if outcome.sample.is_ordinary]
    details = {outcome.unscored: outcome.detail for outcome in asked if outcome.unscored is not None}
    if any(outcome.unscored is None for outcome in asked):
        return
    kinds = Counter(outcome.unscored for outcome in asked).most_common()
    faults = ", ".join(f"{kind} {count}" for kind, count in kinds)
    commonest = next((kind for kind, _ in kinds if kind is not None and kind != NOT_SENT), None)
    said = "nothing was sent" if commonest is None else f"{details[commonest]}; {way_out(commonest)}"
    again = "; the same command goes on" if any(outcome.generation is None for outcome in asked) else ""
    raise RunError(f"none of {len(asked)} samples was answered ({faults}): {said}{again}")


def _study_facts(invocation: Invocation, annotated: Annotated) -> StudyFacts:
    from contextcliff.analysis.study import StudyFacts

    facts, judge = annotated.run.facts, invocation.judge
    return StudyFacts(
        max_context_tokens=facts.context_window,
        designed_lengths=invocation.task.designed_lengths,
        relative_by_default=invocation.task.relative_by_default,
        task=invocation.task,
        judge=None if judge is None else facts.judge,
        judge_right_from=0 if judge is None else judge.right_from,
        embedder=facts.embedder,
        audit=facts.audit,
    )


def _counts(annotated: Annotated, store: Store, *, reused: int | None) -> Counts:
    planned = len(annotated.scored)
    completed = sum(item.score is not None for item in annotated.scored)
    return Counts(
        planned=planned,
        completed=completed,
        reused=completed if reused is None else min(reused, completed),
        unscored=planned - completed,
        controls=len(annotated.controls),
        pilot=sum(item.sample.pilot for item in annotated.planned),
        errors=dict(store.count_faults(annotated.run.run_id)),
    )


def _usage(invocation: Invocation, annotated: Annotated) -> Usage:
    pairs = zip(annotated.planned, annotated.outcomes, strict=True)
    generations = {item.key: outcome.generation for item, outcome in pairs if outcome.generation is not None}
    return usage_of(
        generations.values(),
        invocation.model.price,
        judge=None if annotated.ratings is None else annotated.ratings.replies,
        judge_price=None if invocation.judge is None else invocation.judge.model.price,
        wall_s=annotated.run.wall_s,
    )
