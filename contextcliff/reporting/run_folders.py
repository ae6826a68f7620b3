"""Run folders of an output folder, and copies of another one's. That may be anybody's: only plain files are copied,
under names that are one name, whatever links and names there are."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from contextcliff.datasets.local_files import refuse_large
from contextcliff.errors import ConfigError
from contextcliff.reporting.data_files import replacing, replacing_together
from contextcliff.reporting.files import stale_files
from contextcliff.reporting.stored_reports import REPORT_NAME, UnreadableReport, folder_of, read_report
from contextcliff.settings import FOLDER_NAME

_RUN_NAME = re.compile(r"\w[\w. -]{0,254}")
_MOST_FILES = 10_000
_DEEPEST = 4


def experiments(output_dir: Path) -> list[Path]:
    """The folders of an output folder that hold run folders, by name."""
    found = (path for path in _folders(output_dir) if FOLDER_NAME.fullmatch(path.name))
    return sorted(path for path in found if next(run_folders(path), None) is not None)


def run_folders(experiment: Path) -> Iterator[Path]:
    """The folders of runs that have a report, by name. Links are none."""
    for path in sorted(_folders(experiment)):
        file = path / REPORT_NAME
        if _RUN_NAME.fullmatch(path.name) and file.is_file() and not file.is_symlink():
            yield path


def copy_run(folder: Path, *, experiment: Path) -> Path | None:
    """Copy a run's folder into an experiment; None if it is there by the same rule, as new or newer. Raises
    `ConfigError` for a folder that is too large or none of a run."""
    try:
        report = read_report(folder / REPORT_NAME)
    except UnreadableReport as error:
        raise ConfigError(f"{folder / REPORT_NAME} {error}") from error
    if not _RUN_NAME.fullmatch(report.run.run_id):
        raise ConfigError(f"{folder / REPORT_NAME}: its run id is no name of a folder")
    target = folder_of(report, experiment=experiment)
    with suppress(UnreadableReport):
        if read_report(target / REPORT_NAME).run.created_at >= report.run.created_at:
            return None
    files = _files(folder)
    for path in files:
        refuse_large(path.stat().st_size, str(path))
    with replacing_together(target, stale=stale_files(report)) as new:
        for path in files:
            with path.open("rb") as source, replacing(new / path.relative_to(folder)) as copy:
                shutil.copyfileobj(source, copy)
    return target


def _folders(folder: Path) -> list[Path]:
    try:
        return [path for path in folder.iterdir() if path.is_dir() and not path.is_symlink()]
    except FileNotFoundError:
        return []


def _files(folder: Path, *, depth: int = 1) -> list[Path]:
    """Plain files below a folder. What is hidden is left: it is a file that was not finished."""
    found: list[Path] = []
    for path in sorted(folder.iterdir()):
        if path.is_symlink() or path.name.startswith("."):
            continue
        if path.is_file():
            found.append(path)
        elif path.is_dir() and depth < _DEEPEST:
            found += _files(path, depth=depth + 1)
        if len(found) > _MOST_FILES:
            raise ConfigError(f"{folder}: has more than {_MOST_FILES:,} files, and is no run's folder")
    return found
