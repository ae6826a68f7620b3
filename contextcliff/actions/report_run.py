"""The last stage of a run: its report, written, shown and tracked."""

from __future__ import annotations

import math
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
from contextcliff.actions.live_tracking import LiveTracking
from contextcliff.actions.naming import rule_of_invocation
from contextcliff.actions.override_keys import key_of
from contextcliff.actions.run_manifest import manifest_of, provenance_of
from contextcliff.actions.sweeps import row_of
from contextcliff.analysis.server_counts import is_unchecked
from contextcliff.errors import tell
from contextcliff.execution.stopping import Stop
from contextcliff.execution.store import StoredRun
from contextcliff.records.analysis import Analysis
from contextcliff.records.corpus import Document
from contextcliff.records.generation import NOT_SENT, TRUNCATED, ScoredSample
from contextcliff.records.report import SIMULATED, Report, RunRecord, shown_model
from contextcliff.records.sample import render
from contextcliff.records.search_record import Replay, Search
from contextcliff.tracking.tracker import Begun, Tracked, TrackingError

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from rich.console import Console

    from contextcliff.findings.finding import FinishedRun
    from contextcliff.records.note import Catalogue
    from contextcliff.reporting.page.excerpts import Excerpt
    from contextcliff.reporting.stored_reports import StoredReports

_PLACES = ("tracking", "output_dir")
"""What says where runs lie and where they are tracked."""


def report_run(
    invocation: Invocation,
    annotated: Annotated,
    analysed: Analysed,
    *,
    documents: Mapping[str, Document] | None = None,
    stop: Stop | None = None,
    live: LiveTracking | None = None,
) -> Path:
    """Write, show and track the report of a run; returns its folder.

    With `documents` at hand the prompts are kept where the task asks for it. `stop` says that the run ended before
    its end, be it in judging. `live` has kept the run so far. Local files take
    the places of an earlier report's all together, before tracking starts; a tracker that fails is a warning with the
    command that tracks later.
    """
    from contextcliff.findings.finding import FinishedRun
    from contextcliff.reporting.data_files import (
        CONTEXTS_NAME,
        read_contexts,
        replacing_together,
        write_contexts,
        write_text,
    )
    from contextcliff.reporting.figures.run_curves import draw_curves
    from contextcliff.reporting.files import samples_table, stale_files, write_report_files
    from contextcliff.reporting.stored_reports import folder_of, stored_reports
    from contextcliff.reporting.stored_sweeps import sweep_folder, write_row

    report = report_of(invocation, annotated, analysed, stop=stop)
    experiment = invocation.output_dir / invocation.tracking.experiment
    folder = folder_of(report, experiment=experiment)
    # A sweep draws its runs once, at its end: each of a hundred jobs would read the reports of all.
    beside = stored_reports(experiment) if invocation.place is None else None
    scored, controls = _asked_by(report.run.task, analysed.scored), _asked_by(report.run.task, analysed.controls)
    table = samples_table(scored, replayed=_asked_by(report.run.task, analysed.replayed))
    finished = FinishedRun(report=report, scored=scored, parameters=invocation.parameters)
    with replacing_together(folder, stale=stale_files(report)) as new:
        write_report_files(
            finished,
            table=table,
            controls=controls,
            manifest=manifest_of(invocation, annotated.run, annotated.planned, annotated.documents),
            folder=new,
            figures=invocation.reporting.figure_dpi is not None,
        )
        if invocation.told is None:  # else what was composed is the analysis alone
            write_text(path=new / "config.yaml", text=invocation.composed)
        kept = folder / CONTEXTS_NAME
        if invocation.task.save_contexts and documents is not None:
            sent = ((item.sample.sample_id, render(item.sample.recipe, documents)) for item in annotated.planned)
            kept = write_contexts(sent, path=new / CONTEXTS_NAME)
        prompts = read_contexts(kept)
        excerpts = _excerpts(report, annotated, scored, documents=documents, folder=folder, new=new)
        _draw(invocation, finished, excerpts, prompts, folder=new)
    # Only now: a reader that goes away (`| head`) ends the command here, and the files are in place.
    _show(invocation, report, folder)
    curves = None
    if beside is not None:
        suffix, dpi = folder.name.removeprefix(report.run.run_id), invocation.reporting.figure_dpi
        curves = draw_curves(report, folder=experiment, dpi=dpi, beside=beside.found, suffix=suffix)
    row = None if invocation.place is None else row_of(report, invocation.place, folder=folder.name)
    if row is not None and invocation.place is not None:
        write_row(sweep_folder(experiment, invocation.place.sweep_id), row)
    invocation.on_reported(folder)
    if beside is not None:
        _warn_of_passed_over(beside, folder)
    tracked = Tracked(
        report=report,
        folder=folder,
        parameters=invocation.parameters,
        samples=table,
        name=folder.name,
        prompts=prompts,
        provenance=provenance_of(invocation),
        place=invocation.place,
        row=row,
        beside=() if curves is None else (curves,),
        interrupted=stop in ("interrupted", "terminated"),
    )
    begun = None if live is None else live.hand_over()
    uploaded = _upload(invocation, tracked, begun)
    if uploaded and invocation.reporting.prints and invocation.place is None:
        _show_leaderboard(invocation)
    _show_cap_again(invocation, report)
    return folder


def _draw(
    invocation: Invocation,
    run: FinishedRun,
    excerpts: Mapping[str, tuple[Excerpt, ...]],
    prompts: Mapping[str, str],
    *,
    folder: Path,
) -> None:
    """The figures and the page."""
    from contextcliff.reporting.figures.report_figures import draw_figures
    from contextcliff.reporting.files import FIGURES
    from contextcliff.reporting.page.report_page import write_pages
    from contextcliff.reporting.progress import phase

    shown, dpi = invocation.reporting.progress, invocation.reporting.figure_dpi
    figures: Mapping[str, Figure] = {}
    if dpi is not None:
        with phase("drawing the figures", shown=shown):
            figures = draw_figures(run.report, folder=folder / FIGURES, dpi=dpi)
    if invocation.reporting.html:
        with phase("writing the report's page", shown=shown):
            write_pages(run, excerpts=excerpts, prompts=prompts, figures=figures, folder=folder)


def _upload(invocation: Invocation, tracked: Tracked, begun: Begun | None) -> bool:
    """Whether the tracker has the run; where it fails, a warning says how to upload it later."""
    from contextcliff.reporting.progress import phase

    tracker = invocation.tracking
    try:
        with phase("uploading the run", shown=invocation.reporting.progress and tracker.ui_command() is not None):
            tracker.log(tracked, begun=begun)
    except TrackingError as error:
        places = [item for item in invocation.overrides if key_of(item).partition(".")[0] in _PLACES]
        later = f"upload them later with: {command_line(['action=gather', *places])}"
        tell(f"warning: {error}; the results in {tracked.folder} are complete; {later}")
        return False
    return True


def _excerpts(
    report: Report,
    annotated: Annotated,
    scored: Sequence[ScoredSample],
    *,
    documents: Mapping[str, Document] | None,
    folder: Path,
    new: Path,
) -> dict[str, tuple[Excerpt, ...]]:
    """Where the evidence stands: kept in the folder while the texts are at hand, and read from it later.

    Another rule has a folder of its own beside the run's.
    """
    from contextcliff.reporting.page.excerpts import EXCERPTS_NAME, excerpts_of, read_excerpts, write_excerpts

    kept: dict[str, tuple[Excerpt, ...]] = {}
    if documents is None:
        kept = read_excerpts((folder / EXCERPTS_NAME, folder.parent / report.run.run_id / EXCERPTS_NAME))
    texts = {**annotated.documents, **(documents or {})}
    samples = (item.sample for item in scored)
    found = {each.sample_id: kept.get(each.sample_id) or excerpts_of(each, texts) for each in samples}
    if documents is not None:
        write_excerpts(found, path=new / EXCERPTS_NAME)
    return found


def report_of(invocation: Invocation, annotated: Annotated, analysed: Analysed, *, stop: Stop | None) -> Report:
    """The report of a run; a `stop` makes it a partial one."""
    outcomes, ratings = annotated.outcomes, annotated.ratings
    unsent = any(outcome.unscored == NOT_SENT for outcome in outcomes)
    unrated = ratings is not None and ratings.not_asked > 0
    answers, price = analysed.counts.completed, invocation.model.price
    notes = (
        *judge_notes(analysed.usage, ratings, answers=answers, price=price),
        *_truncations(analysed.scored, own=annotated.run.facts.own_tokenizer),
        *_offset(analysed.analysis.safe_cap.server_offset_tokens),
        *_replays(analysed, annotated.run.facts.replay),
    )
    return Report(
        run=replace(
            _run_record(invocation, annotated.run, partial=stop is not None or unsent or unrated, notes=notes),
            stopped=stop or "",
            next_command=next_command(invocation, analysed.analysis, analysed.scored),
        ),
        analysis=analysed.analysis,
        usage=analysed.usage,
        counts=analysed.counts,
    )


def _run_record(invocation: Invocation, run: StoredRun, *, partial: bool, notes: Sequence[str]) -> RunRecord:
    """`notes` come before those that were made when the samples were built."""
    facts, told = run.facts, invocation.told
    return RunRecord(
        run_id=run.run_id,
        fingerprint=run.fingerprint,
        label=run.label,
        partial=partial,
        model=shown_model(facts.model, engine=facts.engine),
        engine=facts.engine,
        simulated=facts.engine == SIMULATED,
        kv_policy=invocation.shown_policy,
        rope=invocation.model.rope.words if told is None else told.rope,
        api=facts.api,
        task=facts.task_option or invocation.task_name,
        task_kind=invocation.task.name,
        dataset=facts.dataset_option or invocation.dataset_name,
        dataset_kind=invocation.dataset_kind if told is None else told.dataset_kind,
        texts=facts.texts,
        judged_by=rule_of_invocation(invocation, run),
        tokenizer=facts.tokenizer,
        max_context_tokens=facts.context_window,
        notes=(*notes, *facts.notes),
        server=facts.server,
        created_at=datetime.now(UTC).isoformat(timespec="seconds"),
        command=command_line(invocation.overrides),
        published=invocation.published,
    )


def _asked_by(task: str, scored: tuple[ScoredSample, ...]) -> tuple[ScoredSample, ...]:
    """With the task's name as the report has it: sample ids go by its kind, so that equal questions pair."""
    return tuple(replace(item, sample=replace(item.sample, task=task)) for item in scored)


def next_command(invocation: Invocation, analysis: Analysis, scored: Sequence[ScoredSample]) -> str:
    """The command that asks what would decide an undecided run; empty where the run is decided, or none is known.

    It is the same command again where answers are missing; else it asks for more of them. A run that was told of by a
    folder has none: that may be anybody's.
    """
    cap, limit, key = analysis.safe_cap, analysis.safe_cap.limit, invocation.task.count_key
    if cap.outcome != "undecided" or limit is None or invocation.told is not None:
        return ""
    asked = [each for each in invocation.overrides if key_of(each) != "action"]
    if cap.limited_by == "memory":
        return command_line([*asked, "model.gguf.path=FILE.gguf"])
    if limit.at_tokens is None:
        return ""
    length = next((each for each in analysis.bins if each.asked_tokens == limit.at_tokens), None)
    search = analysis.finding(Search)
    if length is None or length.n_unscored or (search is not None and search.is_open):
        return command_line(asked)
    here = [item.sample.trial for item in scored if item.sample.context_tokens == limit.at_tokens]
    value: object = length.n_items + (limit.more or length.n_items)
    if key == "task.trials":
        trials = math.ceil((length.n_samples + (limit.more or length.n_samples)) * len(set(here)) / len(here))
        value = "auto" if cap.limited_by == "quality" else trials
    return command_line([*(each for each in asked if key_of(each) != key), f"{key}={value}"]) if key else ""


def command_line(overrides: Sequence[str]) -> str:
    """The command that repeats an invocation."""
    return shlex.join(["python", "-m", "contextcliff", *overrides])


def _truncations(scored: Sequence[ScoredSample], *, own: bool) -> tuple[str, ...]:
    """What is known of prompts that the server cut in silence; `own` is whether the model's own tokenizer counted."""
    cut = [item for item in scored if item.failure == TRUNCATED and item.generation is not None]
    if not cut and not own and is_unchecked(scored):
        return (
            "whether the server cuts prompts in silence could not be checked: all have one length, and the model's own "
            "tokenizer did not count them; ask for a second length, or give that tokenizer (tokenizer.name)",
        )
    if not cut:
        return ()
    read = max(item.generation.prompt_tokens for item in cut if item.generation is not None)
    built = max(item.sample.built_tokens for item in cut)
    return (
        f"THE SERVER CUT {len(cut)} OF {len(scored)} PROMPTS AND SAID NOTHING (it counted {read:,} of {built:,} "
        "tokens): they are unscored; start the server with a longer context, or ask for shorter lengths",
    )


def _offset(tokens: int | None) -> tuple[str, ...]:
    if not tokens:
        return ()
    return (
        f"the server adds about {tokens:,} tokens to every prompt (a system prompt of its own?): all lengths "
        "here are in tokens of your own prompt; those of bins in report.json are as the server counts them",
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
    """The risk report, or its summary, as it is asked for."""
    much = invocation.reporting.shown(of_sweep=invocation.place is not None)
    if much == "none":
        return
    from contextcliff.reporting.console import render_console, render_summary

    console, language = _stdout(invocation)
    if much == "summary":
        render_summary(report, console=console, folder=folder, language=language)
    else:
        command = invocation.tracking.ui_command()
        html = invocation.reporting.html
        render_console(report, console=console, folder=folder, tracking_command=command, html=html, language=language)


def _show_cap_again(invocation: Invocation, report: Report) -> None:
    """At the end of a report that is longer than a terminal."""
    if invocation.reporting.shown(of_sweep=invocation.place is not None) == "full":
        from contextcliff.reporting.console import render_cap

        console, language = _stdout(invocation)
        render_cap(report, console=console, language=language)


def _stdout(invocation: Invocation) -> tuple[Console, Catalogue]:
    from rich.console import Console

    from contextcliff.reporting.language import shown_in

    console = Console()
    return console, shown_in(invocation.reporting.language, encoding=console.encoding)


def _warn_of_passed_over(beside: StoredReports, folder: Path) -> None:
    """Say which reports are in no figure of several runs; one that was in this report's place is gone."""
    from contextcliff.reporting.stored_reports import told_passed_over

    others = {file: why for file, why in beside.passed_over.items() if file.parent != folder}
    if others:
        tell(f"warning: {told_passed_over(others)}")


def _show_leaderboard(invocation: Invocation) -> None:
    """Where the page of the tracker has all runs side by side."""
    try:
        address = invocation.tracking.leaderboard()
    except TrackingError as error:
        tell(f"warning: {error}")
        return
    if address is not None:
        sys.stdout.write(f"LEADERBOARD OF ALL RUNS (contextcliff ui opens it)\n  {address}\n")
