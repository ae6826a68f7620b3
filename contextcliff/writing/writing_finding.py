"""The finding of a continuation run: how its prose changes with the context, wherever a report is shown."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from contextcliff.analysis.study import Study
from contextcliff.findings import phrases
from contextcliff.findings.finding import (
    Block,
    FigureOf,
    Finding,
    FinishedRun,
    Heading,
    Image,
    Line,
    Lines,
    Measurement,
    Pairs,
    Table,
    Text,
    columns_of,
    from_finding,
)
from contextcliff.records.report import Report
from contextcliff.writing import tables
from contextcliff.writing.figures import core_figure, dashboard_figure, health_figure
from contextcliff.writing.files import writing_files
from contextcliff.writing.levels import as_shown, health_of
from contextcliff.writing.measures.measure import MEASURES
from contextcliff.writing.page import writing_page
from contextcliff.writing.phrases import change, title, value, way
from contextcliff.writing.prose_findings import Writing, WritingTier
from contextcliff.writing.task.continuation import Continuation
from contextcliff.writing.verdict import writing_of

if TYPE_CHECKING:
    pass


_METHOD = (
    "Every prompt ends at the same place in the text, whatever its length, and the author's own next words are measured"
    " beside the model's. The composite (0-100, up is worse) is calibrated by windows of the author's text; the classic"
    " one is Context-Tester's. An interval is a bootstrap over the rounds. What could not be measured is a dash and"
    " counts in nothing."
)
_SCALES = {"z": "at equal length", "raw": "as it is"}
_TRENDS = "From the shortest to the longest"
_TREND_TEST = (
    "Jonckheere and Terpstra's test over all lengths, one-sided where one way is worse; corrected: Holm. At equal"
    " length: tested are the z-scores by windows of the author's text as long as each round's, not the figures beside"
    " them."
)


def _lists(writing: Writing) -> tuple[Block, ...]:
    blocks: list[Block] = []
    for heading, lines in tables.lists(writing).items():
        if lines:
            blocks += [Heading(text=heading), Lines(lines=tuple(Line(text=line) for line in lines))]
    return tuple(blocks)


def _trends(writing: Writing) -> tuple[Block, ...]:
    if not writing.trends:
        return ()
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
    return (
        Heading(text=_TRENDS),
        Table(columns=columns_of(head, rows, words=(*head[:2], head[-1]))),
        Text(text=_TREND_TEST),
    )


def _measures(writing: Writing) -> tuple[Block, ...]:
    head, rows = tables.measure_table(writing)
    return (Heading(text="Every measure"), Table(columns=columns_of(head, rows, words=head[:1]))) if rows else ()


def _has_tiers(report: Report) -> bool:
    writing = report.analysis.finding(Writing)
    return writing is not None and bool(writing.tiers)


def _has_health(report: Report) -> bool:
    writing = report.analysis.finding(Writing)
    return writing is not None and writing.health is not None


class WritingFinding(Finding[Writing]):
    """How the prose of a continuation run changes with the context, and whether it gets worse."""

    key = "writing"
    title = "Writing"
    record = Writing
    page_name = "writing.html"
    figures = (
        FigureOf(
            name="healthy_rounds",
            caption="Share of healthy rounds by length",
            has_data=_has_health,
            draw=from_finding(Writing, health_figure),
        ),
        FigureOf(
            name="core_metrics",
            caption="Core measures of the writing by length",
            has_data=_has_tiers,
            draw=from_finding(Writing, core_figure),
        ),
        FigureOf(
            name="writing_dashboard",
            caption="Composite, consistency, effect sizes and tests of the writing",
            has_data=_has_tiers,
            draw=from_finding(Writing, dashboard_figure),
        ),
    )

    def find(self, study: Study) -> Writing | None:
        task, scored, cap = study.facts.task, study.scored, study.safe_cap
        if not isinstance(task, Continuation) or study.sequence is None:
            return None
        texts = [item.generation.text for item in scored if item.generation is not None and item.details]
        document = scored[0].document
        embeds = any(measure.name in item.details for measure in MEASURES if measure.embeds for item in scored)
        return writing_of(
            scored,
            confidence=cap.confidence,
            document_id=scored[0].sample.document_id,
            continuation_point=scored[0].sample.reference.evidence[0].start,
            author=task.author(texts, document) if texts and document is not None else {},
            health=health_of(study.sequence.results, cap),
            settling_rounds=study.settled_by,
            embeddings=study.facts.embedder if embeds else None,
        )

    def caps(self, finding: Writing, study: Study) -> Mapping[str, int | None]:  # noqa: ARG002
        return {"writing": study.safe_cap.tokens}

    def short(self, report: Report) -> tuple[Block, ...]:
        return tables.health_table(as_shown(self.of(report)))

    def look(self, report: Report) -> tuple[Line, ...]:
        found = self.of(report)
        warnings = (Line(label="Writing", text=warning) for warning in found.warnings)
        return (Line(label="Writing", text=found.verdict), *warnings)

    def show(self, report: Report) -> tuple[Block, ...]:
        writing = as_shown(self.of(report))
        return (
            Pairs(rows=tables.summary(writing)),
            tables.tier_table(writing) if writing.tiers else Text(text="No length was tested."),
            Image(figure="core_metrics"),
            Image(figure="writing_dashboard"),
            *_trends(writing),
            *_lists(writing),
            *_measures(writing),
            Text(text=_METHOD),
            *((Text(text=tables.HEALTH),) if writing.health is not None else ()),
        )

    def metrics(self, report: Report) -> Iterator[Measurement]:
        writing = self.of(report)
        for level in writing.health.levels if writing.health is not None else ():
            yield Measurement(key="writing/healthy_share", value=level.share, step=level.context_tokens)
        for tier in writing.tiers:
            for key, figure in _figures(tier):
                yield Measurement(key=f"writing/{key}", value=figure, step=tier.context_tokens)

    def tags(self, report: Report) -> Mapping[str, str]:
        return {"writing_verdict": str(self.of(report).verdict)}

    def parameters(self, report: Report) -> Mapping[str, str]:
        writing = self.of(report)
        rounds = sorted({tier.n_rounds for tier in writing.tiers})
        ends = dict.fromkeys((*rounds[:1], *rounds[-1:]))
        return {"text": writing.document_id, "rounds": " to ".join(map(str, ends))}

    def files(self, run: FinishedRun) -> Mapping[str, str]:
        return writing_files(run.report, self.of(run.report), scored=run.scored, parameters=run.parameters)

    def page(self, run: FinishedRun) -> str | None:
        return writing_page(run.report, self.of(run.report), scored=run.scored, parameters=run.parameters)


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
