"""What is said of the prose of a run, where its task has that finding."""

from __future__ import annotations

from contextcliff.actions.action import Invocation
from contextcliff.actions.annotate_run import Annotated
from contextcliff.records.analysis import Analysis
from contextcliff.writing.prose_findings import Writing


def writing_of_run(invocation: Invocation, annotated: Annotated, analysis: Analysis) -> Writing | None:
    """The finding `writing`; None where the task has none."""
    if "writing" not in invocation.task.findings:
        return None
    from contextcliff.writing.analysis.writing_analysis import writing_of
    from contextcliff.writing.measures.measure import MEASURES
    from contextcliff.writing.task.continuation import Continuation

    task, scored = invocation.task, annotated.scored
    if not isinstance(task, Continuation):
        return None
    texts = [item.generation.text for item in scored if item.generation is not None and item.details]
    embeds = any(measure.name in item.details for measure in MEASURES if measure.embeds for item in scored)
    cap, document = analysis.safe_cap, scored[0].document
    return writing_of(
        scored,
        confidence=cap.confidence,
        document_id=scored[0].sample.document_id,
        continuation_point=scored[0].sample.reference.evidence[0].start,
        author=task.author(texts, document) if texts and document is not None else {},
        share=cap.threshold if cap.relative_to_baseline else None,
        cleared=cap.tokens is not None and cap.tokens >= analysis.bins[-1].max_tokens,
        embeddings=annotated.run.facts.embedder if embeds else None,
    )
