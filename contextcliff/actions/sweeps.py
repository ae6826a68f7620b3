"""A sweep as it is tracked: the row of each of its jobs, and the whole from what its folder remembers."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from contextcliff.actions.action import Invocation
from contextcliff.actions.override_keys import overrides_by_key
from contextcliff.records.report import Report
from contextcliff.records.sweep import CurvePoint, JobState, SweepRow
from contextcliff.reporting.stored_sweeps import LEADERBOARD, StoredSweep, read_rows, read_sweep, stored_sweeps
from contextcliff.tracking.tracker import SweepPlace

if TYPE_CHECKING:
    from contextcliff.tracking.mlflow import MLflowTracker

_MOST_POINTS = 60


def row_of(report: Report, place: SweepPlace, *, folder: str) -> SweepRow:
    """The row of a job that has its report."""
    from contextcliff.findings import phrases
    from contextcliff.findings.kv_cache import KVCache  # needs numpy, which a job that is not begun yet does without

    run, analysis = report.run, report.analysis
    cap, cache = analysis.safe_cap, analysis.finding(KVCache)
    scored = [each for each in analysis.lengths if each.mean is not None]
    curve = tuple(
        CurvePoint(
            tokens=each.median_tokens,
            mean=each.mean,
            low=each.ci_low,
            high=each.ci_high,
            asked_tokens=0 if each.natural_lengths else each.asked_tokens,
        )
        for each in scored
        if each.mean is not None and each.ci_low is not None and each.ci_high is not None
    )
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
        threshold=cap.threshold,
        threshold_score=phrases.threshold_score(report),
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
        kv_bytes_per_token=None if cache is None else cache.facts.bytes_per_token,
        # A tag of MLflow holds some thousand characters.
        curve=curve if len(curve) <= _MOST_POINTS else (),
    )


def row_without_report(
    invocation: Invocation, place: SweepPlace, *, state: JobState, error: str = "", run_id: str = ""
) -> SweepRow:
    """The row of a job that is under way, or that has failed."""
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
    tracker: MLflowTracker | None, sweep: StoredSweep, rows: Sequence[SweepRow], *, folder: Path, over: bool
) -> None:
    """Keep a sweep as it stands, where runs are kept; `folder` is its folder. Raises `TrackingError`."""
    if tracker is not None:
        leaderboard, typed = folder / LEADERBOARD, overrides_by_key(sweep.overrides)
        leaderboard.mkdir(parents=True, exist_ok=True)
        tracker.log_sweep(sweep, rows, folder=leaderboard, typed=typed, over=over)


def upload_sweeps(tracker: MLflowTracker | None, experiment: Path) -> dict[str, tuple[SweepPlace, SweepRow]]:
    """Write and upload the sweeps of an experiment's folder; returns place and row of each run folder in its latest.

    Raises `TrackingError`.
    """
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
