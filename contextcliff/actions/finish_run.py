"""The second half of every run, and all of `action=analyze`: from stored generations to a report."""

from __future__ import annotations

import shlex
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import TypeAdapter

from contextcliff.actions.action import Identity, Invocation
from contextcliff.actions.embedding_stage import with_coherence, writing_of_run
from contextcliff.actions.judging_rule import rule_of_invocation
from contextcliff.actions.run_manifest import manifest_of
from contextcliff.actions.usage import judge_notes, usage_of
from contextcliff.errors import RunError
from contextcliff.execution.judge import JUDGE_FACT, JUDGE_SERVED_FACT, Ratings, recall_ratings
from contextcliff.execution.outcomes import NOT_SENT, TRUNCATED, recall
from contextcliff.execution.remedies import way_out
from contextcliff.execution.scoring import score_outcomes
from contextcliff.execution.store import Store, StoredRun
from contextcliff.records.analysis import Analysis
from contextcliff.records.corpus import Document, LengthAudit
from contextcliff.records.generation import Outcome, ScoredSample
from contextcliff.records.prompt import render
from contextcliff.records.report import SCHEMA_VERSION, Counts, Report, Usage
from contextcliff.tracking.tracker import Tracked, TrackingError

if TYPE_CHECKING:
    from contextcliff.reporting.stored_reports import StoredReports

_audit = TypeAdapter(LengthAudit)


def finish_run(
    invocation: Invocation,
    identity: Identity,
    store: Store,
    *,
    reused: int | None = None,
    documents: Mapping[str, Document] | None = None,
    stopped: bool = False,
) -> None:
    """Score, analyse, write, show and track what the store holds of a run.

    `reused` counts the generations that were there before; None: all of them. With `documents` at hand the prompts are
    kept where the task asks for it. `stopped` says that the run ended before its end, be it in judging.
    Local files are complete before tracking starts; a tracker that fails is a warning with the command that tracks
    later.
    Raises `RunError` where no sample was answered.
    """
    from contextcliff.analysis.analyse import analyse
    from contextcliff.analysis.judgement import judgement_of
    from contextcliff.reporting.contexts import write_contexts
    from contextcliff.reporting.figures.report_figures import draw_curves
    from contextcliff.reporting.files import samples_table, write_report_files
    from contextcliff.reporting.stored_reports import folder_of, stored_reports

    run, planned = store.run(identity.run_id), store.schedule(identity.run_id)
    if run is None:
        raise RunError(f"no answer to {identity.run_id} is stored, so there is nothing to report")
    outcomes, kept = recall(store, identity.run_id, planned), store.documents(identity.run_id)
    require_an_answer(outcomes)
    everything = score_outcomes(invocation.task, outcomes, kept)
    ordinary = tuple(item for item in everything if item.sample.is_ordinary)
    ratings = _ratings(ordinary, invocation, run, store)
    scored = with_coherence(_rated(ordinary, ratings), invocation, run, store)
    controls = tuple(sample for sample in everything if sample.sample.control is not None)
    analysis = analyse(
        scored,
        invocation.analysis,
        max_context_tokens=int(run.facts["window"]),
        designed_lengths=invocation.task.designed_lengths,
        relative_by_default=invocation.task.relative_by_default,
        controls=controls,
    )
    if invocation.judge is not None and JUDGE_FACT in run.facts:
        judged = judgement_of(
            scored,
            judge=run.facts[JUDGE_FACT],
            right_from=invocation.judge.right_from,
            confidence=invocation.analysis.confidence,
        )
        analysis = replace(analysis, judgement=judged)
    writing = writing_of_run(scored, analysis, invocation, run)
    if writing is not None and analysis.safe_cap.relative_to_baseline:
        # A share of the shortest length's score, tested jointly with it: no worse than it within a margin.
        analysis = replace(analysis, caps={**analysis.caps, "writing": analysis.safe_cap.tokens})
    completed = sum(1 for sample in scored if sample.score is not None)
    counts = Counts(
        planned=len(scored),
        completed=completed,
        reused=completed if reused is None else min(reused, completed),
        unscored=len(scored) - completed,
        controls=len(controls),
        pilot=sum(item.sample.pilot for item in everything),
        errors=dict(store.count_faults(identity.run_id)),
    )
    generations = {item.key: each.generation for item, each in zip(planned, outcomes, strict=True) if each.generation}
    usage = usage_of(
        generations.values(),
        invocation.model.price,
        judge=None if ratings is None else ratings.replies,
        judge_price=None if invocation.judge is None else invocation.judge.model.price,
        wall_s=run.wall_s,
    )
    report = _report(invocation, run, outcomes=outcomes, usage=usage, analysis=analysis, counts=counts)
    report = replace(
        report,
        writing=writing,
        partial=stopped or report.partial or (ratings is not None and ratings.not_asked > 0),
        notes=(*judge_notes(usage, ratings, answers=completed, price=invocation.model.price), *report.notes),
    )
    experiment = invocation.output_dir / invocation.tracking.experiment
    folder, beside = folder_of(report, experiment=experiment), stored_reports(experiment)
    scored, controls = _asked_by(report.task, scored), _asked_by(report.task, controls)
    write_report_files(
        report,
        scored=scored,
        controls=controls,
        manifest=manifest_of(invocation, run, planned, kept),
        folder=folder,
        dpi=invocation.reporting.figure_dpi,
        parameters=invocation.parameters,
        beside=beside.found,
    )
    if invocation.task.save_contexts and documents is not None:
        prompts = ((item.sample.sample_id, render(item.sample.recipe, documents)) for item in planned)
        write_contexts(prompts, path=folder / "contexts.jsonl.gz")
    suffix = folder.name.removeprefix(report.run_id)
    draw_curves(report, folder=experiment, dpi=invocation.reporting.figure_dpi, beside=beside.found, suffix=suffix)
    (folder / "config.yaml").write_text(invocation.composed, encoding="utf-8")
    _show(invocation, report, folder)
    _tell_passed_over(beside, folder)
    _track(
        invocation,
        Tracked(
            report=report,
            folder=folder,
            parameters=invocation.parameters,
            samples=samples_table(scored),
            name=folder.name,
        ),
    )


def _ratings(scored: Sequence[ScoredSample], invocation: Invocation, run: StoredRun, store: Store) -> Ratings | None:
    """A judge's ratings; None where none was asked."""
    if invocation.judge is None or JUDGE_FACT not in run.facts:
        return None
    served = run.facts.get(JUDGE_SERVED_FACT) or None
    return recall_ratings(invocation.judge, scored, store, run_id=run.run_id, served=served)


def _rated(scored: tuple[ScoredSample, ...], ratings: Ratings | None) -> tuple[ScoredSample, ...]:
    if ratings is None:
        return scored
    return tuple(replace(item, judge_rating=ratings.by_sample.get(item.sample.sample_id)) for item in scored)


def _asked_by(task: str, scored: tuple[ScoredSample, ...]) -> tuple[ScoredSample, ...]:
    """With the task's name as the report has it: sample ids go by its kind, so that equal questions pair."""
    return tuple(replace(item, sample=replace(item.sample, task=task)) for item in scored)


def command_line(overrides: Sequence[str]) -> str:
    """The command that repeats an invocation."""
    return shlex.join(["python", "-m", "contextcliff", *overrides])


def require_an_answer(outcomes: Sequence[Outcome]) -> None:
    """Raise `RunError` where no ordinary sample was answered: how often each fault came, the commonest, a way out."""
    asked = [outcome for outcome in outcomes if outcome.sample.is_ordinary]
    details = {outcome.unscored: outcome.detail for outcome in asked if outcome.unscored is not None}
    if any(outcome.unscored is None for outcome in asked):
        return
    kinds = Counter(outcome.unscored for outcome in asked).most_common()
    told = ", ".join(f"{kind} {count}" for kind, count in kinds)
    commonest = next((kind for kind, _ in kinds if kind is not None and kind != NOT_SENT), None)
    said = "nothing was sent" if commonest is None else f"{details[commonest]}; {way_out(commonest)}"
    again = "; the same command goes on" if any(outcome.generation is None for outcome in asked) else ""
    raise RunError(f"none of {len(asked)} samples was answered ({told}): {said}{again}")


def _report(
    invocation: Invocation,
    run: StoredRun,
    *,
    outcomes: Sequence[Outcome],
    usage: Usage,
    analysis: Analysis,
    counts: Counts,
) -> Report:
    return Report(
        schema_version=SCHEMA_VERSION,
        run_id=run.run_id,
        fingerprint=run.fingerprint,
        label=run.label,
        partial=any(outcome.unscored == NOT_SENT for outcome in outcomes),
        model=run.facts["model"],
        engine=invocation.engine.name,
        kv_policy=invocation.kv_policy.name,
        rope=invocation.model.rope.words,
        api=run.facts.get("api", ""),
        task=run.facts.get("task_option", invocation.task_name),
        task_kind=invocation.task.name,
        dataset=run.facts.get("dataset_option", invocation.dataset_name),
        dataset_kind=invocation.dataset.name,
        texts=run.facts.get("texts", ""),
        judged_by=rule_of_invocation(invocation, run),
        tokenizer=run.facts["tokenizer"],
        max_context_tokens=int(run.facts["window"]),
        bins=analysis.bins,
        cells=analysis.cells,
        zones=analysis.zones,
        safe_cap=analysis.safe_cap,
        caps=analysis.caps,
        half_life=analysis.half_life,
        half_life_lsq=analysis.half_life_lsq,
        profile=analysis.profile,
        position=analysis.position,
        guide=analysis.guide,
        facets=analysis.facets,
        controls=analysis.controls,
        judgement=analysis.judgement,
        audit=_audit.validate_json(run.facts["audit"]) if run.facts.get("audit") else None,
        mean=analysis.mean,
        successes=analysis.successes,
        usage=usage,
        counts=counts,
        notes=(*_truncations(outcomes), *run.facts["notes"].splitlines(), *analysis.notes),
        server=tuple(run.facts["server"].splitlines()),
        created_at=datetime.now(UTC).isoformat(timespec="seconds"),
        command=command_line(invocation.overrides),
    )


def _truncations(outcomes: Sequence[Outcome]) -> tuple[str, ...]:
    cut = [outcome for outcome in outcomes if outcome.unscored == TRUNCATED]
    if not cut:
        return ()
    return (
        f"THE SERVER CUT {len(cut)} OF {len(outcomes)} PROMPTS AND SAID NOTHING ({cut[-1].detail}): they are unscored; "
        "start the server with a longer context, or ask for shorter lengths",
    )


def _show(invocation: Invocation, report: Report, folder: Path) -> None:
    if not invocation.reporting.console:
        return
    from rich.console import Console

    from contextcliff.reporting.console import render_console

    render_console(report, console=Console(), folder=folder, tracking_command=invocation.tracking.ui_command())


def _tell_passed_over(beside: StoredReports, folder: Path) -> None:
    """Say which reports are in no figure of several runs; one that was in this report's place is gone."""
    from contextcliff.reporting.stored_reports import told_passed_over

    others = [one for one in beside.passed_over if one.file.parent != folder]
    if others:
        sys.stderr.write(f"warning: {told_passed_over(others)}\n")


def _track(invocation: Invocation, tracked: Tracked) -> None:
    try:
        invocation.tracking.log(tracked)
    except TrackingError as error:
        overrides = [item for item in invocation.overrides if not item.startswith("action=")]
        again = command_line([*overrides, "action=analyze"])
        sys.stderr.write(
            f"warning: {error}; the results in {tracked.folder} are complete; upload them later with: {again}\n"
        )
