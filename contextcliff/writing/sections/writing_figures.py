"""The figures of a continuation run as PNG files."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from contextcliff.records.generation import ScoredSample
from contextcliff.records.report import Report
from contextcliff.reporting.figures.report_figures import write_figure
from contextcliff.writing.prose_findings import Writing
from contextcliff.writing.sections.convergence_figure import convergence_figure
from contextcliff.writing.sections.core_figure import core_figure, rounds_figure
from contextcliff.writing.sections.dashboard_figure import dashboard_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def draw_writing_figures(report: Report, *, scored: Sequence[ScoredSample], folder: Path, dpi: int) -> tuple[Path, ...]:
    """Draw `core_metrics`, `writing_rounds`, `writing_dashboard` and `convergence` into `folder`; return the paths.

    Nothing where the report has no writing or no length.
    """
    writing = report.analysis.finding(Writing)
    if writing is None or not writing.tiers:
        return ()
    wanted: list[tuple[str, Callable[[Report, Writing], Figure]]] = [
        ("core_metrics", core_figure),
        ("writing_rounds", partial(rounds_figure, scored=scored)),
        ("writing_dashboard", dashboard_figure),
        ("convergence", convergence_figure),
    ]
    return tuple(write_figure(draw(report, writing), path=folder / f"{name}.png", dpi=dpi) for name, draw in wanted)
