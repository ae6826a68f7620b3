"""The runs that a comparison names, found and read: by id, folder or file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from contextcliff.actions.compared_rules import WORD_LIST, by_one_rule, by_others
from contextcliff.datasets.local_files import refuse_large
from contextcliff.errors import ConfigError
from contextcliff.records.report import Report
from contextcliff.reporting.comparison.comparison import ComparedRun
from contextcliff.reporting.run_names import RunFacts, facts_of
from contextcliff.reporting.stored_reports import (
    REPORT_NAME,
    UnreadableReport,
    read_report,
    stored_reports,
    told_passed_over,
)
from contextcliff.writing.context_tester.imported_run import ImportedRun
from contextcliff.writing.context_tester.results import is_context_tester, kept_texts, read_context_tester
from contextcliff.writing.prose_findings import Writing
from contextcliff.writing.sections.writing_runs import read_parameters, run_parameters

if TYPE_CHECKING:
    from contextcliff.writing.measures.familiar import WordList

_MANIFEST = "manifest.json"
_KEY = "action.runs"
_OUT = "give a run id of this experiment, a run's folder, or a CSV file or result folder of Context-Tester"


@dataclass(frozen=True, kw_only=True, slots=True)
class FoundRun:
    """A run without its name yet, and what the name is made of."""

    run: ComparedRun
    facts: RunFacts


@dataclass(frozen=True, kw_only=True, slots=True)
class Latest:
    """The latest runs of a task that are judged by one rule, and what was left out, a sentence each."""

    runs: tuple[FoundRun, ...]
    left_out: tuple[str, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class Remeasuring:
    """By what texts that were kept are measured anew."""

    word_list: WordList
    setting: str
    """The list as it was configured (`task.word_list`)."""


def find_runs(
    named: Sequence[str], *, experiment: Path, remeasuring: Remeasuring | None, confidence: float
) -> tuple[FoundRun, ...]:
    """The runs in the order in which they are named, each once. Raises `ConfigError` for one that isn't there.

    Without `remeasuring` the runs of another tool keep its own figures.
    """
    found: dict[Path, FoundRun] = {}
    for name in named:
        path = _place(name, experiment)
        if path.resolve() not in found:
            found[path.resolve()] = (
                _ours(path)
                if path.name == REPORT_NAME
                else _imported(path, remeasuring=remeasuring, confidence=confidence)
            )
    return tuple(found.values())


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


def _place(name: str, experiment: Path) -> Path:
    """The report of a run of ours, or what Context-Tester left."""
    given = Path(name).expanduser()
    for path in (given, experiment / name):
        if (path / REPORT_NAME).is_file():
            return path / REPORT_NAME
    if given.is_file() and given.name == REPORT_NAME:
        return given
    if given.exists() and is_context_tester(given):
        return given
    told = "is neither a run of ours nor one of Context-Tester" if given.exists() else f"is not in {experiment}"
    raise ConfigError(f"{_KEY}: {name} {told}; {_OUT}")


def _ours(file: Path) -> FoundRun:
    refuse_large(file.stat().st_size, f"{_KEY}={file}")
    try:
        return _of_report(read_report(file), file)
    except UnreadableReport as error:
        raise ConfigError(f"{_KEY}={file}: {error}, or leave it out") from error


def _of_report(report: Report, file: Path) -> FoundRun:
    parameters = run_parameters(report, read_parameters(file.with_name(_MANIFEST)))
    writing = report.analysis.finding(Writing)
    run = ComparedRun(
        name=report.run.run_id,
        run_id=report.run.run_id,
        source=str(file.parent),
        parameters={**parameters, "task": report.run.task},
        report=report,
        writing=writing if writing is not None and writing.tiers else None,
    )
    return FoundRun(run=run, facts=facts_of(report))


def _imported(path: Path, *, remeasuring: Remeasuring | None, confidence: float) -> FoundRun:
    from contextcliff.writing.context_tester.imported_writing import imported_writing, remeasured

    stored = read_context_tester(path, key=_KEY)
    kept = kept_texts(stored)
    again = remeasuring if kept else None
    parameters = _told(stored)
    if again is not None:
        stored = remeasured(stored, word_list=again.word_list)
        parameters[WORD_LIST] = again.setting
    run = ComparedRun(
        name=stored.run_id,
        run_id=stored.run_id,
        source=str(path),
        parameters=parameters,
        report=None,
        writing=imported_writing(stored, confidence=confidence),
        tool=stored.tool,
        rules=f"{stored.tool}'s rules" if again is None else "",
        keeps_texts=kept,
        remeasured=again is not None,
    )
    facts = RunFacts(run_id=stored.run_id, model=stored.model, dataset=stored.text or None, label=stored.label or None)
    return FoundRun(run=run, facts=facts)


def _told(stored: ImportedRun) -> dict[str, str]:
    rounds = [tier.means.n if tier.means is not None else len(tier.rounds) for tier in stored.tiers]
    told = {
        "model": stored.model,
        "engine": stored.tool,
        "text": stored.text,
        "label": stored.label,
        "rounds": " to ".join(dict.fromkeys((str(min(rounds)), str(max(rounds))))),
        "run": stored.run_id,
    }
    return {**{key: value for key, value in told.items() if value}, **stored.parameters}
