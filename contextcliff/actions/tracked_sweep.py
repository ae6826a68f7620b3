"""A sweep as it is tracked, from what its folder remembers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from contextcliff.actions.override_keys import overrides_by_key
from contextcliff.records.sweep import SweepRow
from contextcliff.reporting.leaderboard import write_leaderboard
from contextcliff.reporting.stored_sweeps import LEADERBOARD, StoredSweep, read_rows, read_sweep, stored_sweeps
from contextcliff.tracking.tracker import SweepPlace

if TYPE_CHECKING:
    from contextcliff.tracking.mlflow import MLflowTracker


def track_sweep(
    tracker: MLflowTracker | None, sweep: StoredSweep, rows: Sequence[SweepRow], *, folder: Path, over: bool
) -> None:
    """Keep a sweep as it stands, where runs are kept; `folder` is its folder. Raises `TrackingError`."""
    if tracker is not None:
        leaderboard, typed = folder / LEADERBOARD, overrides_by_key(sweep.overrides)
        leaderboard.mkdir(parents=True, exist_ok=True)
        tracker.log_sweep(sweep, rows, folder=leaderboard, typed=typed, over=over)


@dataclass(frozen=True, kw_only=True, slots=True)
class JobOfSweep:
    """Where the run of a folder stands in a sweep."""

    place: SweepPlace
    row: SweepRow


def upload_sweeps(tracker: MLflowTracker | None, experiment: Path) -> dict[str, JobOfSweep]:
    """Write and upload the sweeps of an experiment's folder; returns the job of each run folder, of its latest sweep.

    Raises `TrackingError`.
    """
    jobs: dict[str, JobOfSweep] = {}
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
                jobs[row.folder] = JobOfSweep(place=place, row=row)
    return jobs
