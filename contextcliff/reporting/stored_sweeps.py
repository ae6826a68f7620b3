"""The sweeps of an experiment: `sweeps/SWEEP/` has `sweep.json`, `jobs/NUMBER.json`, and `leaderboard/` with what is
made of them."""

from __future__ import annotations

import json
import re
from dataclasses import asdict, dataclass
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from contextcliff.datasets.local_files import UnreadableFile, json_of, opened, whole
from contextcliff.records.sweep import SweepRow, row_from_json, row_to_json
from contextcliff.reporting.data_files import write_text

SWEEPS = "sweeps"
LEADERBOARD = "leaderboard"
_ABOUT, _JOBS = "sweep.json", "jobs"
_LONGEST_ROW = 1 << 20
_ID = re.compile(r"[0-9a-f]{4,64}")


@dataclass(frozen=True, kw_only=True, slots=True)
class StoredSweep:
    """What was asked of a sweep."""

    sweep_id: str
    name: str
    command: str
    overrides: tuple[str, ...]
    """Of the command, as typed."""
    n_jobs: int
    """0: not known, as with a sweeper that chooses on the way."""
    began_at: str
    """UTC, ISO 8601, of the last time that it was begun."""


_about = TypeAdapter(StoredSweep)


def sweep_folder(experiment: Path, sweep_id: str) -> Path:
    """The folder of a sweep."""
    return experiment / SWEEPS / sweep_id


def write_sweep(folder: Path, sweep: StoredSweep) -> None:
    """Remember what was asked."""
    write_text(path=folder / _ABOUT, text=json.dumps(asdict(sweep), ensure_ascii=False, indent=2) + "\n")


def read_sweep(folder: Path) -> StoredSweep | None:
    """What was asked; None where that can't be read."""
    try:
        return _about.validate_python(json_of(folder / _ABOUT, most=_LONGEST_ROW))
    except (UnreadableFile, ValidationError):
        return None


def write_row(folder: Path, row: SweepRow) -> None:
    """Keep what a job came to, in the place of what was known of it."""
    write_text(path=folder / _JOBS / f"{row.job:04}.json", text=row_to_json(row) + "\n")


def read_rows(folder: Path) -> tuple[SweepRow, ...]:
    """The rows of a sweep by their jobs; what can't be read is left out."""
    rows = []
    for file in sorted((folder / _JOBS).glob("*.json")):
        try:
            with opened(file, most=_LONGEST_ROW) as stream:
                rows.append(row_from_json(whole(stream).decode()))
        except UnreadableFile:
            continue
    return tuple(sorted(rows, key=lambda row: row.job))


def stored_sweeps(experiment: Path) -> tuple[Path, ...]:
    """The folders of the sweeps, the one that was begun last at the end."""
    found = ((read_sweep(folder), folder) for folder in (experiment / SWEEPS).glob("*"))
    return tuple(folder for _, folder in sorted((sweep.began_at, folder) for sweep, folder in found if sweep))


def merge_sweeps(source: Path, target: Path) -> None:
    """Bring the sweeps of another experiment's folder into this one, ended jobs over others. Only what reads as a sweep
    or a row is written."""
    for folder in sorted((source / SWEEPS).glob("*")):
        if not _ID.fullmatch(folder.name) or folder.is_symlink():
            continue
        place = sweep_folder(target, folder.name)
        about = read_sweep(folder)
        if about is not None and about.sweep_id == folder.name and read_sweep(place) is None:
            write_sweep(place, about)
        here = {row.job: row for row in read_rows(place)}
        for row in read_rows(folder):
            known = here.get(row.job)
            if known is None or (known.state != "done" and row.state in ("done", "partial")):
                write_row(place, row)


def latest_sweep(experiment: Path) -> tuple[str, ...]:
    """Names of the run folders that the latest sweep left, in the order of its jobs; empty where there was none."""
    for sweep in reversed(stored_sweeps(experiment)):
        names = dict.fromkeys(row.folder for row in read_rows(sweep))
        there = tuple(name for name in names if name and Path(name).name == name and (experiment / name).is_dir())
        if there:
            return there
    return ()
