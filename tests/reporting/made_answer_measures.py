"""Measures of answers to questions, as a report has them."""

from __future__ import annotations

from contextcliff.findings.answer_measures import AnswerMeasure, AnswerMeasures, MeasuredLength, MeasureName


def made_measure(name: MeasureName, mean: float) -> AnswerMeasure:
    """A measure of 40 questions at two lengths, with intervals as wide as those have."""
    lengths = tuple(
        MeasuredLength(asked_tokens=tokens, n=20, mean=mean, ci_low=mean - 0.1, ci_high=mean + 0.1)
        for tokens in (512, 1024)
    )
    return AnswerMeasure(name=name, n=40, mean=mean, ci_low=mean - 0.05, ci_high=mean + 0.05, lengths=lengths)


MEASURES = AnswerMeasures(
    measures=(made_measure("f1", 0.3), made_measure("em", 0.1), made_measure("contains_reference", 0.6))
)
