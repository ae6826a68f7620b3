"""Action `gather`: other output folders' answers and runs come into this one, and the tracker gets what it lacks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from contextcliff.actions.action import Invocation
from contextcliff.actions.override_keys import key_of
from contextcliff.actions.track import upload_sweeps
from contextcliff.errors import ConfigError, ExitCode, RunError, visible
from contextcliff.execution.merging import merge_store
from contextcliff.execution.store import STORE_NAME, Store
from contextcliff.records.sweep import SweepRow
from contextcliff.reporting.run_folders import copy_run, experiments, run_folders
from contextcliff.reporting.stored_sweeps import merge_sweeps
from contextcliff.settings import GivenPath, settings
from contextcliff.tracking.mlflow import MLflowTracker, tracked_of
from contextcliff.tracking.tracker import SweepPlace, TrackingError

_STORES = "action.stores"
_HEAD = ("store", "runs", "new", "answers", "new", "folders copied")
_MOST_SHOWN = 12


@settings
class Gather:
    """Stores are merged one after the other, each whole or not at all; what was gathered before is there already."""

    stores: tuple[GivenPath, ...] = ()

    def __call__(self, invocation: Invocation) -> ExitCode:
        """Print what was gathered. Raises `ConfigError` for what is no output folder, before anything is changed, and
        `RunError` for a store that can't be merged, and at the end where a run could not be uploaded."""
        output_dir = invocation.output_dir
        for name in self.stores:
            if not (Path(name).expanduser() / STORE_NAME).is_file():
                raise ConfigError(
                    f"{_STORES}: {name} has no {STORE_NAME}; give output folders, each with its {STORE_NAME} and its "
                    "runs"
                )
            if Path(name).expanduser().resolve() == output_dir.resolve():
                raise ConfigError(f"{_STORES}: {name} is output_dir itself; name other output folders")
        rows, remarks = [], list[str]()
        with Store(output_dir) as store:
            for place in (Path(name).expanduser() for name in self.stores):
                try:
                    merged = merge_store(store, place)
                except RunError as error:
                    raise RunError(f"{_STORES}: {error}") from error
                n_copied, left_out = _copied(place, output_dir)
                others = merged.pop("other_answers")
                rows.append((str(place), *(f"{count:,}" for count in (*merged.values(), n_copied))))
                remarks += [f"left out: {line}" for line in left_out[:_MOST_SHOWN]]
                if others:
                    told = f"{others:,} of its answers were given otherwise here"
                    remarks.append(f"{place}: {told}; those here stay, and action=analyze run=RUN reports them")
        # All experiments of the output folder, or the one that was asked for.
        asked = any(key_of(each) == "tracking.experiment" for each in invocation.overrides)
        named = [each for each in experiments(output_dir) if not asked or each.name == invocation.tracking.experiment]
        folders = [folder for each in named for folder in run_folders(each)]
        uploaded, failed, tracked = list[Path](), dict[Path, str](), "nothing: tracking=none keeps no runs"
        if (tracker := invocation.tracking.mlflow) is not None:
            uploaded, failed = _upload(tracker, folders)
            there = len(folders) - len(uploaded) - len(failed)
            tracked = f"{len(uploaded):,} uploaded, {there:,} there already, {len(failed):,} failed"
        else:
            for experiment in dict.fromkeys(folder.parent for folder in folders):
                upload_sweeps(None, experiment)
        if invocation.reporting.prints:
            from rich.console import Console
            from rich.text import Text

            from contextcliff.findings.finding import columns_of
            from contextcliff.reporting.console import folding

            console, lines = Console(), [f"TRACKING {tracked}"]
            if rows:
                console.print(Text(visible(f"GATHERED in {output_dir}")), soft_wrap=True)
                console.print(folding(columns_of(_HEAD, rows, words=("store",)), console=console))
                lines = [*(f"  {line}" for line in remarks), *lines]
            lines += [f"  uploaded: {folder}" for folder in uploaded[:_MOST_SHOWN]]
            lines += [f"  failed: {folder}: {why}" for folder, why in [*failed.items()][:_MOST_SHOWN]]
            for line in lines:
                console.print(Text(visible(line)), soft_wrap=True)
        for why in failed.values():
            raise RunError(
                f"{len(failed):,} of {len(folders):,} runs could not be uploaded: {why}; the same command uploads them "
                "later"
            )
        return ExitCode.DONE


def _copied(place: Path, output_dir: Path) -> tuple[int, Sequence[str]]:
    n_copied, left_out = 0, []
    for experiment in experiments(place):
        merge_sweeps(experiment, output_dir / experiment.name)
        for folder in run_folders(experiment):
            try:
                n_copied += copy_run(folder, experiment=output_dir / experiment.name) is not None
            except ConfigError as error:
                left_out.append(str(error))
            except OSError as error:
                left_out.append(f"{error.filename or folder}: {error.strerror}")
    return n_copied, left_out


def _upload(tracker: MLflowTracker, folders: Sequence[Path]) -> tuple[list[Path], dict[Path, str]]:
    uploaded, failed = list[Path](), dict[Path, str]()
    jobs: dict[Path, Mapping[str, tuple[SweepPlace, SweepRow]]] = {}
    for place, folder in enumerate(folders):
        experiment = folder.parent
        tracker = replace(tracker, experiment=experiment.name)
        try:
            tracked = tracked_of(folder)
        except TrackingError as error:
            failed[folder] = str(error)
            continue
        try:
            if experiment not in jobs:
                jobs[experiment] = upload_sweeps(tracker, experiment)
            job = jobs[experiment].get(folder.name)
            tracked = tracked if job is None else replace(tracked, place=job[0], row=job[1])
            is_there = tracker.has(tracked)
        except TrackingError as error:
            failed |= dict.fromkeys(folders[place:], str(error))
            break
        try:
            if job is not None or not is_there:  # of one that is there this changes nothing but where it lies
                tracker.log(tracked)
            uploaded += [] if is_there else [folder]
        except TrackingError as error:
            failed[folder] = str(error)
    return uploaded, failed
