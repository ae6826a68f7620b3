"""The runs that a comparison names: found by id, folder, file or search, read, and judged by one rule."""

from __future__ import annotations

import re
import shlex
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
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
"""Runs to be compared, the baseline first, and a sentence for each thing that was left out or judged again."""
_TRACKED_ID = re.compile(r"[0-9a-f]{32}")
_GROUPS = ("model", "kv_policy", "task", "dataset", "engine", "label", "rope", "tokenizer")
_MOST_VALUES = 8


def named_runs(
    named: Sequence[str], *, key: str, invocation: Invocation, request: ReadingRequest, latest: bool = False
) -> tuple[ComparedRun, ...]:
    """The runs in the order in which they are named, each once and under its run id.

    A name is a run id, a path or a search; a search stands for every run that it finds, or with `latest` for the last
    of them. `key` is the configuration's that names them, and `request` says how runs of other tools are read. Raises
    `ConfigError` for a run that isn't there.
    """
    experiment = invocation.experiment
    runs: dict[Path, ComparedRun] = {}
    for name in named:
        if is_search(name):
            chosen = _by_one_rule(_searched(name, key=key, experiment=experiment))[-1 if latest else 0 :]
            runs |= {one.folder.resolve(): _ours(one) for one in chosen}
            continue
        folder = run_folder(name, invocation, key=key)
        if folder is not None:
            if folder.resolve() not in runs:
                runs[folder.resolve()] = run_at(folder, key=key)
            continue
        given = Path(name).expanduser()
        readers = [part for part in parts_with(PARTS) if part.tool]
        reader = next((part for part in readers if part.reads(given)), None) if given.exists() else None
        if reader is None:
            tools = "".join(f" nor one of {part.tool}" for part in readers)
            reason = f"is neither a run of ours{tools}" if given.exists() else f"is not in {experiment}"
            others = "".join(f", or {part.readable}" for part in readers)
            raise ConfigError(f"{key}: {name} {reason}; give a run id of this experiment, a run's folder{others}")
        if given.resolve() not in runs:
            runs[given.resolve()] = reader.read(given, request)
    return tuple(runs.values())


def run_folder(name: str, invocation: Invocation, *, key: str) -> Path | None:
    """The folder of a run of ours by its path, its run id or its MLflow id; None if it is no run.

    Raises `ConfigError` that names `key` where the tracker does not give it.
    """
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


def latest_runs(experiment: Path, *, task: str, most: int) -> Chosen:
    """The latest runs of a task by the rule that judged most of them, oldest first, each once.

    Where two rules judged as many, that of the latest report.
    """
    found, passed_over = stored.stored_reports(experiment)
    of_task = [one for one in found if one.report.run.task == task]
    latest = list(dict.fromkeys(one.report.run.run_id for one in reversed(of_task)))[:most]
    reports = [one for one in of_task if one.report.run.run_id in latest]
    chosen = _by_one_rule(reports)
    left_out = [*_by_others(reports, chosen)]
    if passed_over:
        left_out.append(told_passed_over(passed_over))
    return tuple(map(_ours, chosen)), tuple(left_out)


def latest_sweep_runs(experiment: Path, *, task: str) -> Chosen:
    """The runs of the latest sweep in the order of its jobs, of this task or, where it has none, of its first job's.

    Of a run that several rules have judged it is the report that the sweep wrote.
    """
    reports, passed_over, left_out = [], dict[Path, str](), []
    for folder in (experiment / name for name in latest_sweep(experiment)):
        file = folder / REPORT_NAME
        try:
            reports += [StoredReport(folder=folder, report=stored.read_report(file))] if file.is_file() else []
        except stored.UnreadableReport as error:
            passed_over[file] = str(error)
    tasks = [one.report.run.task for one in reports]
    chosen = task if task in tasks else next(iter(tasks), task)
    if passed_over and reports:
        left_out.append(told_passed_over(passed_over))
    if others := sorted({*tasks} - {chosen}):
        left_out.append(f"left out, of other tasks in the same sweep: {', '.join(others)}; task=NAME chooses")
    return tuple(_ours(one) for one in reports if one.report.run.task == chosen), tuple(left_out)


def is_search(name: str) -> bool:
    """Whether a name is a search and no id or path: `KEY=VALUE`, several of them with spaces between."""
    parts = name.split()
    return bool(parts) and all(0 < part.find("=") < len(part) - 1 for part in parts) and not Path(name).exists()


def _searched(search: str, *, key: str, experiment: Path) -> Sequence[StoredReport]:
    """The stored reports of an experiment that have all these values, the oldest first; one at least.

    A key is a group (`kv_policy`, `model`, `task` …: its option, or the name that the report has) or dotted, as in the
    run's configuration. Raises `ConfigError` where none matches, with the values that there are.
    """
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
    """Every value that a run has of a key: as its report names it, as it was configured, and as it was typed."""
    run = one.report.run
    values = {str(getattr(run, name))} if name in _GROUPS else set()
    recorded = read_parameters(one.folder / MANIFEST_NAME)
    values |= {recorded[key] for key in (name, f"{name}.name") if key in recorded}
    typed = (part.partition("=") for part in shlex.split(run.command))
    return frozenset(values | {value for each, _, value in typed if each.lstrip("+") == name})


def cap_rule(report: Report) -> Rule:
    """What makes two caps and scores two different claims.

    Keys by which a finding differs and no score does are left out: its comparison part says what follows from them.
    """
    of_parts = tuple(key for part in parts_with(report.analysis.findings) for key in part.rule_keys)
    return {key: value for key, value in score_rule(rule_of(report)).items() if not key.startswith(of_parts)}


def _by_one_rule(reports: Sequence[StoredReport]) -> list[StoredReport]:
    """Of each run the latest report by the rule that most runs have a report by; reports come oldest first."""
    best: dict[str, StoredReport] = {}
    for one in reversed(reports):
        rule = cap_rule(one.report)
        alike = {other.report.run.run_id: other for other in reports if not differing(rule, cap_rule(other.report))}
        if len(alike) > len(best):
            best = alike
    return sorted(best.values(), key=reports.index)


def _by_others(reports: Sequence[StoredReport], chosen: Sequence[StoredReport]) -> Iterator[str]:
    """A sentence for each other rule, with the folders of the reports by it."""
    others: defaultdict[str, list[str]] = defaultdict(list)
    for one in reports:
        rule = cap_rule(one.report)
        if keys := differing(cap_rule(chosen[-1].report), rule):
            others[worded(rule, keys)].append(one.folder.name)
    for other, folders in others.items():
        yield (
            f"left out, since judged by another rule ({other}): {', '.join(folders)}; action.baseline=FOLDER"
            " action.candidates=[FOLDER] compares those"
        )


def judged_alike(runs: Sequence[ComparedRun], invocation: Invocation) -> Chosen:
    """The runs, each by the rule of the first where they are of its kind of task, and a sentence for each judged again.

    Raises `ConfigError` where two runs of one kind are left by different rules, as one whose answers are not in the
    store of `invocation`.
    """
    base = runs[0].report
    judged, notes = [*runs], []
    if base is not None and invocation.analysis_of is not None:
        rule = cap_rule(base)
        for place, run in enumerate(runs):
            same_kind = run.report is not None and _kind(run.report) == _kind(base)
            keys = differing(rule, cap_rule(run.report)) if same_kind and run.report is not None else ()
            again = _again(run, {key: rule[key] for key in keys}, invocation) if keys else None
            if again is not None:
                judged[place] = again
                notes.append(
                    f"{run.folder} was judged again by {worded(rule, keys)}, as {again.folder}: one rule for all"
                )
    for alike in _by_kind(judged).values():
        keys = _mixed(rule for _, rule in alike)
        if keys:
            folders: defaultdict[str, list[str]] = defaultdict(list)
            for run, rule in alike:
                folders[worded(rule, keys)].append(run.folder)
            rules = "; ".join(f"{', '.join(names)} by {rule}" for rule, names in folders.items())
            values = " ".join(f"{key}=VALUE" for key in keys)
            raise ConfigError(
                f"{KEY}: judged by different rules: {rules}; judge each by the same with action=analyze {values}, and"
                " name the folders that it prints"
            )
    return tuple(judged), tuple(notes)


def task_rules(runs: Sequence[ComparedRun]) -> Iterator[str]:
    """Tasks have thresholds of their own: their caps answer to different questions."""
    kinds = {kind: alike[0][1] for kind, alike in _by_kind(runs).items()}
    keys = _mixed(kinds.values())
    if keys:
        rules = "; ".join(f"{kind} by {worded(rule, keys)}" for kind, rule in kinds.items())
        yield f"tasks are judged by rules of their own ({rules}): a cap of one is not to be held against another's"


def _kind(report: Report) -> str:
    return report.run.task_kind or report.run.task


def _by_kind(runs: Sequence[ComparedRun]) -> Mapping[str, Sequence[tuple[ComparedRun, Rule]]]:
    """The runs of ours with their rules, under the kind of their task."""
    kinds: defaultdict[str, list[tuple[ComparedRun, Rule]]] = defaultdict(list)
    for run in runs:
        if run.report is not None:
            kinds[_kind(run.report)].append((run, cap_rule(run.report)))
    return kinds


def _mixed(rules: Iterable[Rule]) -> tuple[str, ...]:
    """The keys in which some of these rules differ."""
    known = tuple(rules)
    return tuple(dict.fromkeys(key for one in known for other in known for key in differing(one, other)))


def _again(run: ComparedRun, rule: Mapping[str, str], invocation: Invocation) -> ComparedRun | None:
    """The run by another rule, under a folder name of its own; None if its answers are not at hand."""
    assert invocation.analysis_of is not None
    reported: list[Path] = []
    try:
        again = invocation.analysis_of(Path(run.source), {**rule, "analysis.require_cap": "None"})
        quiet = replace(again.reporting, console="none", progress=False, figures=invocation.reporting.figures)
        again = replace(again, output_dir=invocation.output_dir, tracking=invocation.tracking, reporting=quiet)
        Analyze()(replace(again, on_reported=reported.append))
    except (ConfigError, RunError):
        return None
    return run_at(reported[-1], key=KEY) if reported else None
