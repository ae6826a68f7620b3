"""What is said of a model's prose."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

from contextcliff.analysis.study import Study
from contextcliff.records.generation import ScoredSample
from contextcliff.records.report import Report
from contextcliff.reporting import phrases
from contextcliff.reporting.blocks import Block, Column, Heading, Image, Line, Lines, Pairs, Table, Text
from contextcliff.reporting.section import FigureOf, FinishedRun, Measurement, Section, from_finding
from contextcliff.tasks.task import ProseTask
from contextcliff.writing.analysis.writing_analysis import writing_of
from contextcliff.writing.measures.measure import MEASURES
from contextcliff.writing.prose_findings import Writing, WritingTier
from contextcliff.writing.sections import writing_text
from contextcliff.writing.sections.convergence_figure import convergence_figure
from contextcliff.writing.sections.core_figure import core_figure, rounds_figure
from contextcliff.writing.sections.dashboard_figure import dashboard_figure
from contextcliff.writing.sections.writing_files import writing_files
from contextcliff.writing.sections.writing_page import page_of
from contextcliff.writing.sections.writing_phrases import change, title, value, way
from contextcliff.writing.sections.writing_runs import comparable_writing
from contextcliff.writing.words.english_writing import say

if TYPE_CHECKING:
    from matplotlib.figure import Figure


_METHOD = (
    "Every prompt ends at the same place in the text, whatever its length, and the author's own next words are measured"
    " beside the model's. The composite (0-100, up is worse) is calibrated by windows of the author's text; the classic"
    " one is Context-Tester's. An interval is a bootstrap over the rounds. What could not be measured is a dash and"
    " counts in nothing."
)
_SCALES = {"z": "at equal length", "raw": "as it is"}
_TRENDS = (
    "Jonckheere and Terpstra's test over all lengths, one-sided where one way is worse; corrected: Holm. At equal"
    " length: tested are the z-scores by windows of the author's text as long as each round's, not the figures beside"
    " them."
)


def _figure(name: str, caption: str, draw: Callable[[Report, Writing], Figure]) -> FigureOf:
    return FigureOf(name=name, caption=caption, has_data=_has_tiers, draw=from_finding(Writing, draw))


def _has_tiers(report: Report) -> bool:
    writing = report.analysis.finding(Writing)
    return writing is not None and bool(writing.tiers)


def _draw_rounds(report: Report, scored: Sequence[ScoredSample]) -> Figure:
    return from_finding(Writing, partial(rounds_figure, scored=scored))(report, scored)


class WritingSection(Section[Writing]):
    """How the prose of a continuation run changes with the context, and whether it gets worse."""

    key = "writing"
    title = "Writing by length"
    title_note = "tokens"
    record = Writing
    figures = (
        _figure("core_metrics", "Core measures of the writing by length", core_figure),
        FigureOf(
            name="writing_rounds",
            caption="Core measures of the writing, round by round",
            has_data=_has_tiers,
            draw=_draw_rounds,
        ),
        _figure("writing_dashboard", "Composite, consistency, effect sizes and tests of the writing", dashboard_figure),
        _figure("convergence", "Every measure of the writing against the original", convergence_figure),
    )

    def compute(self, study: Study) -> Writing | None:
        task, scored, cap = study.facts.task, study.scored, study.safe_cap
        if not isinstance(task, ProseTask) or not study.bins:
            return None
        written = [(item.sample, item.generation) for item in scored if item.generation is not None and item.details]
        embeds = any(measure.name in item.details for measure in MEASURES if measure.embeds for item in scored)
        return writing_of(
            scored,
            confidence=cap.confidence,
            document_id=scored[0].sample.document_id,
            continuation_point=scored[0].sample.evidence[0].start,
            author=task.author(written) if written else {},
            share=cap.threshold if cap.relative_to_baseline else None,
            cleared=cap.tokens is not None and cap.tokens >= study.bins[-1].max_tokens,
            embeddings=study.facts.embedder if embeds else None,
        )

    def caps(self, finding: Writing, study: Study) -> Mapping[str, int | None]:  # noqa: ARG002
        # A share of the shortest length's score, tested jointly with it: no worse than it within a margin.
        return {"writing": study.safe_cap.tokens} if study.safe_cap.relative_to_baseline else {}

    def short(self, report: Report) -> tuple[Block, ...]:
        writing = self.of(report)
        if writing is None:
            return ()
        trends = writing_text.trend_lines(writing)
        return (
            Table(columns=tuple(writing_text.tier_columns(writing))),
            Pairs(rows=writing_text.summary(writing)),
            *((Heading(text="From the shortest to the longest"), Pairs(rows=tuple(trends))) if trends else ()),
            *_lists(writing, in_short=True),
        )

    def full(self, report: Report) -> tuple[Block, ...]:
        writing = self.of(report)
        if writing is None:
            return ()
        head, rows = writing_text.tier_table(writing)
        measures, cells = writing_text.measure_table(writing)
        return (
            Pairs(rows=writing_text.summary(writing)),
            _table(head, rows, words={len(head) - 1}) if rows else Text(text="No length was tested."),
            Image(figure="core_metrics"),
            Image(figure="writing_dashboard"),
            *_trends(writing),
            *_lists(writing, in_short=False),
            *((Heading(text="Every measure"), _table(measures, cells, words={0})) if cells else ()),
            Image(figure="convergence"),
            Image(figure="writing_rounds"),
            Text(text=_METHOD),
        )

    def files(self, run: FinishedRun) -> Mapping[str, str]:
        writing = self.of(run.report)
        if writing is None:
            return {}
        runs = comparable_writing(run.report, parameters=run.parameters, folder=run.folder.parent, beside=run.beside)
        return {
            **writing_files(run.report, writing, scored=run.scored, parameters=run.parameters),
            "writing.html": page_of(runs),
        }

    def names_of_files(self, report: Report) -> str:  # noqa: ARG002
        return "of the writing: writing.html (for a browser), writing.csv, generations.txt"

    def metrics(self, report: Report) -> Iterator[Measurement]:
        writing = self.of(report)
        for tier in writing.tiers if writing is not None else ():
            for key, figure in _figures(tier):
                yield Measurement(key=f"writing.{key}", value=figure, step=tier.context_tokens)

    def tags(self, report: Report) -> Mapping[str, str]:
        writing = self.of(report)
        return {} if writing is None else {"writing_verdict": say(writing.verdict)}


def _lists(writing: Writing, *, in_short: bool) -> Iterator[Block]:
    for heading, lines in writing_text.lists(writing, in_short=in_short).items():
        if lines:
            yield Heading(text=heading)
            yield Lines(lines=tuple(Line(text=line) for line in lines))


def _trends(writing: Writing) -> Iterator[Block]:
    if not writing.trends:
        return
    rows = [
        (
            title(trend.measure),
            way(trend.measure) or "neither",
            value(trend.start),
            value(trend.end),
            change(trend.measure, trend.end - trend.start),
            phrases.MISSING if trend.p_value is None else phrases.p_value(trend.p_value).removeprefix("p = "),
            phrases.MISSING if trend.p_holm is None else phrases.p_value(trend.p_holm).removeprefix("p = "),
            phrases.MISSING if trend.p_value is None else _SCALES[trend.scale],
        )
        for trend in writing.trends
    ]
    head = ("measure", "which way is worse", "shortest", "longest", "change", "p", "corrected", "tested")
    yield Heading(text="From the shortest to the longest")
    yield _table(head, rows, words={0, 1, 7})
    yield Text(text=_TRENDS)


def _table(head: Sequence[str], rows: Sequence[Sequence[str]], *, words: Collection[int]) -> Table:
    """`words` are the places of the columns of text."""
    columns = zip(*rows, strict=True)
    return Table(
        columns=tuple(
            Column(title=name, cells=tuple(cells), words=place in words)
            for place, (name, cells) in enumerate(zip(head, columns, strict=True))
        )
    )


def _figures(tier: WritingTier) -> Iterator[tuple[str, float | None]]:
    yield "composite", tier.composite.mean
    yield "composite_ci_low", tier.composite.ci_low
    yield "composite_ci_high", tier.composite.ci_high
    yield "composite_classic", tier.composite_classic.mean
    for level in tier.measures:
        yield level.name, level.mean
        yield f"{level.name}_std", level.std
        yield f"{level.name}_original", level.original
        yield f"{level.name}_z", level.z
