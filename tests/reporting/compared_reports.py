"""Comparisons of simulated reports."""

from __future__ import annotations

from collections.abc import Sequence

from contextcliff.reporting.comparison.comparison import ComparedRun, Comparison, PartResult
from contextcliff.reporting.run_names import facts_of
from tests.simulated_reports import CLIFF, Law, simulated


def run_of(name: str, law: Law = CLIFF) -> ComparedRun:
    report = simulated(law)
    return ComparedRun(
        name=name,
        facts=facts_of(report),
        source=f"outputs/{name}",
        parameters={"model": report.run.model},
        lengths=tuple(each.asked_tokens for each in report.analysis.bins),
        report=report,
        findings=report.analysis.findings,
    )


def compared(*runs: ComparedRun, parts: Sequence[PartResult] = ()) -> Comparison:
    return Comparison(name="c", runs=runs, parts=tuple(parts), notes=("a note",))
