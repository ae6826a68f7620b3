"""`comparison.html`: what several runs come to side by side, as one file that needs no network."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from contextcliff.findings.finding import Block, Image, Line, Lines, Table
from contextcliff.findings.published import published_blocks
from contextcliff.records.report import SCHEMA_VERSION
from contextcliff.reporting.comparison.comparison import Comparison
from contextcliff.reporting.figures.curves_figure import Curve
from contextcliff.reporting.page.curves_chart import curves_chart
from contextcliff.reporting.page.html_blocks import html_of
from contextcliff.reporting.page.packing import PageSection, chart_place, embedded, rendered
from contextcliff.reporting.words import english

if TYPE_CHECKING:
    from markupsafe import Markup

_CURVES = "curves"


def comparison_page(
    comparison: Comparison,
    *,
    verdicts: Sequence[Block],
    runs: Table,
    curves: Sequence[Curve],
    images: Mapping[str, tuple[str, bytes]],
) -> str:
    """The page. `images` are the drawn figures by name, each with its caption; of the curves the chart is shown."""
    charts = {_CURVES: curves_chart(curves, published=comparison.published)} if curves else {}
    figures = {name: embedded(image, caption=caption) for name, (caption, image) in images.items()}
    figures |= {name: chart_place(name, chart) for name, chart in charts.items()}
    return rendered(
        "comparison.html",
        charts,
        {},
        name=comparison.name,
        n_runs=len(comparison.runs),
        baseline=None if comparison.baseline is None else comparison.baseline.name,
        sections=list(_sections(comparison, verdicts=verdicts, runs=runs, figures=figures)),
        schema_version=SCHEMA_VERSION,
    )


def _sections(
    comparison: Comparison, *, verdicts: Sequence[Block], runs: Table, figures: Mapping[str, Markup]
) -> Iterator[PageSection]:
    from markupsafe import Markup

    def section(key: str, title: str, blocks: Sequence[Block]) -> Iterator[PageSection]:
        shown = (html_of(block, language=english, figures=figures) for block in blocks)
        body = Markup("\n").join(block for block in shown if block)
        if body:
            yield PageSection(key=key, title=title, body=body)

    yield from section("verdicts", "Verdicts", (*verdicts, Image(figure="differences")) if verdicts else ())
    yield from section("runs", "Runs", (Image(figure=_CURVES), runs))
    yield from section("published", "Published figures", published_blocks(comparison.published))
    notes = tuple(Line(text=note) for note in comparison.notes)
    yield from section("notes", "Read this first", (Lines(lines=notes),) if notes else ())
    for place, part in enumerate(comparison.parts):
        yield from section(f"part-{place}", part.title, part.blocks)
