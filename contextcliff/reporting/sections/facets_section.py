"""The scores by everything that varied beside length and depth."""

from __future__ import annotations

from itertools import groupby

from contextcliff.analysis.facets import FacetRow, Facets, facet_rows
from contextcliff.analysis.study import Study
from contextcliff.records.report import Report
from contextcliff.reporting import phrases
from contextcliff.reporting.blocks import Block, Column, Heading, Image, Table, Text
from contextcliff.reporting.figures.facets_figure import facets_figure
from contextcliff.reporting.section import FigureOf, Section, from_finding

_MEANING = (
    "Scores over all lengths. A cap is that of these samples alone: having fewer of them, it is often lower than"
    " the run's for lack of evidence and not of ability."
)


def _has_facets(report: Report) -> bool:
    finding = report.analysis.finding(Facets)
    return finding is not None and bool(finding.facets)


class FacetsSection(Section[Facets]):
    """A table for each key of the samples' metadata that has several values: hops, topic, distance of the evidence."""

    key = "facets"
    title = "By facet"
    record = Facets
    inline = True
    figures = (
        FigureOf(
            name="facets",
            caption="Score by facet",
            has_data=_has_facets,
            draw=from_finding(Facets, lambda report, finding: facets_figure(report, finding.facets)),
        ),
    )

    def compute(self, study: Study) -> Facets | None:
        rows = facet_rows(
            study.groups,
            threshold=study.settings.threshold,
            relative=study.relative,
            confidence=study.confidence,
            binary=study.binary,
        )
        return Facets(facets=rows)

    def full(self, report: Report) -> tuple[Block, ...]:
        finding = self.of(report)
        if finding is None or not finding.facets:
            return ()
        blocks: list[Block] = [Text(text=_MEANING), Image(figure="facets")]
        for facet, rows in groupby(finding.facets, key=lambda row: row.facet):
            blocks += [Heading(text=facet), _table(tuple(rows))]
        return tuple(blocks)


def _table(rows: tuple[FacetRow, ...]) -> Table:
    columns = (
        Column(title="value", cells=tuple(row.value for row in rows), words=True),
        Column(title="n", cells=tuple(phrases.whole(row.n_samples) for row in rows)),
        Column(title="score", cells=tuple(phrases.score(row.mean) for row in rows)),
        Column(title="interval", cells=tuple(phrases.interval(row.ci_low, row.ci_high) for row in rows)),
        Column(title="cap in tokens", cells=tuple(phrases.whole(row.cap_tokens) for row in rows)),
    )
    return Table(columns=columns)
