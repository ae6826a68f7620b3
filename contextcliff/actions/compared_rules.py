"""By which rules compared runs were judged: caps and scores by different rules are different claims."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from contextcliff.analysis.judged_by import Rule, differing, rule_of, score_rule, worded
from contextcliff.errors import ConfigError
from contextcliff.records.report import Report
from contextcliff.reporting.comparison.comparison import ComparedRun
from contextcliff.reporting.comparison.part_list import parts_with
from contextcliff.reporting.stored_reports import StoredReport


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
                f"action.runs: judged by different rules: {rules}; judge each by the same with action=analyze {values},"
                " and name the folders that it prints"
            )


def by_one_rule(reports: Sequence[StoredReport]) -> list[StoredReport]:
    """Of each run the latest report by the rule that most runs have a report by; reports come oldest first."""
    best: dict[str, StoredReport] = {}
    for one in reversed(reports):
        rule = _cap_rule(one.report)
        alike = {other.report.run.run_id: other for other in reports if not differing(rule, _cap_rule(other.report))}
        if len(alike) > len(best):
            best = alike
    return sorted(best.values(), key=reports.index)


def by_others(reports: Sequence[StoredReport], chosen: Sequence[StoredReport]) -> Iterator[str]:
    """A sentence for each other rule, with the folders of the reports by it."""
    if not chosen:
        return
    rule = _cap_rule(chosen[-1].report)
    others: defaultdict[str, list[str]] = defaultdict(list)
    for one in reports:
        keys = differing(rule, _cap_rule(one.report))
        if keys:
            others[worded(_cap_rule(one.report), keys)].append(one.folder.name)
    for other, folders in others.items():
        named = ", ".join(folders)
        yield f"left out, since judged by another rule ({other}): {named}; action.runs=[FOLDER,FOLDER] compares those"


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
            kinds[kind].append(_Judged(folder=run.folder, rule=_cap_rule(run.report)))
    return kinds


def _mixed(rules: Iterable[Rule]) -> tuple[str, ...]:
    """The keys in which some of these rules differ."""
    known = tuple(rules)
    return tuple(dict.fromkeys(key for one in known for other in known for key in differing(one, other)))


def _cap_rule(report: Report) -> Rule:
    """What makes two caps and scores two different claims.

    Keys by which a finding differs and no score does are left out: its comparison part says what follows from them.
    """
    of_parts = tuple(key for part in parts_with(report.analysis.findings) for key in part.rule_keys)
    return {key: value for key, value in score_rule(rule_of(report)).items() if not key.startswith(of_parts)}
