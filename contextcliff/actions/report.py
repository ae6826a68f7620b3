"""The last stage of a run: its report, written, shown and tracked."""

from __future__ import annotations

import math
import shlex
import sys
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from contextcliff import __version__
from contextcliff.actions.action import Invocation, RunState
from contextcliff.actions.ahead import REQUIRE
from contextcliff.actions.analyse import price_left_out, rule_of_invocation
from contextcliff.actions.override_keys import group_of, key_of
from contextcliff.actions.track import provenance, row_of
from contextcliff.analysis.server_counts import is_unchecked
from contextcliff.errors import GateFailed, tell
from contextcliff.execution.store import PlannedSample, StoredRun, facts_to_strings
from contextcliff.records.analysis import Analysis
from contextcliff.records.corpus import Document
from contextcliff.records.generation import NOT_SENT, TRUNCATED, ScoredSample
from contextcliff.records.report import SCHEMA_VERSION, SIMULATED, Report, RunRecord, shown_model
from contextcliff.records.sample import Sample, render
from contextcliff.records.search_record import Search
from contextcliff.reporting.run_names import read_dataset
from contextcliff.tracking.tracker import Tracked, TrackingError

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from contextcliff.reporting.page.report_page import Excerpt
    from contextcliff.tracking.live import LiveRun


def report(run: RunState) -> Path:
    """Write, show and track the report of a run, its files all together and before tracking; returns its folder."""
    from contextcliff.findings.finding import FinishedRun
    from contextcliff.reporting.data_files import (
        CONTEXTS_NAME,
        read_contexts,
        replacing_together,
        write_contexts,
        write_text,
    )
    from contextcliff.reporting.figures import draw_curves, draw_figures
    from contextcliff.reporting.files import FIGURES, samples_table, stale_files, write_report_files
    from contextcliff.reporting.page.report_page import write_pages
    from contextcliff.reporting.progress import phase
    from contextcliff.reporting.stored_reports import folder_of, stored_reports, told_passed_over
    from contextcliff.reporting.stored_sweeps import sweep_folder, write_row

    invocation, place, made = run.invocation, run.invocation.place, report_of(run)
    experiment, settings = invocation.experiment, invocation.reporting
    folder = folder_of(made, experiment=experiment)
    # With the task's name as the report has it: sample ids go by its kind, so that equal questions pair.
    counted, controls, replayed = (
        tuple(replace(item, sample=replace(item.sample, task=made.run.task)) for item in each)
        for each in (run.counted, run.controls, run.replayed)
    )
    table, dpi, shown = samples_table(counted, replayed=replayed), settings.figure_dpi, settings.progress
    finished = FinishedRun(report=made, scored=counted, parameters=invocation.parameters)
    with replacing_together(folder, stale=stale_files(made)) as new:
        write_report_files(
            finished,
            table=table,
            controls=controls,
            manifest=manifest_of(invocation, run.stored, run.planned, run.documents),
            folder=new,
            figures=dpi is not None,
        )
        if invocation.told is None:  # else what was composed is the analysis alone
            write_text(path=new / "config.yaml", text=invocation.composed)
        kept = folder / CONTEXTS_NAME
        if invocation.task.save_contexts and run.prepared is not None:
            texts = run.prepared.documents
            sent = ((item.sample.sample_id, render(item.sample.recipe, texts)) for item in run.planned)
            kept = write_contexts(sent, path=new / CONTEXTS_NAME)
        prompts, excerpts = read_contexts(kept), _excerpts(run, folder=folder, new=new)
        figures: Mapping[str, Figure] = {}
        if dpi is not None:
            with phase("drawing the figures", shown=shown):
                figures = draw_figures(made, folder=new / FIGURES, dpi=dpi)
        if settings.html:
            with phase("writing the report's page", shown=shown):
                write_pages(finished, excerpts=excerpts, prompts=prompts, figures=figures, folder=new)
    # Only now: a reader that goes away (`| head`) ends the command here, and the files are in place.
    _show(invocation, made, folder)
    curves, row = None, None
    if place is None:
        # A sweep draws its runs once, at its end: each of a hundred jobs would read the reports of all.
        (beside, passed_over), suffix = stored_reports(experiment), folder.name.removeprefix(made.run.run_id)
        curves = draw_curves(made, folder=experiment, dpi=dpi, beside=beside, suffix=suffix)
        if passed_over:
            tell(f"warning: {told_passed_over(passed_over)}")
    else:
        row = row_of(made, place, folder=folder.name)
        write_row(sweep_folder(experiment, place.sweep_id), row)
    invocation.on_reported(folder)
    tracked = Tracked(
        report=made,
        folder=folder,
        parameters=invocation.parameters,
        samples=table,
        prompts=prompts,
        provenance=provenance(invocation),
        place=place,
        row=row,
        beside=() if curves is None else (curves,),
        interrupted=run.stop in ("interrupted", "terminated"),
    )
    _upload(invocation, tracked, run.live.hand_over())
    _show(invocation, made, folder, cap_again=True)
    return folder


def _excerpts(run: RunState, *, folder: Path, new: Path) -> dict[str, tuple[Excerpt, ...]]:
    from contextcliff.reporting.page.report_page import EXCERPTS_NAME, excerpts_of, read_excerpts, write_excerpts

    samples = [item.sample for item in run.counted]
    if run.prepared is not None:
        found = {each.sample_id: excerpts_of(each, run.prepared.documents) for each in samples}
        write_excerpts(found, path=new / EXCERPTS_NAME)
        return found
    kept = read_excerpts((folder / EXCERPTS_NAME, folder.parent / run.stored.run_id / EXCERPTS_NAME))
    return {each.sample_id: kept.get(each.sample_id) or excerpts_of(each, run.documents) for each in samples}


def report_of(run: RunState) -> Report:
    invocation, stored, facts, told = run.invocation, run.stored, run.stored.facts, run.invocation.told
    unsent = any(outcome.unscored == NOT_SENT for outcome in run.outcomes)
    unrated = run.ratings is not None and run.ratings.not_asked > 0
    return Report(
        run=RunRecord(
            run_id=stored.run_id,
            fingerprint=stored.fingerprint,
            label=stored.label,
            partial=run.stop is not None or unsent or unrated,
            stopped=run.stop or "",
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
            judged_by=rule_of_invocation(invocation, stored),
            tokenizer=facts.tokenizer,
            max_context_tokens=facts.context_window,
            notes=(*_notes(run), *facts.notes),
            server=facts.server,
            created_at=datetime.now(UTC).isoformat(timespec="seconds"),
            command=command_line(invocation.overrides),
            next_command=next_command(invocation, run.analysis, run.counted),
            published=invocation.published,
        ),
        analysis=run.analysis,
        usage=run.usage,
        counts=run.counts,
    )


def _notes(run: RunState) -> Iterator[str]:
    usage, price, facts = run.usage, run.invocation.model.price, run.stored.facts
    if run.ratings is not None and usage.judge is not None:
        if run.ratings.not_asked:
            yield (
                f"the run stopped before the judge had rated all: {run.ratings.not_asked:,} of "
                f"{run.counts.completed:,} answers were not put to it; the same command goes on"
            )
        if price.is_known is not (usage.judge.usd is not None):
            yield price_left_out(judge=price.is_known)
    cut = [item for item in run.counted if item.failure == TRUNCATED and item.generation is not None]
    if cut:
        read = max(item.generation.prompt_tokens for item in cut if item.generation is not None)
        built = max(item.sample.built_tokens for item in cut)
        yield (
            f"THE SERVER CUT {len(cut)} OF {len(run.counted)} PROMPTS AND SAID NOTHING (it counted {read:,} of "
            f"{built:,} tokens): they are unscored; start the server with a longer context, or ask for shorter lengths"
        )
    elif not facts.own_tokenizer and is_unchecked(run.counted):
        yield (
            "whether the server cuts prompts in silence could not be checked: all have one length, and the model's own "
            "tokenizer did not count them; ask for a second length, or give that tokenizer (tokenizer.name)"
        )
    if offset := run.analysis.safe_cap.server_offset_tokens:
        yield (
            f"the server adds about {offset:,} tokens to every prompt (a system prompt of its own?): all lengths "
            "here are in tokens of your own prompt; those of bins in report.json are as the server counts them"
        )
    if facts.replay is not None and run.replayed:
        n = len(run.replayed)
        samples = f"{n:,} samples were" if n > 1 else "1 sample was"
        stopped = ", which stopped before its end" if facts.replay.partial else ""
        why = f"to stay paired with {facts.replay.run_id}{stopped} (task.like)"
        if facts.replay.run_id == run.run_id:
            why = "for comparisons at the longest length that is safe (task.longest_pairs)"
        yield (
            f"{samples} asked {why}: no decision and no figure here rests on them; samples.jsonl has them marked as "
            "replayed, and comparisons use them"
        )


def next_command(invocation: Invocation, analysis: Analysis, scored: Sequence[ScoredSample]) -> str:
    """The command that asks what would decide an undecided run; empty if decided, unknown, or told of by a folder."""
    cap, limit, key = analysis.safe_cap, analysis.safe_cap.limit, invocation.task.traits.count_key
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
    if not key:
        return ""
    value: object = length.n_items + (limit.more or length.n_items)
    if key == "task.trials":
        here = [item.sample.trial for item in scored if item.sample.context_tokens == limit.at_tokens]
        trials = math.ceil((length.n_samples + (limit.more or length.n_samples)) * len(set(here)) / len(here))
        value = "auto" if cap.limited_by == "quality" else trials
    return command_line([*(each for each in asked if key_of(each) != key), f"{key}={value}"])


def command_line(overrides: Sequence[str]) -> str:
    return shlex.join(["python", "-m", "contextcliff", *overrides])


def _show(invocation: Invocation, report: Report, folder: Path, *, cap_again: bool = False) -> None:
    """Print the report or its summary, as it is asked for; then the cap again, if that is longer than a terminal."""
    much = invocation.reporting.shown(of_sweep=invocation.place is not None)
    if much == "none" or (cap_again and much != "full"):
        return
    from rich.console import Console

    from contextcliff.reporting.console import render_cap, render_console, render_summary
    from contextcliff.reporting.text import shown_in

    console = Console()
    language = shown_in(invocation.reporting.language, encoding=console.encoding)
    if cap_again:
        render_cap(report, console=console, language=language)
    elif much == "summary":
        render_summary(report, console=console, folder=folder, language=language)
    else:
        tracker, html = invocation.tracking.mlflow, invocation.reporting.html
        command = None if tracker is None or tracker.is_web else tracker.ui_command()
        render_console(report, console=console, folder=folder, tracking_command=command, html=html, language=language)


def _upload(invocation: Invocation, tracked: Tracked, live: LiveRun | None) -> None:
    from contextcliff.reporting.progress import phase

    if (tracker := invocation.tracking.mlflow) is None:
        return
    try:
        with phase("uploading the run", shown=invocation.reporting.progress):
            tracker.log(tracked, live=live)
    except TrackingError as error:
        places = [item for item in invocation.overrides if group_of(item) in ("tracking", "output_dir")]
        later = f"upload them later with: {command_line(['action=gather', *places])}"
        tell(f"warning: {error}; the results in {tracked.folder} are complete; {later}")
        return
    if invocation.reporting.prints and invocation.place is None:
        try:
            address = tracker.address()
        except TrackingError as error:
            tell(f"warning: {error}")
        else:
            if address is not None:
                sys.stdout.write(f"LEADERBOARD OF ALL RUNS\n  {address}\n")


def require_cap(run: RunState, folder: Path) -> None:
    """Raise `GateFailed` where the safe cap is below the required one; the report in `folder` says why."""
    required, cap = run.invocation.analysis.require_cap, run.analysis.safe_cap
    if required is None or (cap.tokens is not None and cap.tokens >= required):
        return
    outcomes = {"below": "no tested length is safe", "undecided": "no safe cap is shown"}
    has = outcomes.get(cap.outcome, f"the safe cap is {cap.in_short} tokens")
    so_far = " so far, since the run stopped before its end" if run.stop else ""
    raise GateFailed(f"{REQUIRE}={required}: {has}{so_far}; {folder / 'report.md'} says why")


def manifest_of(
    invocation: Invocation, run: StoredRun, planned: Sequence[PlannedSample], documents: Mapping[str, Document]
) -> Mapping[str, object]:
    """`documents` are those that were kept with the run; without any the manifest names samples alone."""
    manifest: dict[str, object] = {
        "schema_version": SCHEMA_VERSION,
        "run_id": run.run_id,
        "fingerprint": run.fingerprint,
        "contextcliff_version": __version__,
        "provenance": dict(provenance(invocation)),
        "facts": facts_to_strings(run.facts),
        "configuration": dict(invocation.parameters),
        "samples": [_line(item) for item in planned],
    }
    if documents:
        asked = [item.sample for item in planned if item.sample.control is None and item.sample.repeat == 0]
        named = {sample.document_id for sample in asked}
        bins: defaultdict[int, list[str]] = defaultdict(list)
        for sample in asked:
            bins[sample.bin or 0].append(sample.item)
        manifest["corpus"] = {
            "dataset": dict(
                invocation.dataset.identity()
                if invocation.run_folder is None
                else read_dataset(invocation.run_folder / "manifest.json")
            ),
            "documents": [asdict(document) for name, document in sorted(documents.items()) if name in named],
            "questions": [_question(sample) for sample in asked],
            "drawn": [bins[position] for position in sorted(bins)],
        }
    return manifest


def _line(item: PlannedSample) -> Mapping[str, object]:
    sample = item.sample
    return {
        "sample_id": sample.sample_id,
        "context_tokens": sample.context_tokens,
        "built_tokens": sample.built_tokens,
        "depth": sample.depth,
        "trial": sample.trial,
        **({} if sample.control is None else {"control": sample.control}),
        "document_id": sample.document_id,
        "seed": sample.seed,
        "prompt_sha256": item.prompt_sha256,
    }


def _question(sample: Sample) -> Mapping[str, object]:
    ours = ("evidence_depth", "evidence_distance_tokens", "level")
    return {
        "question_id": sample.item,
        "document_id": sample.document_id,
        "text": sample.question,
        "answers": list(sample.answers),
        "kind": sample.reference.kind,
        "choices": list(sample.reference.choices),
        "evidence": [asdict(span) for span in sample.reference.evidence],
        "level": sample.metadata.get("level", 1),
        "metadata": {key: value for key, value in sample.metadata.items() if key not in ours},
    }
