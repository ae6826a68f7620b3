"""Legends and names of lines cover nothing that is drawn, and a histogram counts whole documents."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from matplotlib.figure import Figure
from matplotlib.legend import Legend

from contextcliff.findings.failures import failures_figure, latency_figure
from contextcliff.findings.natural_lengths import audit_figure
from contextcliff.findings.score import heatmap_figure, score_figure
from contextcliff.records.corpus import AuditBin, LengthAudit
from contextcliff.records.report import Report
from contextcliff.reporting.figures.run_curves import curves_figure
from contextcliff.writing.figures import core_figure, dashboard_figure, health_figure
from contextcliff.writing.prose_findings import Writing
from tests.reporting.figure_texts import drawn
from tests.reporting.made_reports import search_report
from tests.simulated_reports import relaid
from tests.writing.made_writing import TIERS, make_rounds, with_writing, writing_in

AUDIT = LengthAudit(
    lengths=(150, 900, 1_000, 1_100, 6_000, 9_000),
    too_short=0,
    too_long=0,
    bins=(AuditBin(min_tokens=150, max_tokens=9_000, documents=6, questions=18, drawn_documents=6, drawn_questions=9),),
)
OF_SCORES: dict[str, Callable[[Report], Figure]] = {
    "score": score_figure,
    "heatmap": heatmap_figure,
    "latency": latency_figure,
    "failures": failures_figure,
    "decay": lambda report: drawn(report, "decay_curve"),
    "several runs": lambda report: curves_figure(dict.fromkeys("abcdefgh", report)),
    "search": lambda _: drawn(search_report(cliff_at=13_000), "search_evidence"),
    "documents": lambda _: audit_figure(AUDIT, title="documents"),
}
OF_WRITING: dict[str, Callable[[Report, Writing], Figure]] = {
    "dashboard": dashboard_figure,
    "core": core_figure,
    "health": health_figure,
}


def covered(figure: Figure) -> list[str]:
    """Legends that lie over an axes that shows something."""
    figure.canvas.draw()
    boxes = [axes.get_window_extent() for axes in figure.axes if axes.axison]
    found = [legend for legend in figure.findobj(Legend) if isinstance(legend, Legend)]
    # A shrunk box forgives a pixel of rounding.
    return [
        ", ".join(text.get_text() for text in legend.get_texts())
        for legend in found
        if any(legend.get_window_extent().padded(-1).overlaps(box.padded(-1)) for box in boxes)
    ]


@pytest.mark.parametrize("name", OF_SCORES)
@pytest.mark.parametrize("lengths", [5, pytest.param(12, marks=pytest.mark.slow)])
def test_no_legend_covers_an_axes(full: Report, name: str, lengths: int) -> None:
    report = relaid(full, lengths=[int(1024 * 2 ** (i / 2)) for i in range(lengths)])
    assert covered(OF_SCORES[name](report)) == []


@pytest.mark.slow
@pytest.mark.parametrize("name", OF_WRITING)
def test_no_legend_covers_a_panel_of_the_writing(cliff: Report, name: str) -> None:
    for tiers in (TIERS, (2048, 131_072, 262_144, 1_048_576), tuple(1000 * place for place in range(2, 14))):
        report = with_writing(cliff, make_rounds(tiers=tiers))
        assert covered(OF_WRITING[name](report, writing_in(report))) == []


def test_the_documents_of_a_class_are_counted_whole() -> None:
    figure = audit_figure(AUDIT, title="documents")
    figure.canvas.draw()
    ticks = figure.axes[0].get_yticks()
    assert len(ticks) > 1
    assert all(float(tick).is_integer() for tick in ticks)
    # Each document once, however many questions are asked of it.
    assert sum(bar.get_height() for bar in figure.axes[0].patches) == len(AUDIT.lengths)  # type: ignore[attr-defined]
