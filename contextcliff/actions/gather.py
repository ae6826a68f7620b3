"""Action `gather`: other output folders' answers and runs come into this one, and the tracker gets what it lacks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, cast

from contextcliff.actions.action import Invocation
from contextcliff.actions.override_keys import key_of
from contextcliff.actions.sweeps import upload_sweeps
from contextcliff.errors import ConfigError, ExitCode, RunError, visible
from contextcliff.execution.merging import Merged, merge_store
from contextcliff.execution.store import STORE_NAME, Store
from contextcliff.records.sweep import SweepRow
from contextcliff.reporting.run_folders import copy_run, experiments, run_folders
from contextcliff.reporting.stored_sweeps import merge_sweeps
from contextcliff.settings import GivenPath, settings
from contextcliff.tracking.tracked_folder import tracked_of
from contextcliff.tracking.tracker import SweepPlace, Tracker, TrackingError

_STORES = "action.stores"
_MOST_SHOWN = 12


@settings
class Gather:
    """Stores are merged one after the other, each whole or not at all; what was gathered before is there already."""

    stores: tuple[GivenPath, ...] = ()
    """Output folders, each with its `state.db`. None: the runs of `output_dir` are uploaded, and nothing else."""

    def __call__(self, invocation: Invocation) -> ExitCode:
        """Print what was gathered. Raises `ConfigError` for what is no output folder, before anything is changed, and
        `RunError` for a store that can't be merged, and at the end where a run could not be uploaded."""
        places = [self._place(name, invocation.output_dir) for name in self.stores]
        gathered: list[_Gathered] = []
        with Store(invocation.output_dir) as store:
            for place in places:
                try:
                    merged = merge_store(store, place)
                except RunError as error:
                    raise RunError(f"{_STORES}: {error}") from error
                copied, left_out = _copied(place, invocation.output_dir)
                gathered.append(_Gathered(place=place, merged=merged, copied=copied, left_out=left_out))
        uploads = upload_runs(invocation.tracking, _experiments(invocation))
        if invocation.reporting.prints:
            _render(gathered, output_dir=invocation.output_dir)
            _render_uploads(uploads if invocation.tracking.ui_command() else None)
        _require_uploaded(uploads)
        return ExitCode.DONE

    def _place(self, name: str, output_dir: Path) -> Path:
        place = Path(name).expanduser()
        if not (place / STORE_NAME).is_file():
            raise ConfigError(
                f"{_STORES}: {name} has no {STORE_NAME}; give output folders, each with its {STORE_NAME} and its runs"
            )
        if place.resolve() == output_dir.resolve():
            raise ConfigError(f"{_STORES}: {name} is output_dir itself; name other output folders")
        return place


@dataclass(frozen=True, kw_only=True, slots=True)
class _Gathered:
    """What another output folder brought."""

    place: Path
    merged: Merged
    copied: tuple[Path, ...]
    """Run folders that were missing or older here."""
    left_out: tuple[str, ...]
    """A line for each run folder that was not copied though it is not here."""


def _say(line: str) -> None:
    from rich.console import Console
    from rich.text import Text

    Console().print(Text(visible(line)), soft_wrap=True)


def _render(gathered: Sequence[_Gathered], *, output_dir: Path) -> None:
    """Print a row for each store, and what is left to do."""
    from rich.console import Console

    from contextcliff.findings.finding import columns_of
    from contextcliff.reporting.console import folding

    if not gathered:
        return
    _say(f"GATHERED in {output_dir}")
    rows = [
        (
            str(each.place),
            *(f"{n:,}" for n in (each.merged.runs, each.merged.new_runs)),
            *(f"{n:,}" for n in (each.merged.generations, each.merged.new_generations, len(each.copied))),
        )
        for each in gathered
    ]
    head = ("store", "runs", "new", "answers", "new", "folders copied")
    console = Console()
    console.print(folding(columns_of(head, rows, words=("store",)), console=console))
    for each in gathered:
        for line in each.left_out[:_MOST_SHOWN]:
            _say(f"  left out: {line}")
        if each.merged.other_answers:
            others = f"{each.merged.other_answers:,} of its answers were given otherwise here"
            _say(f"  {each.place}: {others}; those here stay, and action=analyze run=RUN reports them")


def _render_uploads(uploads: Uploads | None) -> None:
    """Print what the tracker got; None if it keeps no runs."""
    if uploads is None:
        _say("TRACKING nothing: tracking=none keeps no runs")
        return
    done, failed = uploads.uploaded, uploads.failed
    rest = f", {uploads.untried:,} not tried" if uploads.untried else ""
    _say(f"TRACKING {len(done):,} uploaded, {uploads.there:,} there already, {len(failed):,} failed{rest}")
    for folder in done[:_MOST_SHOWN]:
        _say(f"  uploaded: {folder}")
    if len(done) > _MOST_SHOWN:
        _say(f"  … and {len(done) - _MOST_SHOWN:,} more")
    for folder, why in failed[:_MOST_SHOWN]:
        _say(f"  failed: {folder}: {why}")


def _copied(place: Path, output_dir: Path) -> tuple[tuple[Path, ...], tuple[str, ...]]:
    """The run folders that were copied, and a line for each that could not be."""
    copied: list[Path] = []
    left_out: list[str] = []
    for experiment in experiments(place):
        merge_sweeps(experiment, output_dir / experiment.name)
        for folder in run_folders(experiment):
            try:
                target = copy_run(folder, experiment=output_dir / experiment.name)
            except ConfigError as error:
                left_out.append(str(error))
            except OSError as error:
                left_out.append(f"{error.filename or folder}: {error.strerror}")
            else:
                copied += [] if target is None else [target]
    return tuple(copied), tuple(left_out)


def _experiments(invocation: Invocation) -> list[Path]:
    """Every experiment of the output folder, or the one that was asked for."""
    asked = any(key_of(each) == "tracking.experiment" for each in invocation.overrides)
    found = experiments(invocation.output_dir)
    return [each for each in found if not asked or each.name == invocation.tracking.experiment]


def _require_uploaded(uploads: Uploads) -> None:
    if not uploads.failed:
        return
    _, why = uploads.failed[0]
    failed = len(uploads.failed) + uploads.untried
    tried = failed + len(uploads.uploaded) + uploads.there
    raise RunError(f"{failed:,} of {tried:,} runs could not be uploaded: {why}; the same command uploads them later")


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
    jobs: dict[Path, Mapping[str, tuple[SweepPlace, SweepRow]]] = {}
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
            tracked = tracked if job is None else replace(tracked, place=job[0], row=job[1])
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
        try:
            tracker.log(tracked)
        except TrackingError as error:
            failed.append((folder, str(error)))
        else:
            uploaded.append(folder)
    return Uploads(uploaded=tuple(uploaded), there=there, failed=tuple(failed))


def _of_experiment(tracking: Tracker, name: str) -> Tracker:
    return tracking if tracking.experiment == name else cast(Tracker, replace(cast(Any, tracking), experiment=name))
