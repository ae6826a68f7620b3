"""Runs that a tracker lacks, uploaded from their folders: after a tracking server was away, or from other machines."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from contextcliff.actions.tracked_sweep import JobOfSweep, upload_sweeps
from contextcliff.reporting.run_folders import run_folders
from contextcliff.tracking.tracked_folder import tracked_of
from contextcliff.tracking.tracker import Tracker, TrackingError

if TYPE_CHECKING:
    from contextcliff.tracking.tracker import Tracked


@dataclass(frozen=True, kw_only=True, slots=True)
class Uploads:
    """What became of the runs of several experiments; `failed` has the folder of each that failed, and why."""

    uploaded: tuple[Path, ...] = ()
    there: int = 0
    failed: tuple[tuple[Path, str], ...] = ()
    untried: int = 0
    """Runs that were left after the tracker could not be asked."""


def upload_runs(tracking: Tracker, experiments: Sequence[Path]) -> Uploads:
    """Upload every run of these experiments that the tracker lacks, into the experiment of its folder's name.

    A run that fails does not keep the others from it; where the tracker can't even be asked, no further one is tried.
    """
    uploaded: list[Path] = []
    failed: list[tuple[Path, str]] = []
    folders = [folder for experiment in experiments for folder in run_folders(experiment)]
    there = 0
    jobs: dict[Path, Mapping[str, JobOfSweep]] = {}
    for place, folder in enumerate(folders):
        tracker = _of_experiment(tracking, folder.parent.name)
        try:
            tracked = tracked_of(folder)
        except TrackingError as error:
            failed.append((folder, str(error)))
            continue
        try:
            if folder.parent not in jobs:
                jobs[folder.parent] = upload_sweeps(tracker, folder.parent)
            job = jobs[folder.parent].get(folder.name)
            tracked = tracked if job is None else replace(tracked, place=job.place, row=job.row)
            is_there = tracker.has(tracked)
            if is_there and job is not None:
                tracker.log(tracked)  # which changes nothing but where it lies
        except TrackingError as error:
            failed.append((folder, str(error)))
            return Uploads(
                uploaded=tuple(uploaded), there=there, failed=tuple(failed), untried=len(folders) - place - 1
            )
        if is_there:
            there += 1
            continue
        why = _failure(tracker, tracked)
        if why is None:
            uploaded.append(folder)
        else:
            failed.append((folder, why))
    return Uploads(uploaded=tuple(uploaded), there=there, failed=tuple(failed))


def _failure(tracker: Tracker, tracked: Tracked) -> str | None:
    try:
        tracker.log(tracked)
    except TrackingError as error:
        return str(error)
    return None


def _of_experiment(tracking: Tracker, name: str) -> Tracker:
    return tracking if tracking.experiment == name else cast(Tracker, replace(cast(Any, tracking), experiment=name))
