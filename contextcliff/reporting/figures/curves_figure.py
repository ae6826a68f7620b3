"""Several runs of one task in one picture: where one model's cliff lies, and where another's."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from contextcliff.analysis.judged_by import differing, rule_of, score_rule
from contextcliff.findings import phrases
from contextcliff.findings.drawing import blank, heading, legend_below
from contextcliff.records.published import PublishedCurve
from contextcliff.records.report import Report
from contextcliff.reporting.figures.overlay import DODGED, MOST_RUNS, RunCurve, RunPoint, draw_overlay
from contextcliff.reporting.run_names import facts_of, telling_names
from contextcliff.reporting.stored_reports import StoredReport, stored_reports

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_WIDTH, _HEIGHT = 9.0, 4.2
_MOST_RUNS = 8


@dataclass(frozen=True, kw_only=True, slots=True)
class Curve:
    """A run in the picture: what tells it from the others, and its report."""

    name: str
    report: Report


def comparable_runs(report: Report, *, folder: Path, beside: Sequence[StoredReport] | None = None) -> tuple[Curve, ...]:
    """The runs below `folder` that asked the same task of the same texts, this one included; latest eight.

    Only reports that are judged by the rule of this one: a run that was judged by several is drawn once.
    A run's name in the picture is its model, and its KV policy, scaling of positions, text and label where the runs
    differ in them. `beside` is what the folder holds; None: it is read, without what can't be.
    """
    rule = score_rule(rule_of(report))
    by_run_id: dict[str, Report] = {}
    for stored in stored_reports(folder).found if beside is None else beside:
        other = stored.report
        asked_alike = (other.run.task, other.run.dataset) == (report.run.task, report.run.dataset)
        if asked_alike and other.analysis.bins and not differing(rule, rule_of(other)):
            by_run_id[other.run.run_id] = other
    by_run_id[report.run.run_id] = report
    runs = sorted(by_run_id.values(), key=lambda run: run.run.created_at)[-_MOST_RUNS:]
    # Of runs alike in all of these the latest.
    named = dict(zip(telling_names([facts_of(run) for run in runs]), runs, strict=True))
    return tuple(Curve(name=name, report=run) for name, run in named.items())


def curves_figure(curves: Sequence[Curve], *, published: Sequence[PublishedCurve] = ()) -> Figure:
    """Draw at least one run: mean scores with their intervals, safe caps and the threshold; the first ten of more.

    `published` curves stand thin behind them.
    """
    figure, axes = blank(width=_WIDTH, height=_HEIGHT)
    drawn = curves[:MOST_RUNS]
    axis = draw_overlay(
        axes, [_run_curve(curve) for curve in drawn], inches=_WIDTH, height=_HEIGHT, published=published
    )
    tasks = ", ".join(dict.fromkeys(curve.report.run.task for curve in curves))
    datasets = ", ".join(dict.fromkeys(curve.report.run.dataset for curve in curves))
    apart = f"; {DODGED}" if len(drawn) > 1 else ""
    more = f". Drawn are the first {MOST_RUNS}" if len(drawn) < len(curves) else ""
    heading(
        axes,
        title=f"Score by length: {tasks}, {len(curves)} run{'' if len(curves) == 1 else 's'}",
        subtitle=f"{datasets}. Bars: intervals of the mean; vertical lines: safe caps{apart}{more}",
        inches=_WIDTH,
        above=10,
    )
    legend_below(axes, axis=axis, height=_HEIGHT, columns=2)
    return figure


def _run_curve(curve: Curve) -> RunCurve:
    analysis = curve.report.analysis
    return RunCurve(
        name=curve.name,
        points=tuple(
            RunPoint(tokens=b.median_tokens, mean=b.mean, low=b.ci_low, high=b.ci_high) for b in analysis.bins
        ),
        cap_tokens=analysis.safe_cap.tokens,
        threshold=phrases.threshold_score(curve.report),
    )
