"""The finding of a continuation run: how its prose changes with the context, wherever a report is shown."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial

from contextcliff.analysis.study import Study
from contextcliff.findings.finding import Block, Finding, FinishedRun, Image, Text
from contextcliff.findings.score import curve_figure
from contextcliff.records.analysis import Bin
from contextcliff.records.report import Report
from contextcliff.writing.files import writing_files
from contextcliff.writing.levels import as_shown, health_of
from contextcliff.writing.measures.measure import MEASURES
from contextcliff.writing.page import writing_page
from contextcliff.writing.prose_findings import Writing
from contextcliff.writing.tables import blocks, health_table
from contextcliff.writing.task.continuation import Continuation
from contextcliff.writing.verdict import writing_of


class WritingFinding(Finding[Writing]):
    """How the prose of a continuation run changes with the context, and whether it gets worse."""

    key = "writing"
    title = "Writing"
    record = Writing
    page_name = "writing.html"

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
        return {"writing": study.safe_cap.ci_low}

    def tested(self, report: Report) -> tuple[Bin, ...]:
        health = self.of(report).health
        levels = {} if health is None else {level.context_tokens: level for level in health.levels}
        return tuple(
            replace(each, n_samples=level.n, n_unscored=level.n_unscored, mean=level.share, ci_low=level.ci_low,
                    ci_high=level.ci_high, tested_low=level.tested_low)
            for each in report.analysis.lengths
            if (level := levels.get(each.asked_tokens)) is not None
        )  # fmt: skip

    def short(self, report: Report) -> tuple[Block, ...]:
        writing, bins = self.of(report), self.tested(report)
        if writing.health is None:
            return ()
        caption = "Share of healthy rounds by length"
        draw = partial(curve_figure, report, bins, what="healthy")
        figure = (Image(name="healthy_rounds", caption=caption, draw=draw),) if bins else ()
        return (*figure, *health_table(writing))

    def look(self, report: Report) -> tuple[Text, ...]:
        found = self.of(report)
        warnings = (Text(label="Writing", text=warning) for warning in found.warnings)
        return (Text(label="Writing", text=found.verdict), *warnings)

    def show(self, report: Report) -> tuple[Block, ...]:
        return tuple(blocks(report, as_shown(self.of(report))))

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
