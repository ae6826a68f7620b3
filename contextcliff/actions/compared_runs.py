"""The runs that a comparison names: found by id, folder, file or search, read, and judged by one rule."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from contextcliff.actions.action import Invocation
from contextcliff.actions.analyze import Analyze
from contextcliff.analysis.judged_by import Rule, differing, rule_of, score_rule, worded
from contextcliff.errors import ConfigError, RunError
from contextcliff.records.report import Report
from contextcliff.reporting import stored_reports as stored
from contextcliff.reporting.comparison.comparison import PARTS, ComparedRun, ReadingRequest, parts_with
from contextcliff.reporting.run_names import facts_of, read_parameters, run_parameters
from contextcliff.reporting.stored_reports import MANIFEST_NAME, REPORT_NAME, StoredReport, told_passed_over
from contextcliff.reporting.stored_sweeps import latest_sweep
from contextcliff.tracking.tracker import TrackingError

KEY = "action.candidates"
Chosen = tuple[tuple[ComparedRun, ...], tuple[str, ...]]
_TRACKED_ID = re.compile(r"[0-9a-f]{32}")
_GROUPS = ("model", "kv_policy", "task", "dataset", "engine", "label", "rope", "tokenizer")
_MOST_VALUES = 8
_MOST_RUNS, FEWEST = 12, 2


def named_runs(
    named: Sequence[str], *, key: str, invocation: Invocation, request: ReadingRequest, latest: bool = False
) -> tuple[ComparedRun, ...]:
    """The runs in the order of their names, each once; a search stands for all it finds, with `latest` for the last."""
    experiment = invocation.experiment
    runs: dict[Path, ComparedRun] = {}
    for name in named:
        if is_search(name):
            chosen = _each_once(_searched(name, key=key, experiment=experiment))[-1 if latest else 0 :]
            runs |= {one.folder.resolve(): _ours(one) for one in chosen}
        elif (folder := run_folder(name, invocation, key=key)) is not None:
            runs.setdefault(folder.resolve(), run_at(folder, key=key))
        else:
            given = Path(name).expanduser()
            runs.setdefault(given.resolve(), _of_another_tool(given, name, key=key, request=request, place=experiment))
    return tuple(runs.values())


def _of_another_tool(given: Path, name: str, *, key: str, request: ReadingRequest, place: Path) -> ComparedRun:
    readers = [part for part in parts_with(PARTS) if part.tool]
    if given.exists() and (reader := next((part for part in readers if part.reads(given)), None)) is not None:
        return reader.read(given, request)
    tools = "".join(f" nor one of {part.tool}" for part in readers)
    reason = f"is neither a run of ours{tools}" if given.exists() else f"is not in {place}"
    others = "".join(f", or {part.readable}" for part in readers)
    raise ConfigError(f"{key}: {name} {reason}; give a run id of this experiment, a run's folder{others}")


def run_folder(name: str, invocation: Invocation, *, key: str) -> Path | None:
    """The folder of a run of ours by its path, its run id or its MLflow id; None if it is no run."""
    if not _TRACKED_ID.fullmatch(name) or Path(name).exists():
        return stored.run_folder(name, invocation.experiment)
    try:
        return invocation.tracking.fetch(name, experiment=invocation.experiment)
    except TrackingError as error:
        raise ConfigError(f"{key}={name}: {error}; give a run id of this experiment or a run's folder") from error


def run_at(folder: Path, *, key: str) -> ComparedRun:
    """The run of ours in a folder. Raises `ConfigError` that names `key`."""
    return _ours(StoredReport(folder=folder, report=stored.read_run(folder, key=key)))


def _ours(one: StoredReport) -> ComparedRun:
    report, facts = one.report, facts_of(one.report)
    return ComparedRun(
        name=facts.run_id,
        facts=facts,
        source=str(one.folder),
        parameters={**run_parameters(report, read_parameters(one.folder / MANIFEST_NAME)), "task": report.run.task},
        lengths=tuple(sorted(a_bin.asked_tokens for a_bin in report.analysis.bins)),
        report=report,
        findings=report.analysis.findings,
    )


def latest_runs(experiment: Path, *, task: str, of_sweep: bool) -> Chosen:
    """The latest runs of a task, oldest first; with `of_sweep` the jobs of the latest sweep, where it has two."""
    found, passed_over = stored.stored_reports(experiment)
    left_out = [told_passed_over(passed_over)] if passed_over else []
    by_folder = {one.folder.name: one for one in found}
    swept = [by_folder[name] for name in latest_sweep(experiment) if of_sweep and name in by_folder]
    tasks = [one.report.run.task for one in swept]
    of_task = task if task in tasks else next(iter(tasks), task)
    runs = [one for one in swept if one.report.run.task == of_task]
    if len(runs) < FEWEST:
        runs = _each_once([one for one in found if one.report.run.task == task])[-_MOST_RUNS:]
    elif others := sorted({*tasks} - {of_task}):
        left_out.append(f"left out, of other tasks in the same sweep: {', '.join(others)}; task=NAME chooses")
    return tuple(map(_ours, runs)), tuple(left_out)


def _each_once(reports: Sequence[StoredReport]) -> list[StoredReport]:
    """Of each run the report in its own folder, by the rule that it was run with, else the latest; oldest first."""
    last = sorted(reports, key=lambda one: one.folder.name == one.report.run.run_id)
    return sorted({one.report.run.run_id: one for one in last}.values(), key=reports.index)


def is_search(name: str) -> bool:
    """Whether a name is a search and no id or path: `KEY=VALUE`, several of them with spaces between."""
    parts = name.split()
    return bool(parts) and all(0 < part.find("=") < len(part) - 1 for part in parts) and not Path(name).exists()


def _searched(search: str, *, key: str, experiment: Path) -> Sequence[StoredReport]:
    wanted = dict(part.split("=", 1) for part in search.split())
    reports, _ = stored.stored_reports(experiment)
    matching = [one for one in reports if all(value in _values(one, name) for name, value in wanted.items())]
    if matching:
        return matching
    there = []
    for name in wanted:
        values = sorted({value for one in reports for value in _values(one, name) if value})
        more = f" and {len(values) - _MOST_VALUES} more" if len(values) > _MOST_VALUES else ""
        there.append(f"{name} there: {', '.join(values[:_MOST_VALUES]) or 'none'}{more}")
    held = "; ".join(there) if reports else f"it holds no {REPORT_NAME}"
    raise ConfigError(f"{key}={search}: matches no run of {experiment}; {held}")


def _values(one: StoredReport, name: str) -> frozenset[str]:
    run = one.report.run
    values = {str(getattr(run, name))} if name in _GROUPS else set()
    recorded = read_parameters(one.folder / MANIFEST_NAME)
    values |= {recorded[key] for key in (name, f"{name}.name") if key in recorded}
    typed = (part.partition("=") for part in shlex.split(run.command))
    return frozenset(values | {value for each, _, value in typed if each.lstrip("+") == name})


def cap_rule(report: Report) -> Rule:
    """What makes two caps two different claims; a finding's own keys are left to its comparison part."""
    of_parts = tuple(key for part in parts_with(report.analysis.findings) for key in part.rule_keys)
    return {key: value for key, value in score_rule(rule_of(report)).items() if not key.startswith(of_parts)}


def judged_alike(runs: Sequence[ComparedRun], invocation: Invocation) -> Chosen:
    """The runs, those of one kind of task by the rule of the first, and a sentence for each judged again."""
    base, judged, notes = runs[0].report, list[ComparedRun](), list[str]()
    kinds = [None if each.report is None else each.report.run.task_kind or each.report.run.task for each in runs]
    for run, kind in zip(runs, kinds, strict=True):
        keys: tuple[str, ...] = ()
        if base is not None and run.report is not None and kind == kinds[0]:
            rule, own = cap_rule(base), cap_rule(run.report)
            keys = differing(rule, own)
        if not keys:
            judged.append(run)
            continue
        again = _again(run, {key: rule[key] for key in keys}, invocation)
        if again is None:
            values = " ".join(f"{key}=VALUE" for key in keys)
            raise ConfigError(
                f"{KEY}: judged by different rules: {runs[0].folder} by {worded(rule, keys)}; {run.folder} by "
                f"{worded(own, keys)}; judge each by the same with action=analyze {values}, and name the folders that "
                "it prints"
            )
        judged.append(again)
        notes.append(f"{run.folder} was judged again by {worded(rule, keys)}, as {again.folder}: one rule for all")
    return tuple(judged), tuple(notes)


def _again(run: ComparedRun, rule: Mapping[str, str], invocation: Invocation) -> ComparedRun | None:
    reported: list[Path] = []
    if invocation.analysis_of is None:
        return None
    try:
        again = invocation.analysis_of(Path(run.source), {**rule, "analysis.require_cap": "None"})
        quiet = replace(again.reporting, console="none", progress=False, figures=invocation.reporting.figures)
        again = replace(again, output_dir=invocation.output_dir, tracking=invocation.tracking, reporting=quiet)
        Analyze()(replace(again, on_reported=reported.append))
    except (ConfigError, RunError):
        return None
    return run_at(reported[-1], key=KEY) if reported else None
