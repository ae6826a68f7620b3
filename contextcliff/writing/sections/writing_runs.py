"""The runs that stand together on `writing.html`: this one, and those beside it that wrote too."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from itertools import islice
from pathlib import Path

from contextcliff.analysis.judged_by import differing, rule_of, score_rule
from contextcliff.records.report import Report
from contextcliff.reporting.run_names import facts_of, unique_names
from contextcliff.reporting.stored_reports import StoredReport, stored_reports
from contextcliff.writing.prose_findings import Writing
from contextcliff.writing.sections.writing_page import WritingRun

_MOST_RUNS = 20
_MOST_KEYS, _LONGEST_VALUE = 2_000, 2_000
"""Of a configuration that may be anybody's."""


def comparable_writing(
    report: Report, *, parameters: Mapping[str, str], folder: Path, beside: Sequence[StoredReport] | None = None
) -> tuple[WritingRun, ...]:
    """The runs of the same task below `folder` that wrote, whatever their model and text, this one included.

    The latest twenty, the oldest first. Of a run that was judged by several rules the report by the rule of this one,
    else the latest. `beside` is what the folder holds; None: it is read, without what can't be.
    """
    rule = score_rule(rule_of(report))
    wrote = [
        stored
        for stored in (stored_reports(folder).found if beside is None else beside)
        if stored.report.run.task == report.run.task and stored.report.analysis.finding(Writing) is not None
    ]
    wrote.sort(key=lambda stored: (not differing(rule, rule_of(stored.report)), stored.report.run.created_at))
    chosen = {stored.report.run.run_id: stored for stored in wrote}
    found = {
        run_id: (stored.report, read_parameters(stored.folder / "manifest.json")) for run_id, stored in chosen.items()
    }
    found[report.run.run_id] = (report, parameters)
    runs = sorted(found.values(), key=lambda run: run[0].run.created_at)
    # This run is on its own page however old it is.
    others = [run for run in runs if run[0].run.run_id != report.run.run_id][-(_MOST_RUNS - 1) :]
    kept = [run for run in runs if run[0].run.run_id == report.run.run_id or run in others]
    return named_runs(kept)


def named_runs(runs: Sequence[tuple[Report, Mapping[str, str]]]) -> tuple[WritingRun, ...]:
    """Runs by report and flattened configuration, each under its model and whatever else tells it from the others."""
    writing = [
        (report, found, parameters)
        for report, parameters in runs
        if (found := report.analysis.finding(Writing)) is not None
    ]
    names = unique_names([facts_of(report) for report, _, _ in writing])
    return tuple(
        WritingRun(name=name, parameters=run_parameters(report, parameters), writing=found)
        for name, (report, found, parameters) in zip(names, writing, strict=True)
    )


def run_parameters(report: Report, parameters: Mapping[str, str]) -> dict[str, str]:
    """A run's flattened configuration after what its report says: detected names come first."""
    writing = report.analysis.finding(Writing)
    rounds = sorted({tier.n_rounds for tier in writing.tiers}) if writing else []
    told = {
        "model": report.run.model,
        "kv_policy": report.run.kv_policy,
        "rope": report.run.rope,
        "engine": report.run.engine,
        "dataset": report.run.dataset,
        "text": writing.document_id if writing else report.run.texts,
        "label": report.run.label,
        "rounds": " to ".join(str(count) for count in dict.fromkeys((*rounds[:1], *rounds[-1:]))),
        "run": report.run.run_id,
        "created": report.run.created_at,
    }
    return {**told, **{key: found for key, found in parameters.items() if key not in told}}


def read_parameters(manifest: Path) -> Mapping[str, str]:
    """The flattened configuration that a run's manifest keeps; empty where there is none to be read."""
    try:
        found = json.loads(manifest.read_text(encoding="utf-8"))["configuration"]
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return {}
    if not isinstance(found, dict):
        return {}
    return {str(key): str(value)[:_LONGEST_VALUE] for key, value in islice(found.items(), _MOST_KEYS)}
