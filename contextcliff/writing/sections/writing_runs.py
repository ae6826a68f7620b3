"""The runs that `writing.html` shows: this one, and the other continuation runs of the experiment."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from contextcliff.analysis.judged_by import differing, rule_of, score_rule
from contextcliff.records.report import Report
from contextcliff.reporting.run_names import facts_of, read_parameters, run_parameters, unique_names
from contextcliff.reporting.stored_reports import StoredReport
from contextcliff.writing.prose_findings import Writing
from contextcliff.writing.sections.writing_page import WritingRun

_MOST_RUNS = 20


def comparable_writing(
    report: Report, *, parameters: Mapping[str, str], beside: Sequence[StoredReport]
) -> tuple[WritingRun, ...]:
    """The runs of the same task with prose, whatever their model and text, this one included.

    The latest twenty, the oldest first. Of a run that was judged by several rules the report by the rule of this one,
    else the latest. `beside` are the reports of the experiment.
    """
    rule = score_rule(rule_of(report))
    wrote = [
        stored
        for stored in beside
        if stored.report.run.task == report.run.task and stored.report.analysis.finding(Writing) is not None
    ]
    wrote.sort(key=lambda stored: (not differing(rule, rule_of(stored.report)), stored.report.run.created_at))
    chosen = {stored.report.run.run_id: stored for stored in wrote}
    configured = {
        run_id: (stored.report, read_parameters(stored.folder / "manifest.json")) for run_id, stored in chosen.items()
    }
    configured[report.run.run_id] = (report, parameters)
    runs = sorted(configured.values(), key=lambda run: run[0].run.created_at)
    # This run is on its own page however old it is.
    others = [run for run in runs if run[0].run.run_id != report.run.run_id][-(_MOST_RUNS - 1) :]
    kept = [run for run in runs if run[0].run.run_id == report.run.run_id or run in others]
    return named_runs(kept)


def named_runs(runs: Sequence[tuple[Report, Mapping[str, str]]]) -> tuple[WritingRun, ...]:
    """Runs by report and flattened configuration, each under its model and whatever else tells it from the others."""
    writing = [
        (report, prose, parameters)
        for report, parameters in runs
        if (prose := report.analysis.finding(Writing)) is not None
    ]
    names = unique_names([facts_of(report) for report, _, _ in writing])
    return tuple(
        WritingRun(name=name, parameters=run_parameters(report, parameters), writing=prose)
        for name, (report, prose, parameters) in zip(names, writing, strict=True)
    )
