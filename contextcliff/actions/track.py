"""What the tracker hears of a run from its first prompt on, and of a sweep: the row of each job, and the whole."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from contextcliff.actions.action import Invocation
from contextcliff.actions.override_keys import key_of, overrides_by_key
from contextcliff.errors import tell
from contextcliff.records.report import Report
from contextcliff.records.search_record import LengthStanding, Search
from contextcliff.records.sweep import JobState, SweepRow, curve_of
from contextcliff.reporting.run_names import in_words, read_provenance
from contextcliff.reporting.stored_sweeps import (
    LEADERBOARD,
    StoredSweep,
    read_rows,
    read_sweep,
    stored_sweeps,
    sweep_folder,
    write_row,
)
from contextcliff.tracking.outgoing import outgoing, own_paths
from contextcliff.tracking.tracker import SweepPlace, TrackingError, run_title

if TYPE_CHECKING:
    from contextcliff.tracking.live import LiveRun
    from contextcliff.tracking.mlflow import MLflowTracker

_DIGEST_SHOWN = 12


@dataclass(kw_only=True, slots=True)
class LiveTracking:
    """What a tracker hears of one run. Nothing is kept of a run that has nothing to send, until it has its report."""

    invocation: Invocation
    _run: LiveRun | None = None
    _finished: bool = False
    _told: set[int] = field(default_factory=set)

    def begin(self) -> None:
        invocation, place, row = self.invocation, self.invocation.place, None
        run_id = invocation.identify().run_id
        if place is not None:
            row = row_without_report(invocation, place, state="running", run_id=run_id)
            write_row(sweep_folder(invocation.experiment, place.sweep_id), row)
        if (tracker := invocation.tracking.mlflow) is None:
            return
        from contextcliff.tracking.live import LiveRun

        self._run = LiveRun(
            tracker,
            run_id=run_id,
            title=title_of(invocation),
            parameters=invocation.parameters,
            tags={
                "model": invocation.shown_model,
                "task": invocation.task_name,
                "kv_policy": invocation.shown_policy,
                "engine": invocation.engine.name,
                "dataset": invocation.dataset_name,
                **provenance(invocation),
            },
            place=place,
            row=row,
            computes_here=invocation.engine.computes_here,
        )

    def lengths(self, standing: Sequence[LengthStanding]) -> None:
        for each in standing:
            if each.decision != "open" and each.answered:
                self.length(each.context_tokens, each.score_sum / each.answered, each.answered)

    def length(self, context_tokens: int, score: float, n_samples: int) -> None:
        if self._run is not None and context_tokens not in self._told:
            self._told.add(context_tokens)
            self._run.send(context_tokens, score=score, n_samples=n_samples)

    def hand_over(self) -> LiveRun | None:
        run, self._run, self._finished = self._run, None, True
        return run

    def fail(self, why: str, *, interrupted: bool = False) -> None:
        """It ended without a report. A job of a sweep is there as a failed run even before its first prompt."""
        if self._finished:
            return
        if self._run is None and self.invocation.place is not None:
            self.begin()
        run, self._run = self._run, None
        if run is not None:
            run.fail(why, interrupted=interrupted)


def title_of(invocation: Invocation) -> str:
    """The title of a run that has no report yet."""
    named = any(key_of(each) == "model.name" for each in invocation.overrides)
    return run_title(
        invocation.model_name,
        option="" if named else invocation.options.get("model", ""),
        engine=invocation.engine.name,
        task=invocation.task_name,
        kv_policy=invocation.shown_policy,
        rope=invocation.model.rope.words,
        label=invocation.label,
        apart=() if invocation.place is None else in_words(invocation.place.differing),
    )


def track_result(
    invocation: Invocation,
    kind: str,
    name: str,
    *,
    folder: Path,
    files: str = "**/*",
    title: str,
    numbers: Mapping[str, object],
    tags: Mapping[str, str],
    run_ids: Sequence[str] = (),
) -> str | None:
    """Keep a comparison, a plan or a calibration where runs are kept, in the place of an earlier one of its name, and
    return where; `files` of `folder` go with it."""
    if (tracker := invocation.tracking.mlflow) is None:
        if kind != "comparison":
            tell("warning: action.track=true: tracking=none keeps nothing; give tracking=mlflow")
        return None
    try:
        with outgoing(folder, paths=own_paths(invocation.parameters), log_text=True, files=files) as sent:
            return tracker.log_result(kind, name, folder=sent, title=title, numbers=numbers, tags=tags, run_ids=run_ids)
    except TrackingError as error:
        tell(f"warning: {error}; the {kind} in {folder} is complete; the same command uploads it")
        return None


def provenance(invocation: Invocation) -> Mapping[str, str]:
    """`dataset_digest`, and `git_commit` in a checkout; of a run that is read from its folder, its manifest's."""
    if invocation.run_folder is not None:
        return read_provenance(invocation.run_folder / "manifest.json")
    commit, digest = code_commit(), invocation.identify().text_identity[:_DIGEST_SHOWN]
    return {**({"git_commit": commit, "mlflow.source.git.commit": commit} if commit else {}), "dataset_digest": digest}


@cache
def code_commit() -> str:
    """The commit of the checkout that the program runs from, with `-dirty` where it was changed; empty: no checkout."""
    checkout = Path(__file__).resolve().parents[2]
    git = shutil.which("git")
    if git is None or not (checkout / ".git").exists():
        return ""
    try:
        said = subprocess.run(  # noqa: S603 - git alone, in our own checkout
            [git, "-C", str(checkout), "describe", "--always", "--abbrev=40", "--dirty", "--exclude=*"],
            capture_output=True,
            text=True,
            timeout=5.0,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return said.stdout.strip() if said.returncode == 0 else ""


def row_of(report: Report, place: SweepPlace, *, folder: str) -> SweepRow:
    from contextcliff.findings import phrases
    from contextcliff.findings.finding import tested_lengths

    run, analysis = report.run, report.analysis
    cap = analysis.safe_cap
    scored = [each for each in analysis.lengths if each.mean is not None]
    curve = curve_of(tested_lengths(report))
    return SweepRow(
        job=place.job,
        model=run.model,
        task=run.task,
        kv_policy=run.kv_policy,
        differing=place.differing,
        state="partial" if run.partial else "done",
        run_id=run.run_id,
        folder=folder,
        cap_tokens=cap.tokens,
        outcome=cap.outcome,
        limited_by=cap.limited_by,
        censored=cap.at_least,
        verdict=cap.verdict,
        shape=cap.shape or "",
        evidence=cap.evidence or "",
        fraction_of_window=cap.fraction_of_max,
        quantity=cap.quantity,
        threshold=cap.threshold,
        threshold_score=phrases.tested_threshold(cap),
        confidence=cap.confidence,
        crossing_low=cap.ci_low,
        crossing_high=cap.ci_high,
        longest_tokens=max((each.median_tokens for each in scored), default=None),
        n_samples=report.counts.completed,
        mean_score=analysis.mean,
        prompt_tokens=report.usage.prompt_tokens,
        completion_tokens=report.usage.completion_tokens,
        usd=report.usage.usd,
        wall_s=report.usage.wall_s,
        # A tag of MLflow holds some thousand characters.
        curve=curve if len(curve) <= 60 else (),
        searched=analysis.finding(Search) is not None,
    )


def row_without_report(
    invocation: Invocation, place: SweepPlace, *, state: JobState, error: str = "", run_id: str = ""
) -> SweepRow:
    return SweepRow(
        job=place.job,
        model=invocation.shown_model,
        task=invocation.task_name,
        kv_policy=invocation.shown_policy,
        differing=place.differing,
        state=state,
        error=error,
        run_id=run_id,
    )


def track_sweep(
    tracker: MLflowTracker | None,
    sweep: StoredSweep,
    rows: Sequence[SweepRow],
    *,
    folder: Path,
    over: bool,
    drawn: Mapping[str, Path] | None = None,
) -> None:
    """Keep a sweep as it stands, where runs are kept; `folder` is its folder, and `drawn` has the figure that goes to
    each run, by the run's folder. Raises `TrackingError`."""
    if tracker is not None:
        leaderboard, typed = folder / LEADERBOARD, overrides_by_key(sweep.overrides)
        leaderboard.mkdir(parents=True, exist_ok=True)
        tracker.log_sweep(sweep, rows, folder=leaderboard, typed=typed, over=over, drawn=drawn or {})


def upload_sweeps(tracker: MLflowTracker | None, experiment: Path) -> dict[str, tuple[SweepPlace, SweepRow]]:
    """Write and upload the sweeps of an experiment; returns place and row of each run folder in its latest."""
    from contextcliff.reporting.leaderboard import write_leaderboard

    jobs: dict[str, tuple[SweepPlace, SweepRow]] = {}
    for folder in stored_sweeps(experiment):
        sweep, rows = read_sweep(folder), read_rows(folder)
        if sweep is None or not rows:
            continue
        write_leaderboard(rows, sweep, folder=folder / LEADERBOARD)
        over = all(row.state != "running" for row in rows) and len(rows) >= sweep.n_jobs
        track_sweep(tracker, sweep, rows, folder=folder, over=over)
        for row in rows:
            place = SweepPlace(
                sweep_id=sweep.sweep_id,
                name=sweep.name,
                command=sweep.command,
                job=row.job,
                n_jobs=sweep.n_jobs,
                differing=row.differing,
            )
            if row.folder:
                jobs[row.folder] = (place, row)
    return jobs
