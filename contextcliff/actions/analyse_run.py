"""The fourth stage of a run: what its answers say, what they took, and how many there are."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from contextcliff.actions.action import Invocation
from contextcliff.actions.annotate_run import Annotated
from contextcliff.actions.like import replayed_blocks
from contextcliff.analysis.search import block_key
from contextcliff.annotation.judge import Ratings
from contextcliff.errors import RunError
from contextcliff.execution.budget import paid_for
from contextcliff.execution.health import way_out
from contextcliff.execution.store import Store
from contextcliff.models.model import Price
from contextcliff.models.trained_positions import positions_of
from contextcliff.records.analysis import Analysis
from contextcliff.records.generation import NOT_SENT, Generation, Outcome, ScoredSample
from contextcliff.records.kv_cache import AS_STARTED, CacheFacts, DeviceMemory
from contextcliff.records.report import Counts, JudgeUsage, Usage

if TYPE_CHECKING:
    from contextcliff.analysis.study import StudyFacts


@dataclass(frozen=True, kw_only=True, slots=True)
class Analysed:
    """The findings of a run, with what it took."""

    analysis: Analysis
    counts: Counts
    usage: Usage
    scored: tuple[ScoredSample, ...]
    """The samples that count: all of them, or those that the decisions of a search rest on."""
    controls: tuple[ScoredSample, ...]
    """Theirs, and those of samples that were asked ahead."""
    replayed: tuple[ScoredSample, ...]
    """The samples that were asked only to stay paired with another run; no finding looks at them."""


def analyse_run(invocation: Invocation, annotated: Annotated, store: Store, *, reused: int | None = None) -> Analysed:
    """Analyse the annotated answers of a run: the cap, and every finding.

    `reused` counts the generations that were there before; None: all of them. Raises `RunError` where no sample was
    answered.
    """
    from contextcliff.analysis.analyse import analyse, study_of
    from contextcliff.analysis.notes import notes_of_control_tokens
    from contextcliff.findings.finding import findings_with

    require_an_answer(annotated.outcomes)
    facts = _study_facts(invocation, annotated)
    study = study_of(annotated.scored, invocation.analysis, facts, controls=annotated.controls)
    replayed = _replayed(annotated, study.scored)
    controls = _without_those_of(replayed, annotated)
    analysis, stored = analyse(study, findings_with(invocation.task.traits.findings)), annotated.run.facts
    marks = notes_of_control_tokens(stored.control_tokens, kept=stored.keeps_control_tokens)
    return Analysed(
        analysis=replace(analysis, notes=(*analysis.notes, *marks)),
        counts=_counts(annotated, study.scored, store, reused=reused, replayed=replayed, controls=controls),
        scored=study.scored,
        controls=controls,
        replayed=replayed,
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
        designed_lengths=invocation.task.traits.designed_lengths,
        relative_by_default=invocation.task.traits.relative_by_default,
        task=invocation.task,
        judge=None if judge is None else facts.judge,
        judge_right_from=0 if judge is None else judge.right_from,
        judge_decides=invocation.task.traits.is_judged,
        metrics=invocation.task.metrics_of(item.sample for item in annotated.scored),
        embedder=facts.embedder,
        audit=facts.audit,
        begins_anywhere=invocation.task.traits.begins_anywhere,
        search=facts.search,
        quantity=invocation.task.traits.cap_quantity,
        draws_anew=invocation.sampling.draws_anew,
        cache=_cache(invocation, facts.cache),
        # The key may be given after the run, whose other keys of RoPE are the same.
        positions=positions_of(invocation.model.rope, facts.positions),
        own_tokenizer=facts.own_tokenizer,
    )


def _cache(invocation: Invocation, stored: CacheFacts | None) -> CacheFacts | None:
    """As stored, with the memory that this invocation gives the model, and with what an earlier version did not say."""
    if stored is None:
        return None
    given = invocation.model.memory_gib
    return replace(
        stored,
        device=stored.device if given is None else DeviceMemory(name="", gib=given),
        as_started=invocation.shown_policy == AS_STARTED,
    )


def _replayed(annotated: Annotated, scored: Sequence[ScoredSample]) -> tuple[ScoredSample, ...]:
    """The samples of replayed blocks that have an outcome and are not among those that count."""
    blocks = frozenset(replayed_blocks(annotated.run.facts.replay))
    counted = {item.sample.sample_id for item in scored}
    return tuple(
        item
        for item in annotated.scored
        if block_key(item.sample) in blocks and item.sample.sample_id not in counted and item.failure != NOT_SENT
    )


def _without_those_of(replayed: Sequence[ScoredSample], annotated: Annotated) -> tuple[ScoredSample, ...]:
    """The controls but those that only replayed samples name; such are not asked, and may be stored all the same."""
    apart = {item.sample.sample_id for item in replayed}
    named = {name for item in replayed for name in item.sample.controls}
    others = {name for item in annotated.scored if item.sample.sample_id not in apart for name in item.sample.controls}
    return tuple(item for item in annotated.controls if item.sample.sample_id not in named - others)


def _counts(
    annotated: Annotated,
    scored: Sequence[ScoredSample],
    store: Store,
    *,
    reused: int | None,
    replayed: Sequence[ScoredSample],
    controls: Sequence[ScoredSample],
) -> Counts:
    """`scored` are the samples that count: of a search, those that its decisions rest on."""
    planned = len(scored)
    completed = sum(item.score is not None for item in scored)
    return Counts(
        planned=planned,
        completed=completed,
        reused=completed if reused is None else min(reused, completed),
        unscored=planned - completed,
        controls=len(controls),
        pilot=sum(item.sample.pilot for item in annotated.planned),
        ahead=sum(item.score is not None for item in annotated.scored)
        - completed
        - sum(item.score is not None for item in replayed),
        replayed=len(replayed),
        errors=dict(Counter(fault.kind for _, fault in store.faults(annotated.run.run_id))),
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


def usage_of(
    generations: Iterable[Generation],
    price: Price,
    *,
    judge: Sequence[Generation] | None,
    judge_price: Price | None,
    wall_s: float,
) -> Usage:
    """Each generation counts once, whichever samples it answers. `judge` holds a judge's replies, where one was asked.

    The judge's tokens stay apart: they are other tokens than the model's, and a run with a judge is compared with one
    without. Dollars add up.
    """
    prompt, cached, completion, usd = _took(generations, price)
    judged = None
    if judge is not None and judge_price is not None:
        of_judge = _took(judge, judge_price)
        judged = JudgeUsage(
            requests=len(judge),
            prompt_tokens=of_judge[0],
            cached_tokens=of_judge[1],
            computed_prompt_tokens=of_judge[0] - of_judge[1],
            completion_tokens=of_judge[2],
            usd=of_judge[3],
        )
    known = [dollars for dollars in (usd, None if judged is None else judged.usd) if dollars is not None]
    return Usage(
        prompt_tokens=prompt,
        cached_tokens=cached,
        computed_prompt_tokens=prompt - cached,
        completion_tokens=completion,
        usd=sum(known) if known else None,
        wall_s=round(wall_s, 3),
        judge=judged,
    )


def judge_notes(usage: Usage, ratings: Ratings | None, *, answers: int, price: Price) -> tuple[str, ...]:
    """What a reader has to know of a judge that was stopped, and of a cost that leaves one of the two out.

    `price` is that of the model under test.
    """
    if ratings is None or usage.judge is None:
        return ()
    notes = []
    if ratings.not_asked:
        notes.append(
            f"the run stopped before the judge had rated all: {ratings.not_asked:,} of {answers:,} answers were not "
            "put to it; the same command goes on"
        )
    if price.is_known is not (usage.judge.usd is not None):
        notes.append(price_left_out(judge=price.is_known))
    return tuple(notes)


def price_left_out(*, judge: bool) -> str:
    """A note that the cost covers only one of the two models. `judge` is whether the judge's is missing."""
    if judge:
        return "the cost leaves the judge out: give judge.model.price.input and judge.model.price.output"
    return "the cost is the judge's alone: give model.price.input and model.price.output"


def _took(generations: Iterable[Generation], price: Price) -> tuple[int, int, int, float | None]:
    each_once = list(generations)
    prompt = sum(generation.prompt_tokens for generation in each_once)
    cached = sum(generation.cached_tokens or 0 for generation in each_once)
    completion = sum(generation.completion_tokens for generation in each_once)
    return prompt, cached, completion, paid_for(each_once, price)
