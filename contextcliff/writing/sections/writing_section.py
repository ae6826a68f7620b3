"""What is said of a model's prose."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from contextcliff.analysis.study import Study
from contextcliff.records.report import Report
from contextcliff.reporting.section import Measurement, Section
from contextcliff.tasks.task import ProseTask
from contextcliff.writing.analysis.writing_analysis import writing_of
from contextcliff.writing.measures.measure import MEASURES
from contextcliff.writing.prose_findings import Writing, WritingTier


class WritingSection(Section[Writing]):
    """How the prose of a continuation run changes with the context, and whether it gets worse."""

    key = "writing"
    title = "Writing by length"
    title_note = "tokens"
    record = Writing

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

    def metrics(self, report: Report) -> Iterator[Measurement]:
        writing = self.of(report)
        for tier in writing.tiers if writing is not None else ():
            for key, value in _figures(tier):
                yield Measurement(key=f"writing.{key}", value=value, step=tier.context_tokens)

    def tags(self, report: Report) -> Mapping[str, str]:
        writing = self.of(report)
        return {} if writing is None else {"writing_verdict": writing.verdict}


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
