"""The scores by everything that varied beside length and depth, by the keys of the samples' metadata: hops, topic,
distance of the evidence. Each word has a row, and each number where there are few; other numbers are cut at their
quartiles."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import TYPE_CHECKING, Any

from contextcliff.analysis.bins import summarise
from contextcliff.analysis.lengths import pooled_evidence
from contextcliff.analysis.study import Study
from contextcliff.analysis.walk import fixed_sequence_test, make_threshold
from contextcliff.findings import phrases
from contextcliff.findings.drawing import BLUE, DIGIT, GREY, SMALL, blank, run_heading, short, width_of
from contextcliff.findings.finding import Block, Finding, Heading, Image, Table, Text, columns
from contextcliff.findings.phrases import interval_words
from contextcliff.records.generation import ScoredSample
from contextcliff.records.report import Report
from contextcliff.records.search_record import Search
from contextcliff.statistics.descriptive import mean_of, quantile_classes

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


@dataclass(frozen=True, kw_only=True, slots=True)
class FacetRow:
    """The samples of one value (or range of values) of one metadata key. `cap_tokens` is the safe cap of these samples
    alone, by the same rule as the run's."""

    facet: str
    value: str
    n_samples: int
    mean: float
    ci_low: float
    ci_high: float
    cap_tokens: int | None


@dataclass(frozen=True, kw_only=True, slots=True)
class Facets:
    """The scores by everything that varied beside length and depth."""

    facets: tuple[FacetRow, ...]


Value = str | int | float

FEW_NUMBERS = 6
"""Most different numbers that have a row each; more are cut at their quartiles."""
MOST_WORDS = 12
"""Most rows of a facet of words; the less frequent words are `other`."""
OTHER = "other"
_QUARTERS = 4


def _row(study: Study, facet: str, label: str, members: frozenset[Value]) -> FacetRow | None:
    """None if nothing was scored. No cap of a search: it stops by all scores, which a test of a part can't respect."""

    def has(item: ScoredSample) -> bool:
        return item.sample.metadata.get(facet) in members

    parts = (replace(group, samples=tuple(filter(has, group.samples))) for group in study.groups)
    own = [group for group in parts if group.samples]
    evidence = pooled_evidence([group.samples for group in own], binary=study.binary)
    if evidence is None:
        return None
    cap, confidence = None, study.confidence
    if study.search is None:
        results, asked = summarise(own, confidence, binary=study.binary), study.settings.threshold
        threshold = make_threshold(results, threshold=asked, relative=study.relative, confidence=confidence)
        test = fixed_sequence_test(results, threshold)
        if test.cap_tokens is not None and test.last_cleared is not None:  # the facet names a length as the run does
            last = test.last_cleared.bin.asked_tokens
            cap = next(each.clears_up_to for each in study.bins if each.asked_tokens == last)
    low, high = evidence.shown(confidence)
    return FacetRow(
        facet=facet, value=label, n_samples=len(evidence.scores), mean=mean_of(evidence.scores), ci_low=low,
        ci_high=high, cap_tokens=cap,
    )  # fmt: skip


def _classes(values: Sequence[Value]) -> Iterator[tuple[str, frozenset[Value]]]:
    numbers = [value for value in values if not isinstance(value, str)]
    if len(numbers) < len(values):
        yield from _words(values)
    elif len(set(numbers)) <= FEW_NUMBERS:
        yield from ((_figure(number), frozenset({number})) for number in sorted(set(numbers)))
    else:
        for quarter in quantile_classes(numbers, _QUARTERS):
            ends = dict.fromkeys((quarter[0], quarter[-1]))
            yield "–".join(map(_figure, ends)), frozenset(quarter)


def _words(values: Sequence[Value]) -> Iterator[tuple[str, frozenset[Value]]]:
    labels: defaultdict[str, list[Value]] = defaultdict(list)
    for value in values:
        labels[value if isinstance(value, str) else _figure(value)].append(value)
    names = sorted(labels, key=lambda label: (-len(labels[label]), label))
    kept = names if len(names) <= MOST_WORDS else [name for name in names if name != OTHER][:MOST_WORDS]
    yield from ((name, frozenset(labels[name])) for name in sorted(kept))
    if rest := [value for name in names if name not in kept for value in labels[name]]:
        yield OTHER, frozenset(rest)


def _figure(number: int | float) -> str:
    """A number in words: whole numbers without decimals, others with four significant digits; commas from 1,000 on."""
    if number == int(number):
        return f"{int(number):,}"
    return f"{number:,.1f}" if abs(number) >= 1_000 else f"{number:.4g}"


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


class FacetsFinding(Finding[Facets]):
    key = "facets"
    title = "By facet"
    record = Facets
    inline = True

    def find(self, study: Study) -> Facets | None:
        values: defaultdict[str, list[Value]] = defaultdict(list)
        for group in study.groups:
            for item in group.samples:
                for key, value in item.sample.metadata.items():
                    values[key].append(value)
        varying = [key for key in sorted(values) if len(set(values[key])) > 1]
        rows = (_row(study, key, label, members) for key in varying for label, members in _classes(values[key]))
        return Facets(facets=tuple(row for row in rows if row is not None))

    def show(self, report: Report) -> tuple[Block, ...]:
        facets = self.of(report).facets
        if not facets:
            return ()
        meaning = Text(text=_MEANING if report.analysis.finding(Search) is None else _IN_A_SEARCH)
        figure = Image(name="facets", caption="Score by facet", draw=lambda: facets_figure(report, facets))
        blocks: list[Block] = [meaning, figure]
        for facet, rows in groupby(facets, key=lambda row: row.facet):
            told = (Text(text=_FACETS[facet]),) if facet in _FACETS else ()
            table = columns(
                rows, ("value", lambda row: row.value), ("n", lambda row: phrases.whole(row.n_samples)),
                ("score", lambda row: phrases.score(row.mean)),
                ("interval", lambda row: phrases.interval(row.ci_low, row.ci_high)),
                ("cap in tokens", lambda row: phrases.whole(row.cap_tokens)), words=("value",),
            )  # fmt: skip
            blocks += [Heading(text=facet), *told, Table(columns=table)]
        return tuple(blocks)


_PLOT, _ROW, _PAGE = 2.6, 0.22, 6.5
"""Least width of a panel's scores, height of one of its rows, and least width of all panels, in inches."""
_OVER, _UNDER, _BETWEEN = 0.38, 0.35, 0.3
"""Room for a panel's title, for its tick labels, and between two panels, in inches."""
_LONGEST = 32
"""Characters of a name."""


def facets_figure(report: Report, rows: Sequence[FacetRow]) -> Figure:
    """Draw at least one row: mean score (0-1) with its interval and n, over all lengths."""
    facets = [(facet, tuple(members)) for facet, members in groupby(rows, key=lambda row: row.facet)]
    columns = 1 if len(facets) == 1 else 2 if len(facets) <= 4 else 3
    names = max(width_of(short(row.value, _LONGEST)) for row in rows) + 0.12
    beside = names + DIGIT * (max(len(f"{row.n_samples:,}") for row in rows) + 3) + _BETWEEN
    plot = max(_PLOT, (_PAGE + _BETWEEN) / columns - beside)
    tops, heights = [], [0.0] * columns
    for _, members in facets:
        column = heights.index(min(heights))  # the one that is shortest so far
        tops.append((column, heights[column]))
        heights[column] += _OVER + _ROW * len(members) + _UNDER
    width, height = columns * (plot + beside) - _BETWEEN, max(heights)
    figure, page = blank(width=width, height=height)
    page.set_axis_off()
    for (facet, members), (column, top) in zip(facets, tops, strict=True):
        left, high = column * (plot + beside) + names, _ROW * len(members)
        axes = figure.add_axes((left / width, (height - top - _OVER - high) / height, plot / width, high / height))
        _draw(axes, facet, members, mean=report.analysis.mean)
    words = f"Mean score over all lengths, with its {interval_words(report)}; dashed: all samples"
    run_heading(page, report.run, "Score by facet", words, inches=width, above=2)
    return figure


def _draw(axes: Axes, facet: str, rows: Sequence[FacetRow], *, mean: float | None) -> None:
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
    # A single sample is faint, as in the heatmap. The stub knows one alpha for all.
    sure: Any = [0.3 if row.n_samples == 1 else 1.0 for row in rows]
    axes.scatter([row.mean for row in rows], places, color=BLUE, s=25, alpha=sure)
    for i, row in enumerate(rows):
        beside = ((short(row.value, _LONGEST), 0, -5, "right", "black"), (f"n={row.n_samples:,}", 1, 5, "left", GREY))
        for text, x, offset, align, colour in beside:
            axes.annotate(
                text, xy=(x, i), xycoords=("axes fraction", "data"), xytext=(offset, 0), textcoords="offset points",
                ha=align, va="center", fontsize=SMALL, color=colour, annotation_clip=False, parse_math=False,
            )  # fmt: skip
    axes.annotate(
        short(facet.replace("_", " "), _LONGEST), xy=(0, 1), xycoords="axes fraction", xytext=(0, 5),
        textcoords="offset points", fontsize=9, fontweight="bold", parse_math=False,
    )  # fmt: skip
