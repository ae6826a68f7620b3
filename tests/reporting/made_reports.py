"""Reports of simulated searches, comparisons of reports, and measures of answers as a report has them."""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path

from rich.console import Console

from contextcliff.analysis.analysis_settings import AnalysisSettings
from contextcliff.findings.answer_measures import AnswerMeasure, AnswerMeasures, MeasuredLength, MeasureName
from contextcliff.records.report import Counts, Report
from contextcliff.reporting.comparison.comparison import ComparedRun, Comparison, PartResult
from contextcliff.reporting.comparison.comparison_output import render_comparison
from contextcliff.reporting.console import render_console
from contextcliff.reporting.reporting_settings import LanguageName
from contextcliff.reporting.run_names import facts_of
from contextcliff.reporting.text import catalogue
from tests.make import analysed_search, coin, plan_of, searched
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
    return Comparison(name="c", runs=runs, parts=tuple(parts), notes=("a note",), decided=())


def printed(comparison: Comparison, *, width: int = 80) -> str:
    """What the console shows of a comparison."""
    stream = io.StringIO()
    render_comparison(comparison, console=Console(file=stream, width=width, color_system=None), folder=Path("c"))
    return stream.getvalue()


def console_of(report: Report, language: LanguageName = "en") -> str:
    """What the console shows of a run, at 80 columns."""
    stream = io.StringIO()
    console = Console(file=stream, width=80, color_system=None, force_terminal=False)
    render_console(report, console=console, folder=Path("run"), tracking_command=None, language=catalogue(language))
    return stream.getvalue()


CLIFF_AT = 3_000


@cache
def search_report(
    *lengths: int, cliff_at: int = CLIFF_AT, before: float = 0.98, most_asked: int = 1_000, relative: bool = False
) -> Report:
    """A search of a model that falls from `before` to 0.05 beyond `cliff_at` tokens, up to `most_asked` blocks."""
    settings = AnalysisSettings(relative_to_baseline=relative)
    plan = plan_of(*(lengths or (512, 1_024, 2_048, 4_096, 8_192)), refine=True)
    score_at = coin(lambda length, _: before if length <= cliff_at else 0.05, seed=1)
    samples = searched(plan, score_at, settings, most_asked=most_asked)
    made = simulated()
    counts = Counts(planned=len(samples), completed=len(samples), reused=0, unscored=0, controls=0, errors={}, ahead=33)
    return replace(made, analysis=analysed_search(plan, samples, settings), counts=counts)


def made_measure(name: MeasureName, mean: float) -> AnswerMeasure:
    """A measure of 40 questions at two lengths, with intervals as wide as those have."""
    lengths = tuple(
        MeasuredLength(asked_tokens=tokens, n=20, mean=mean, ci_low=mean - 0.1, ci_high=mean + 0.1)
        for tokens in (512, 1024)
    )
    return AnswerMeasure(name=name, n=40, mean=mean, ci_low=mean - 0.05, ci_high=mean + 0.05, lengths=lengths)


MEASURES = AnswerMeasures(
    measures=(made_measure("f1", 0.3), made_measure("em", 0.1), made_measure("contains_reference", 0.6))
)
