"""Reports that runs left in a folder, read and checked: which can be read, and why others can't."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import chain, count
from pathlib import Path

from contextcliff.analysis.judged_by import Rule, differing, rule_of, suffix_of
from contextcliff.datasets.local_files import UnreadableFile, json_of
from contextcliff.errors import ConfigError
from contextcliff.records.report import SCHEMA_VERSION, Report
from contextcliff.reporting.schema import unflatten

REPORT_NAME, MANIFEST_NAME = "report.json", "manifest.json"


class UnreadableReport(Exception):
    """A `report.json` that is none of this version; the message goes on after the file's name."""


class NewerReport(UnreadableReport):
    """One that a later version of ContextCliff wrote."""


@dataclass(frozen=True, kw_only=True, slots=True)
class StoredReport:
    """A report, and the folder of the run that left it."""

    folder: Path
    report: Report


def read_report(file: Path) -> Report:
    """A run's `report.json`. Raises `UnreadableReport`."""
    try:
        content = json_of(file)
        version = content.get("schema_version") if isinstance(content, Mapping) else None
        if isinstance(version, int) and version > SCHEMA_VERSION:
            raise NewerReport(
                f"is of schema {version}, this ContextCliff reads {SCHEMA_VERSION}: upgrade, or make it anew with "
                "action=analyze"
            )
        return unflatten(content)
    except (UnreadableFile, ValueError, RecursionError, OverflowError) as error:
        raise UnreadableReport("can't be read as a report of this version; make it anew with action=analyze") from error


def run_folder(name: str, experiment: Path) -> Path | None:
    """The folder of a run by its path, its report's path, or its id in an experiment; None if it is no run."""
    given = Path(name).expanduser()
    folders = (given, experiment / name, *([given.parent] if given.name == REPORT_NAME else []))
    return next((folder for folder in folders if (folder / REPORT_NAME).is_file()), None)


def read_run(folder: Path, *, key: str) -> Report:
    """The report in a folder that a key of the configuration names. Raises `ConfigError` that names the key."""
    try:
        return read_report(folder / REPORT_NAME)
    except UnreadableReport as error:
        raise ConfigError(f"{key}={folder / REPORT_NAME}: {error}, or leave it out") from error


def stored_reports(experiment: Path) -> tuple[tuple[StoredReport, ...], Mapping[Path, str]]:
    """Every report of an experiment's folder, the oldest first, and why what can't be read is passed over, by file."""
    readable: list[StoredReport] = []
    passed_over: dict[Path, str] = {}
    for file in sorted(experiment.glob(f"*/{REPORT_NAME}")):
        try:
            readable.append(StoredReport(folder=file.parent, report=read_report(file)))
        except UnreadableReport as error:
            passed_over[file] = str(error)
    readable.sort(key=lambda stored: (stored.report.run.created_at, stored.report.run.run_id))
    return tuple(readable), passed_over


def told_passed_over(passed_over: Mapping[Path, str]) -> str:
    """A sentence on the reports that were passed over: how many, and what is wrong with the first."""
    file, reason = next(iter(passed_over.items()))
    several = f"{len(passed_over):,} reports, the first of them " if len(passed_over) > 1 else ""
    return f"left out: {several}{file} {reason}"


def folder_of(report: Report, *, experiment: Path) -> Path:
    """Where a report goes: `RUN_ID`; beside one by another rule `RUN_ID-threshold-0.9`, which says what differs."""
    plain, rule = experiment / report.run.run_id, rule_of(report)
    if not (suffix := _taken(rule, plain)):
        return plain
    endings = chain([suffix], (f"{suffix}-{number}" for number in count(2)))
    folders = (plain.with_name(f"{plain.name}-{ending}") for ending in endings)
    return next(folder for folder in folders if not _taken(rule, folder))


def _taken(rule: Rule, folder: Path) -> str:
    """What tells a rule from that of the report in a folder; empty: the folder is free for it."""
    try:
        keys = differing(rule, rule_of(read_report(folder / REPORT_NAME)))
    except NewerReport:
        return f"schema-{SCHEMA_VERSION}"
    except UnreadableReport:
        return ""
    return suffix_of(rule, keys) if keys else ""
