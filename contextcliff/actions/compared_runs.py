"""The runs that a comparison names, found and read: by id, folder or file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from contextcliff.actions.compared_rules import by_one_rule, by_others
from contextcliff.datasets.local_files import refuse_large
from contextcliff.errors import ConfigError
from contextcliff.records.report import Report
from contextcliff.reporting.comparison.comparison import ComparedRun, ReadingRequest
from contextcliff.reporting.comparison.part_list import all_parts
from contextcliff.reporting.run_names import facts_of, read_parameters, run_parameters
from contextcliff.reporting.stored_reports import (
    REPORT_NAME,
    UnreadableReport,
    read_report,
    stored_reports,
    told_passed_over,
)

_MANIFEST = "manifest.json"


@dataclass(frozen=True, kw_only=True, slots=True)
class Latest:
    """The latest runs of a task that are judged by one rule, and what was left out, a sentence each."""

    runs: tuple[ComparedRun, ...]
    left_out: tuple[str, ...]


def named_runs(named: Sequence[str], *, experiment: Path, request: ReadingRequest) -> tuple[ComparedRun, ...]:
    """The runs in the order in which they are named, each once and under its run id.

    `request` says how runs of other tools are read. Raises `ConfigError` for a run that isn't there.
    """
    runs: dict[Path, ComparedRun] = {}
    for name in named:
        path = _place(name, experiment, key=request.key)
        if path.resolve() not in runs:
            runs[path.resolve()] = (
                _ours(path, key=request.key) if path.name == REPORT_NAME else _of_other_tool(path, request)
            )
    return tuple(runs.values())


def latest_runs(experiment: Path, *, task: str, most: int) -> Latest:
    """The latest runs of a task by the rule that judged most of them, oldest first, each once.

    Where two rules judged as many, that of the latest report.
    """
    stored = stored_reports(experiment)
    of_task = [one for one in stored.found if one.report.run.task == task]
    latest = list(dict.fromkeys(one.report.run.run_id for one in reversed(of_task)))[:most]
    reports = [one for one in of_task if one.report.run.run_id in latest]
    chosen = by_one_rule(reports)
    left_out = [*by_others(reports, chosen)]
    if stored.passed_over:
        left_out.append(told_passed_over(stored.passed_over))
    runs = tuple(_of_report(one.report, one.folder / REPORT_NAME) for one in chosen)
    return Latest(runs=runs, left_out=tuple(left_out))


def _place(name: str, experiment: Path, *, key: str) -> Path:
    """The report of a run of ours, or what another tool left."""
    given = Path(name).expanduser()
    for path in (given, experiment / name):
        if (path / REPORT_NAME).is_file():
            return path / REPORT_NAME
    if given.is_file() and given.name == REPORT_NAME:
        return given
    readers = [part for part in all_parts() if part.tool]
    if given.exists() and any(part.reads(given) for part in readers):
        return given
    tools = "".join(f" nor one of {part.tool}" for part in readers)
    reason = f"is neither a run of ours{tools}" if given.exists() else f"is not in {experiment}"
    ways = ", ".join(
        ("give a run id of this experiment", "a run's folder", *(f"or {part.readable}" for part in readers))
    )
    raise ConfigError(f"{key}: {name} {reason}; {ways}")


def _ours(file: Path, *, key: str) -> ComparedRun:
    refuse_large(file.stat().st_size, f"{key}={file}")
    try:
        return _of_report(read_report(file), file)
    except UnreadableReport as error:
        raise ConfigError(f"{key}={file}: {error}, or leave it out") from error


def _of_report(report: Report, file: Path) -> ComparedRun:
    facts = facts_of(report)
    return ComparedRun(
        name=facts.run_id,
        facts=facts,
        source=str(file.parent),
        parameters={**run_parameters(report, read_parameters(file.with_name(_MANIFEST))), "task": report.run.task},
        lengths=tuple(sorted(a_bin.asked_tokens for a_bin in report.analysis.bins)),
        report=report,
        findings=report.analysis.findings,
    )


def _of_other_tool(path: Path, request: ReadingRequest) -> ComparedRun:
    return next(part for part in all_parts() if part.reads(path)).read(path, request)
