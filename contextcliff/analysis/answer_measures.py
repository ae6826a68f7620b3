"""Answers to questions by several measures at once: F1, exact match, and how many contain an accepted answer.

A model that gives the right answer in a whole sentence has a low F1 and no exact match. How far the measures lie apart
says how much of a low score is the form of the answers. The repeats of a question are one piece of evidence here too,
and questions on one text are clustered.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from contextcliff.analysis.bins import Group
from contextcliff.analysis.items import evidence_of, items_of, pooled_evidence
from contextcliff.records.generation import ScoredSample
from contextcliff.statistics.clusters import Evidence
from contextcliff.statistics.descriptive import mean_of

MeasureName = Literal["f1", "em", "contains_reference"]
MEASURES: tuple[MeasureName, ...] = ("f1", "em", "contains_reference")


@dataclass(frozen=True, kw_only=True, slots=True)
class MeasuredLength:
    """Mean of a measure (0-1) over the `n` questions of one length, with a two-sided interval."""

    asked_tokens: int
    n: int
    mean: float
    ci_low: float
    ci_high: float


@dataclass(frozen=True, kw_only=True, slots=True)
class AnswerMeasure:
    """One measure over the `n` questions of all lengths, and by length. All measures have the same answers."""

    name: MeasureName
    n: int
    mean: float
    ci_low: float
    ci_high: float
    lengths: tuple[MeasuredLength, ...]
    """A length without a scored answer is left out."""


@dataclass(frozen=True, kw_only=True, slots=True)
class AnswerMeasures:
    """What the answers are worth by each measure, in the order of `MEASURES`."""

    measures: tuple[AnswerMeasure, ...]


def answer_measures(groups: Sequence[Group], confidence: float) -> AnswerMeasures | None:
    """The measures of all scored answers to short questions and choices; None where there is none.

    `groups` are the samples by length. A summary contains no reference and counts in none of the measures.
    """
    answered = [_answered(group) for group in groups]
    if not any(group.samples for group in answered):
        return None
    return AnswerMeasures(measures=tuple(_measure(answered, name, confidence) for name in MEASURES))


def _answered(group: Group) -> Group:
    """The answers that every measure is known of."""
    return replace(
        group,
        samples=tuple(s for s in group.samples if s.score is not None and all(name in s.details for name in MEASURES)),
    )


def _measure(groups: Sequence[Group], name: MeasureName, confidence: float) -> AnswerMeasure:
    measured = [(group.asked_tokens, _scored_by(name, group.samples)) for group in groups if group.samples]
    binary = all(item.is_right_or_wrong for _, samples in measured for item in items_of(samples))
    lengths = []
    for asked, samples in measured:
        evidence = evidence_of(items_of(samples), binary=binary)
        mean, low, high = _shown(evidence, confidence)
        lengths.append(MeasuredLength(asked_tokens=asked, n=len(evidence.scores), mean=mean, ci_low=low, ci_high=high))
    pooled = pooled_evidence([samples for _, samples in measured], binary=binary)
    if pooled is None:
        raise ValueError("a measure needs at least one scored answer")
    mean, low, high = _shown(pooled, confidence)
    return AnswerMeasure(name=name, n=len(pooled.scores), mean=mean, ci_low=low, ci_high=high, lengths=tuple(lengths))


def _scored_by(name: MeasureName, samples: Sequence[ScoredSample]) -> list[ScoredSample]:
    return [replace(sample, score=sample.details[name]) for sample in samples]


def _shown(evidence: Evidence, confidence: float) -> tuple[float, float, float]:
    return mean_of(evidence.scores), *evidence.shown(confidence)
