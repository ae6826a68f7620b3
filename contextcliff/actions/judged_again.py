"""Runs that were judged by another rule than the baseline are judged again by its rule, from their stored answers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from contextcliff.actions.action import Invocation
from contextcliff.actions.analyze import Analyze
from contextcliff.actions.compared_runs import cap_rule, run_at
from contextcliff.analysis.judged_by import differing, worded
from contextcliff.errors import ConfigError, RunError
from contextcliff.reporting.comparison.comparison import ComparedRun


def judged_alike(
    runs: Sequence[ComparedRun], invocation: Invocation
) -> tuple[tuple[ComparedRun, ...], tuple[str, ...]]:
    """The runs, each by the rule of the first where they are of its kind of task, and a sentence for each judged again.

    A run whose answers are not in the store of `invocation` stays as it is.
    """
    base = runs[0].report
    if base is None or invocation.analysis_of is None:
        return tuple(runs), ()
    rule = cap_rule(base)
    judged, notes = [runs[0]], []
    for run in runs[1:]:
        keys = () if run.report is None or _kind(run) != _kind(runs[0]) else differing(rule, cap_rule(run.report))
        again = _again(run, {key: rule[key] for key in keys}, invocation) if keys else None
        judged.append(again or run)
        if again is not None:
            notes.append(f"{run.folder} was judged again by {worded(rule, keys)}, as {again.folder}: one rule for all")
    return tuple(judged), tuple(notes)


def _kind(run: ComparedRun) -> str:
    return "" if run.report is None else run.report.run.task_kind or run.report.run.task


def _again(run: ComparedRun, rule: dict[str, str], invocation: Invocation) -> ComparedRun | None:
    """The run by another rule, under a folder name of its own; None where its answers are not at hand."""
    assert invocation.analysis_of is not None
    reported: list[Path] = []
    try:
        again = invocation.analysis_of(Path(run.source), {**rule, "analysis.require_cap": "None"})
        quiet = replace(again.reporting, console="none", progress=False, figures=invocation.reporting.figures)
        Analyze()(
            replace(
                again,
                output_dir=invocation.output_dir,
                tracking=invocation.tracking,
                reporting=quiet,
                on_reported=reported.append,
            )
        )
    except (ConfigError, RunError):
        return None
    return run_at(reported[-1], key="action.candidates") if reported else None
