"""The last stage of a run: its report, written, shown and tracked."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from contextcliff.actions.action import Invocation
from contextcliff.actions.analyse_run import Analysed, judge_notes
from contextcliff.actions.annotate_run import Annotated
from contextcliff.actions.naming import rule_of_invocation
from contextcliff.actions.run_manifest import manifest_of
from contextcliff.execution.scoring import TRUNCATED
from contextcliff.execution.store import StoredRun
from contextcliff.records.corpus import Document
from contextcliff.records.generation import NOT_SENT, Outcome, ScoredSample
from contextcliff.records.report import Report, RunRecord
from contextcliff.records.sample import render
from contextcliff.records.search_record import Replay
from contextcliff.tracking.tracker import Tracked, TrackingError

if TYPE_CHECKING:
    from contextcliff.reporting.stored_reports import StoredReports


def report_run(
    invocation: Invocation,
    annotated: Annotated,
    analysed: Analysed,
    *,
    documents: Mapping[str, Document] | None = None,
    stopped: bool = False,
) -> Path:
    """Write, show and track the report of a run; returns its folder.

    With `documents` at hand the prompts are kept where the task asks for it. `stopped` says that the run ended before
    its end, be it in judging. Local files are complete before tracking starts; a tracker that fails is a warning with
    the command that tracks later.
    """
    from contextcliff.reporting.data_files import write_contexts
    from contextcliff.reporting.figures.report_figures import draw_curves
    from contextcliff.reporting.files import samples_table, write_report_files
    from contextcliff.reporting.stored_reports import folder_of, stored_reports

    report = report_of(invocation, annotated, analysed, stopped=stopped)
    experiment = invocation.output_dir / invocation.tracking.experiment
    folder, beside = folder_of(report, experiment=experiment), stored_reports(experiment)
    scored, controls = _asked_by(report.run.task, analysed.scored), _asked_by(report.run.task, analysed.controls)
    replayed = _asked_by(report.run.task, analysed.replayed)
    write_report_files(
        report,
        scored=scored,
        replayed=replayed,
        controls=controls,
        manifest=manifest_of(invocation, annotated.run, annotated.planned, annotated.documents),
        folder=folder,
        dpi=invocation.reporting.figure_dpi,
        parameters=invocation.parameters,
        beside=beside.found,
    )
    if invocation.task.save_contexts and documents is not None:
        prompts = ((item.sample.sample_id, render(item.sample.recipe, documents)) for item in annotated.planned)
        write_contexts(prompts, path=folder / "contexts.jsonl.gz")
    suffix = folder.name.removeprefix(report.run.run_id)
    draw_curves(report, folder=experiment, dpi=invocation.reporting.figure_dpi, beside=beside.found, suffix=suffix)
    (folder / "config.yaml").write_text(invocation.composed, encoding="utf-8")
    invocation.on_reported(folder)
    _show(invocation, report, folder)
    _warn_of_passed_over(beside, folder)
    _track(
        invocation,
        Tracked(
            report=report,
            folder=folder,
            parameters=invocation.parameters,
            samples=samples_table(scored, replayed=replayed),
            name=folder.name,
        ),
    )
    return folder


def report_of(invocation: Invocation, annotated: Annotated, analysed: Analysed, *, stopped: bool) -> Report:
    """The report of a run; `stopped` makes it a partial one."""
    outcomes, ratings = annotated.outcomes, annotated.ratings
    unsent = any(outcome.unscored == NOT_SENT for outcome in outcomes)
    unrated = ratings is not None and ratings.not_asked > 0
    answers, price = analysed.counts.completed, invocation.model.price
    notes = (
        *judge_notes(analysed.usage, ratings, answers=answers, price=price),
        *_truncations(outcomes),
        *_replays(analysed, annotated.run.facts.replay),
    )
    return Report(
        run=_run_record(invocation, annotated.run, partial=stopped or unsent or unrated, notes=notes),
        analysis=analysed.analysis,
        usage=analysed.usage,
        counts=analysed.counts,
    )


def _run_record(invocation: Invocation, run: StoredRun, *, partial: bool, notes: Sequence[str]) -> RunRecord:
    """`notes` come before those that were made when the samples were built."""
    facts = run.facts
    return RunRecord(
        run_id=run.run_id,
        fingerprint=run.fingerprint,
        label=run.label,
        partial=partial,
        model=facts.model,
        engine=invocation.engine.name,
        kv_policy=invocation.kv_policy.shown,
        rope=invocation.model.rope.words,
        api=facts.api,
        task=facts.task_option or invocation.task_name,
        task_kind=invocation.task.name,
        dataset=facts.dataset_option or invocation.dataset_name,
        dataset_kind=invocation.dataset.name,
        texts=facts.texts,
        judged_by=rule_of_invocation(invocation, run),
        tokenizer=facts.tokenizer,
        max_context_tokens=facts.context_window,
        notes=(*notes, *facts.notes),
        server=facts.server,
        created_at=datetime.now(UTC).isoformat(timespec="seconds"),
        command=command_line(invocation.overrides),
    )


def _asked_by(task: str, scored: tuple[ScoredSample, ...]) -> tuple[ScoredSample, ...]:
    """With the task's name as the report has it: sample ids go by its kind, so that equal questions pair."""
    return tuple(replace(item, sample=replace(item.sample, task=task)) for item in scored)


def command_line(overrides: Sequence[str]) -> str:
    """The command that repeats an invocation."""
    return shlex.join(["python", "-m", "contextcliff", *overrides])


def _truncations(outcomes: Sequence[Outcome]) -> tuple[str, ...]:
    cut = [outcome for outcome in outcomes if outcome.unscored == TRUNCATED]
    if not cut:
        return ()
    return (
        f"THE SERVER CUT {len(cut)} OF {len(outcomes)} PROMPTS AND SAID NOTHING ({cut[-1].detail}): they are unscored; "
        "start the server with a longer context, or ask for shorter lengths",
    )


def _replays(analysed: Analysed, replay: Replay | None) -> tuple[str, ...]:
    """How many samples another run brought, which no other figure of the report shows."""
    if replay is None or not analysed.replayed:
        return ()
    n = len(analysed.replayed)
    samples = f"{n:,} samples were" if n > 1 else "1 sample was"
    stopped = ", which stopped before its end" if replay.partial else ""
    return (
        f"{samples} asked to stay paired with {replay.run_id}{stopped} (task.like): no decision and no figure here "
        "rests on them; samples.jsonl has them marked as replayed, and comparisons use them",
    )


def _show(invocation: Invocation, report: Report, folder: Path) -> None:
    if not invocation.reporting.console:
        return
    from rich.console import Console

    from contextcliff.reporting.console import render_console
    from contextcliff.reporting.words.language import shown_in

    console = Console()
    render_console(
        report,
        console=console,
        folder=folder,
        tracking_command=invocation.tracking.ui_command(),
        language=shown_in(invocation.reporting.language, encoding=console.encoding),
    )


def _warn_of_passed_over(beside: StoredReports, folder: Path) -> None:
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
