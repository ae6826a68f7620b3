"""The fourth stage of a run: what its answers say, what they took, and how many there are."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import asdict, fields, replace
from typing import TYPE_CHECKING, Any

from contextcliff.actions.action import Invocation, RunState
from contextcliff.actions.like import replayed_steps
from contextcliff.analysis.judged_by import Rule
from contextcliff.analysis.search import step_key
from contextcliff.errors import RunError
from contextcliff.execution.budget import paid_for
from contextcliff.execution.runner import way_out
from contextcliff.execution.store import StoredRun
from contextcliff.models.model import Price
from contextcliff.models.trained_positions import positions_of
from contextcliff.records.generation import NOT_SENT, Generation, Outcome, ScoredSample
from contextcliff.records.kv_cache import AS_STARTED, CacheFacts, DeviceMemory
from contextcliff.records.report import Counts, JudgeUsage, Usage
from contextcliff.seeding import digest_of
from contextcliff.tasks.task import UNJUDGED

if TYPE_CHECKING:
    from contextcliff.analysis.study import StudyFacts


def analyse(run: RunState) -> None:
    """Analyse the annotated answers of a run: the cap, and every finding."""
    from contextcliff.analysis.analyse import analyse as findings_of
    from contextcliff.analysis.analyse import study_of
    from contextcliff.analysis.notes import notes_of_control_tokens
    from contextcliff.findings.finding import findings_with

    require_an_answer(run.outcomes)
    study = study_of(run.scored, run.invocation.analysis, _study_facts(run), controls=run.controls)
    run.counted = study.scored
    run.replayed = _replayed(run)
    analysis, stored = findings_of(study, findings_with(run.invocation.task.traits.findings)), run.stored.facts
    marks = notes_of_control_tokens(stored.control_tokens, kept=stored.keeps_control_tokens)
    run.analysis = replace(analysis, notes=(*analysis.notes, *marks))
    run.counts, run.usage = _counts(run), _usage(run)


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


def _study_facts(run: RunState) -> StudyFacts:
    from contextcliff.analysis.study import StudyFacts

    facts, invocation, judge = run.stored.facts, run.invocation, run.invocation.judge
    traits = invocation.task.traits
    metrics = invocation.task.metrics_of(item.sample for item in run.scored)
    return StudyFacts(
        max_context_tokens=facts.context_window,
        designed_lengths=traits.designed_lengths,
        relative_by_default=traits.relative_by_default,
        task=invocation.task,
        judge=None if judge is None else facts.judge,
        judge_right_from=0 if judge is None else judge.right_from,
        judge_decides=traits.is_judged,
        metrics=metrics,
        claim=invocation.task.claim_by(metrics),
        embedder=facts.embedder,
        audit=facts.audit,
        begins_anywhere=traits.begins_anywhere,
        search=facts.search,
        looks=facts.looks,
        quantity=traits.cap_quantity,
        draws_anew=invocation.sampling.draws_anew,
        cache=_cache(invocation, facts.cache),
        # The key may be given after the run, whose other keys of RoPE are the same.
        positions=positions_of(invocation.model.rope, facts.positions),
        own_tokenizer=facts.own_tokenizer,
    )


def _cache(invocation: Invocation, stored: CacheFacts | None) -> CacheFacts | None:
    if stored is None:
        return None
    given = invocation.model.memory_gib
    return replace(
        stored,
        device=stored.device if given is None else DeviceMemory(name="", gib=given),
        as_started=invocation.shown_policy == AS_STARTED,
    )


def _replayed(run: RunState) -> tuple[ScoredSample, ...]:
    steps = frozenset(replayed_steps(run.stored.facts.replay))
    counted = {item.sample.sample_id for item in run.counted}
    return tuple(
        item
        for item in run.scored
        if step_key(item.sample) in steps and item.sample.sample_id not in counted and item.failure != NOT_SENT
    )


def _counts(run: RunState) -> Counts:
    completed = sum(item.score is not None for item in run.counted)
    scored, replayed = (sum(item.score is not None for item in each) for each in (run.scored, run.replayed))
    return Counts(
        planned=len(run.counted),
        completed=completed,
        reused=completed if run.reused is None else min(run.reused, completed),
        unscored=len(run.counted) - completed,
        controls=len(run.controls),
        pilot=sum(item.sample.pilot for item in run.planned),
        ahead=scored - completed - replayed,
        replayed=len(run.replayed),
        errors=run.errors,
    )


def _usage(run: RunState) -> Usage:
    """Each generation counts once. The judge's tokens stay apart, since they are another model's; dollars add up."""
    pairs = zip(run.planned, run.outcomes, strict=True)
    generations = {item.key: outcome.generation for item, outcome in pairs if outcome.generation is not None}
    own, judged, judge = _took(generations.values(), run.invocation.model.price), None, run.invocation.judge
    if run.ratings is not None and judge is not None:
        judged = JudgeUsage(requests=len(run.ratings.replies), **_took(run.ratings.replies, judge.model.price))
    known = [usd for usd in (own.pop("usd"), None if judged is None else judged.usd) if usd is not None]
    return Usage(**own, usd=sum(known) if known else None, wall_s=round(run.stored.wall_s, 3), judge=judged)


def _took(generations: Collection[Generation], price: Price) -> dict[str, Any]:
    prompt = sum(generation.prompt_tokens for generation in generations)
    cached = sum(generation.cached_tokens or 0 for generation in generations)
    return {
        "prompt_tokens": prompt,
        "cached_tokens": cached,
        "computed_prompt_tokens": prompt - cached,
        "completion_tokens": sum(generation.completion_tokens for generation in generations),
        "usd": paid_for(generations, price),
    }


def price_left_out(*, judge: bool) -> str:
    """A note that the cost covers only one of the two models. `judge` is whether the judge's is missing."""
    if judge:
        return "the cost leaves the judge out: give judge.model.price.input and judge.model.price.output"
    return "the cost is the judge's alone: give model.price.input and model.price.output"


_BINS, _BINNING = "analysis.bins", "analysis.binning"
_BASELINE = "analysis.baseline_tokens"
_RELATIVE = "analysis.relative_to_baseline"
_DIGEST_SHOWN = 12


def rule_of_invocation(invocation: Invocation, run: StoredRun) -> Rule:
    """Every key that judges: of the analysis, of the task beside its identity, judge and embedder."""
    task, judge, embedder = invocation.task, invocation.judge, invocation.embedder
    rule: dict[str, object] = {f"analysis.{key}": value for key, value in invocation.analysis.judging().items()}
    if rule[_RELATIVE] is None:
        rule[_RELATIVE] = task.traits.relative_by_default
    if run.facts.drawn is not None:
        rule |= dict(zip((_BINS, _BINNING), run.facts.drawn, strict=True))
    idle = [*([_BINS, _BINNING] if task.traits.designed_lengths else []), *([] if rule[_RELATIVE] else [_BASELINE])]
    rule = {key: value for key, value in rule.items() if key not in idle}
    asked = {*task.identity(), *task.traits.idle, *UNJUDGED}
    rule |= {f"task.{key}": value for key, value in asdict(task).items() if key not in asked}
    rule["task.judge"] = None
    if judge is not None:
        respondent, own = judge.respondent(), [each.name for each in fields(judge)]
        rule["task.judge"] = judge.model.name or judge.engine.name
        rule |= {f"task.judge.{key}": getattr(judge, key) for key in own if key not in ("model", "engine")}
        # The identity has an address in it, and an address may have a password.
        digest = digest_of(dict(respondent.identity), asdict(respondent.sampling))
        rule["task.judge.respondent"] = digest[:_DIGEST_SHOWN]
    if task.traits.embeds_texts:
        rule["task.embedding"] = None if embedder is None else embedder.name
        if embedder is not None:
            rule["task.embedding.vectors"] = digest_of(dict(embedder.identity()))[:_DIGEST_SHOWN]
    return {key: str(value) for key, value in rule.items()}
