"""The runs that a comparison names, found and read: by id, folder or file."""

from __future__ import annotations

import re
import shlex
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from contextcliff.analysis.judged_by import Rule, differing, rule_of, score_rule, worded
from contextcliff.errors import ConfigError
from contextcliff.records.report import Report
from contextcliff.reporting.comparison.comparison import ComparedRun, ReadingRequest, all_parts, parts_with
from contextcliff.reporting.run_names import facts_of, read_parameters, run_parameters
from contextcliff.reporting.stored_reports import (
    REPORT_NAME,
    StoredReport,
    UnreadableReport,
    read_report,
    stored_reports,
    told_passed_over,
)
from contextcliff.reporting.stored_sweeps import latest_sweep
from contextcliff.tracking.tracker import TrackingError

KEY = "action.candidates"


@dataclass(frozen=True, kw_only=True, slots=True)
class _Judged:
    folder: str
    rule: Rule


def refuse_mixed_rules(runs: Sequence[ComparedRun]) -> None:
    """Raise `ConfigError` where two runs of one kind of task are judged by different rules."""
    for judged in _by_kind(runs).values():
        keys = _mixed(one.rule for one in judged)
        if keys:
            alike: defaultdict[str, list[str]] = defaultdict(list)
            for one in judged:
                alike[worded(one.rule, keys)].append(one.folder)
            rules = "; ".join(f"{', '.join(folders)} by {rule}" for rule, folders in alike.items())
            values = " ".join(f"{key}=VALUE" for key in keys)
            raise ConfigError(
                f"{KEY}: judged by different rules: {rules}; judge each by the same with action=analyze {values}, and"
                " name the folders that it prints"
            )


def by_one_rule(reports: Sequence[StoredReport]) -> list[StoredReport]:
    """Of each run the latest report by the rule that most runs have a report by; reports come oldest first."""
    best: dict[str, StoredReport] = {}
    for one in reversed(reports):
        rule = cap_rule(one.report)
        alike = {other.report.run.run_id: other for other in reports if not differing(rule, cap_rule(other.report))}
        if len(alike) > len(best):
            best = alike
    return sorted(best.values(), key=reports.index)


def by_others(reports: Sequence[StoredReport], chosen: Sequence[StoredReport]) -> Iterator[str]:
    """A sentence for each other rule, with the folders of the reports by it."""
    if not chosen:
        return
    rule = cap_rule(chosen[-1].report)
    others: defaultdict[str, list[str]] = defaultdict(list)
    for one in reports:
        keys = differing(rule, cap_rule(one.report))
        if keys:
            others[worded(cap_rule(one.report), keys)].append(one.folder.name)
    for other, folders in others.items():
        named = ", ".join(folders)
        yield (
            f"left out, since judged by another rule ({other}): {named}; action.baseline=FOLDER"
            " action.candidates=[FOLDER] compares those"
        )


def task_rules(runs: Sequence[ComparedRun]) -> Iterator[str]:
    """Tasks have thresholds of their own: their caps answer to different questions."""
    kinds = {kind: judged[0].rule for kind, judged in _by_kind(runs).items()}
    keys = _mixed(kinds.values())
    if keys:
        rules = "; ".join(f"{kind} by {worded(rule, keys)}" for kind, rule in kinds.items())
        yield f"tasks are judged by rules of their own ({rules}): a cap of one is not to be held against another's"


def _by_kind(runs: Sequence[ComparedRun]) -> Mapping[str, Sequence[_Judged]]:
    """The runs of ours, under the kind of their task."""
    kinds: defaultdict[str, list[_Judged]] = defaultdict(list)
    for run in runs:
        if run.report is not None:
            kind = run.report.run.task_kind or run.report.run.task
            kinds[kind].append(_Judged(folder=run.folder, rule=cap_rule(run.report)))
    return kinds


def _mixed(rules: Iterable[Rule]) -> tuple[str, ...]:
    """The keys in which some of these rules differ."""
    known = tuple(rules)
    return tuple(dict.fromkeys(key for one in known for other in known for key in differing(one, other)))


def cap_rule(report: Report) -> Rule:
    """What makes two caps and scores two different claims.

    Keys by which a finding differs and no score does are left out: its comparison part says what follows from them.
    """
    of_parts = tuple(key for part in parts_with(report.analysis.findings) for key in part.rule_keys)
    return {key: value for key, value in score_rule(rule_of(report)).items() if not key.startswith(of_parts)}


_MANIFEST = "manifest.json"


@dataclass(frozen=True, kw_only=True, slots=True)
class ChosenRuns:
    """Runs to be compared, the baseline first, and what was left out, a sentence each."""

    runs: tuple[ComparedRun, ...]
    left_out: tuple[str, ...]


def named_runs(
    named: Sequence[str], *, key: str, experiment: Path, request: ReadingRequest, latest: bool = False
) -> tuple[ComparedRun, ...]:
    """The runs in the order in which they are named, each once and under its run id.

    A name is a run id, a path or a search; a search stands for every run that it finds, or with `latest` for the last
    of them. `key` is the configuration's that names them, and `request` says how runs of other tools are read. Raises
    `ConfigError` for a run that isn't there.
    """
    runs: dict[Path, ComparedRun] = {}
    for name in named:
        if is_search(name):
            matching = _searched_runs(name, key=key, experiment=experiment)
            chosen = by_one_rule(matching)[-1:] if latest else by_one_rule(matching)
            runs |= {(one.folder / REPORT_NAME).resolve(): _of_stored(one) for one in chosen}
            continue
        path = _place(name, experiment, key=key, fetch=request.fetch)
        if path.resolve() not in runs:
            runs[path.resolve()] = _ours(path, key=key) if path.name == REPORT_NAME else _of_other_tool(path, request)
    return tuple(runs.values())


def run_at(folder: Path, *, key: str) -> ComparedRun:
    """The run of ours in a folder. Raises `ConfigError` that names `key`."""
    return _ours(folder / REPORT_NAME, key=key)


def _of_stored(one: StoredReport) -> ComparedRun:
    return _of_report(one.report, one.folder / REPORT_NAME)


def latest_runs(experiment: Path, *, task: str, most: int) -> ChosenRuns:
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
    runs = tuple(map(_of_stored, chosen))
    return ChosenRuns(runs=runs, left_out=tuple(left_out))


def latest_sweep_runs(experiment: Path, *, task: str) -> ChosenRuns | None:
    """The runs of the latest sweep in the order of its jobs, of this task or, where it has none, of its first job's.

    None where no sweep is remembered. Of a run that several rules have judged it is the report that the sweep wrote.
    """
    reports, passed_over = [], dict[Path, str]()
    for file in (experiment / name / REPORT_NAME for name in latest_sweep(experiment)):
        try:
            reports += [(file, read_report(file))] if file.is_file() else []
        except UnreadableReport as error:
            passed_over[file] = str(error)
    if not reports:
        return None
    tasks = [report.run.task for _, report in reports]
    chosen = task if task in tasks else tasks[0]
    runs = tuple(_of_report(report, file) for file, report in reports if report.run.task == chosen)
    others = sorted({each for each in tasks if each != chosen})
    left_out = [told_passed_over(passed_over)] if passed_over else []
    if others:
        left_out.append(f"left out, of other tasks in the same sweep: {', '.join(others)}; task=NAME chooses")
    return ChosenRuns(runs=runs, left_out=tuple(left_out))


_TRACKED_ID = re.compile(r"[0-9a-f]{32}")


def run_folder(name: str, experiment: Path, *, key: str, fetch: Callable[[str], Path]) -> Path | None:
    """The folder of a run of ours, by its path, its run id in an experiment or its id in the tracker; None: no run.

    Raises `ConfigError` that names `key` where the tracker does not give it.
    """
    given = Path(name).expanduser()
    if _TRACKED_ID.fullmatch(name) and not given.exists():
        try:
            return fetch(name)
        except TrackingError as error:
            raise ConfigError(f"{key}={name}: {error}; give a run id of this experiment or a run's folder") from error
    for path in (given, experiment / name):
        if (path / REPORT_NAME).is_file():
            return path
    return given.parent if given.is_file() and given.name == REPORT_NAME else None


def _place(name: str, experiment: Path, *, key: str, fetch: Callable[[str], Path]) -> Path:
    """The report of a run of ours, or what another tool left."""
    folder = run_folder(name, experiment, key=key, fetch=fetch)
    if folder is not None:
        return folder / REPORT_NAME
    given = Path(name).expanduser()
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


_GROUPS = ("model", "kv_policy", "task", "dataset", "engine", "label", "rope", "tokenizer")
_MOST_VALUES = 8


def is_search(name: str) -> bool:
    """Whether a name is a search and no id or path: `KEY=VALUE`, several of them with spaces between."""
    parts = name.split()
    return bool(parts) and all(0 < part.find("=") < len(part) - 1 for part in parts) and not Path(name).exists()


def _searched_runs(search: str, *, key: str, experiment: Path) -> Sequence[StoredReport]:
    """The stored reports of an experiment that have all these values, the oldest first; one at least.

    A key is a group (`kv_policy`, `model`, `task` …: its option, or the name that the report has) or dotted, as in the
    run's configuration. Raises `ConfigError` where none matches, with the values that there are.
    """
    wanted = dict(part.split("=", 1) for part in search.split())
    reports = stored_reports(experiment).found
    matching = [report for report in reports if all(value in _values(report, name) for name, value in wanted.items())]
    if not matching:
        raise ConfigError(f"{key}={search}: matches no run of {experiment}; {_there(reports, wanted)}")
    return matching


def _values(stored: StoredReport, name: str) -> frozenset[str]:
    """Every value that a run has of a key: as its report names it, as it was configured, and as it was typed."""
    run = stored.report.run
    values = {str(getattr(run, name))} if name in _GROUPS else set()
    recorded = read_parameters(stored.folder / "manifest.json")
    values |= {recorded[key] for key in (name, f"{name}.name") if key in recorded}
    typed = (part.partition("=") for part in shlex.split(run.command))
    return frozenset(values | {value for each, _, value in typed if each.lstrip("+") == name})


def _there(reports: Sequence[StoredReport], wanted: Mapping[str, str]) -> str:
    """The values that the runs have of the keys that were asked for."""
    if not reports:
        return f"it holds no {REPORT_NAME}"
    parts = []
    for name in wanted:
        values = sorted({value for report in reports for value in _values(report, name) if value})
        more = f" and {len(values) - _MOST_VALUES} more" if len(values) > _MOST_VALUES else ""
        parts.append(f"{name} there: {', '.join(values[:_MOST_VALUES]) or 'none'}{more}")
    return "; ".join(parts)
