"""The scores by everything that varied beside length and depth."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING

from contextcliff.analysis.facets import FacetRow, Facets, facet_rows
from contextcliff.analysis.study import Study
from contextcliff.findings import phrases
from contextcliff.findings.drawing import BLUE, DIGIT, GREY, SMALL, blank, drawable, heading, width_of
from contextcliff.findings.finding import (
    Block,
    Column,
    FigureOf,
    Finding,
    Heading,
    Image,
    Measurement,
    Table,
    Text,
    from_finding,
)
from contextcliff.findings.phrases import from_stopped_data, interval_words
from contextcliff.records.report import Report
from contextcliff.records.search_record import Search

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


_MEANING = (
    "Scores over all lengths. A cap is that of these samples alone: having fewer of them, it is often lower than"
    " the run's for lack of evidence and not of ability."
)
_IN_A_SEARCH = (
    "Scores over all lengths. A search gives no caps of facets: it stops by the scores of all samples, which a test of"
    " a part of them does not allow for."
)


_FACETS = {
    "level": "1: the answer stands in a single place of the text. 2: it takes several places.",
    "evidence_depth": "Where the first place that the answer takes stands: 0 the start of the text, 1 its end.",
    "evidence_distance_tokens": "Tokens from one place that the answer takes to the next, where it takes several.",
}


def _has_facets(report: Report) -> bool:
    finding = report.analysis.finding(Facets)
    return finding is not None and bool(finding.facets)


class FacetsSection(Finding[Facets]):
    """A table for each key of the samples' metadata that has several values: hops, topic, distance of the evidence."""

    key = "facets"
    title = "By facet"
    folded = True
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

    def find(self, study: Study) -> Facets | None:
        rows = facet_rows(
            study.groups,
            threshold=study.settings.threshold,
            relative=study.relative,
            confidence=study.confidence,
            binary=study.binary,
            is_searched=study.search is not None,
        )
        return Facets(facets=rows)

    def show(self, report: Report) -> tuple[Block, ...]:
        finding = self.of(report)
        if finding is None or not finding.facets:
            return ()
        blocks: list[Block] = [
            Text(text=_MEANING if report.analysis.finding(Search) is None else _IN_A_SEARCH),
            *from_stopped_data(report, "The scores of the facets"),
            Image(figure="facets"),
        ]
        for facet, rows in groupby(finding.facets, key=lambda row: row.facet):
            meaning = (Text(text=_FACETS[facet]),) if facet in _FACETS else ()
            blocks += [Heading(text=facet), *meaning, _table(tuple(rows))]
        return tuple(blocks)

    def metrics(self, report: Report) -> Iterator[Measurement]:
        finding = self.of(report)
        for row in () if finding is None else finding.facets:
            yield Measurement(key=f"facets/{row.facet}/{row.value} score", value=row.mean)
            yield Measurement(key=f"facets/{row.facet}/{row.value} cap_tokens", value=row.cap_tokens)


def _table(rows: tuple[FacetRow, ...]) -> Table:
    columns = (
        Column(title="value", cells=tuple(row.value for row in rows), words=True),
        Column(title="n", cells=tuple(phrases.whole(row.n_samples) for row in rows)),
        Column(title="score", cells=tuple(phrases.score(row.mean) for row in rows)),
        Column(title="interval", cells=tuple(phrases.interval(row.ci_low, row.ci_high) for row in rows)),
        Column(title="cap in tokens", cells=tuple(phrases.whole(row.cap_tokens) for row in rows)),
    )
    return Table(columns=columns)


_PLOT, _ROW = 2.6, 0.22
"""Least width of a panel's scores and height of one of its rows, in inches."""
_PAGE = 6.5
"""Least width of all panels, in inches: a heading over less would be cut."""
_OVER, _UNDER = 0.38, 0.35
"""Room for a panel's title and for its tick labels, in inches."""
_BETWEEN = 0.3
_LONGEST = 32
"""Characters of a name; a longer one is cut in its middle."""


@dataclass(frozen=True, kw_only=True, slots=True)
class _Panel:
    """A facet and where it stands: in inches from the figure's upper left, title and ticks included."""

    facet: str
    rows: tuple[FacetRow, ...]
    left: float
    top: float

    @property
    def plot_height(self) -> float:
        return _ROW * len(self.rows)


def facets_figure(report: Report, rows: Sequence[FacetRow]) -> Figure:
    """Draw at least one row: mean score (0-1) with its interval and n, over all lengths."""
    facets = [(facet, tuple(members)) for facet, members in groupby(rows, key=lambda row: row.facet)]
    columns = 1 if len(facets) == 1 else 2 if len(facets) <= 4 else 3
    names = max(width_of(_short(row.value)) for row in rows) + 0.12
    beside = names + DIGIT * (max(len(f"{row.n_samples:,}") for row in rows) + 3) + _BETWEEN
    plot = max(_PLOT, (_PAGE + _BETWEEN) / columns - beside)
    panels, height = _laid_out(facets, columns=columns, stride=plot + beside, indent=names)
    width = columns * (plot + beside) - _BETWEEN
    figure, page = blank(width=width, height=height)
    page.set_axis_off()
    for panel in panels:
        bottom = height - panel.top - _OVER - panel.plot_height
        box = (panel.left / width, bottom / height, plot / width, panel.plot_height / height)
        _draw(figure.add_axes(box), panel, mean=report.analysis.mean)
    heading(
        page,
        title=f"Score by facet: {report.run.model}",
        subtitle=f"{report.run.task}, KV policy {report.run.kv_policy}. Mean score over all lengths, with its"
        f" {interval_words(report)}; dashed: all samples",
        inches=width,
        above=2,
    )
    return figure


def _laid_out(
    facets: Sequence[tuple[str, tuple[FacetRow, ...]]], *, columns: int, stride: float, indent: float
) -> tuple[list[_Panel], float]:
    """Each facet in the column that is shortest so far; and the height of the highest column, in inches."""
    heights = [0.0] * columns
    panels = []
    for facet, rows in facets:
        column = heights.index(min(heights))
        panels.append(_Panel(facet=facet, rows=rows, left=column * stride + indent, top=heights[column]))
        heights[column] += _OVER + panels[-1].plot_height + _UNDER
    return panels, max(heights)


def _draw(axes: Axes, panel: _Panel, *, mean: float | None) -> None:
    rows = panel.rows
    places = range(len(rows))
    axes.set_xlim(-0.03, 1.03)
    axes.set_ylim(len(rows) - 0.5, -0.5)
    axes.set_xticks([0.0, 0.5, 1.0], labels=["0", "0.5", "1"], fontsize=SMALL)
    axes.set_xticks([0.25, 0.75], minor=True)
    axes.set_yticks([])
    axes.grid(axis="x", which="both", color="0.9", linewidth=0.8)
    axes.set_axisbelow(True)
    if mean is not None:
        axes.axvline(mean, color="0.4", linestyle="--", linewidth=1)
    axes.hlines(places, [row.ci_low for row in rows], [row.ci_high for row in rows], color=BLUE, alpha=0.6, linewidth=2)
    axes.plot([row.mean for row in rows], places, "o", color=BLUE, markersize=5)
    for i, row in enumerate(rows):
        _write(axes, _short(row.value), x=0, y=i, offset=-5, align="right", colour="black")
        _write(axes, f"n={row.n_samples:,}", x=1, y=i, offset=5, align="left", colour=GREY)
    axes.annotate(
        _short(panel.facet.replace("_", " ")),
        xy=(0, 1),
        xycoords="axes fraction",
        xytext=(0, 5),
        textcoords="offset points",
        fontsize=9,
        fontweight="bold",
        parse_math=False,
    )


def _write(axes: Axes, text: str, *, x: float, y: float, offset: float, align: str, colour: str) -> None:
    """Write beside a row: x is a fraction of the panel's width, y a row, `offset` in points."""
    axes.annotate(
        text,
        xy=(x, y),
        xycoords=("axes fraction", "data"),
        xytext=(offset, 0),
        textcoords="offset points",
        ha=align,
        va="center",
        fontsize=SMALL,
        color=colour,
        annotation_clip=False,
        parse_math=False,
    )


def _short(text: str) -> str:
    """A name as the font can draw it; of a long one its beginning and its end, where names like it differ."""
    shown = drawable(text)
    half = (_LONGEST - 3) // 2
    return shown if len(shown) <= _LONGEST else f"{shown[:half]}...{shown[-half:]}"
