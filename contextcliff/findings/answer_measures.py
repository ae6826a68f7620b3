"""Answers to questions by F1, exact match and the share that contains an accepted answer: how far they lie apart says
how much of a low score is the form of the answers. Repeats of a question are one piece of evidence, questions on one
text are clustered."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from contextcliff.analysis.bins import Group
from contextcliff.analysis.lengths import evidence_of, items_of, pooled_evidence
from contextcliff.analysis.study import Study
from contextcliff.findings import phrases
from contextcliff.findings.finding import Block, Column, Finding, Lines, Table, Text, columns
from contextcliff.records.generation import ScoredSample
from contextcliff.records.note import Note
from contextcliff.records.report import Report
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
    """The measures of all scored answers to short questions and choices; None where there is none."""
    answered = []
    for group in groups:
        whole = [each for each in group.samples if each.score is not None and each.details.keys() >= set(MEASURES)]
        if whole:
            answered.append((group.asked_tokens, whole))
    if not answered:
        return None
    return AnswerMeasures(measures=tuple(_measure(answered, name, confidence) for name in MEASURES))


def _measure(
    answered: Sequence[tuple[int, Sequence[ScoredSample]]], name: MeasureName, confidence: float
) -> AnswerMeasure:
    measured = [(asked, [replace(each, score=each.details[name]) for each in samples]) for asked, samples in answered]
    binary = all(item.is_right_or_wrong for _, samples in measured for item in items_of(samples))

    def figures(evidence: Evidence) -> dict[str, Any]:
        low, high = evidence.shown(confidence)
        return {"n": len(evidence.scores), "mean": mean_of(evidence.scores), "ci_low": low, "ci_high": high}

    lengths = tuple(
        MeasuredLength(asked_tokens=asked, **figures(evidence_of(items_of(samples), binary=binary)))
        for asked, samples in measured
    )
    pooled = pooled_evidence([samples for _, samples in measured], binary=binary)
    if pooled is None:
        raise ValueError("a measure needs at least one scored answer")
    return AnswerMeasure(name=name, **figures(pooled), lengths=lengths)


_Row = MeasuredLength | AnswerMeasure
_NAMES = {
    "f1": ("F1", "f1"),
    "em": ("exact match", "exact_match"),
    "contains_reference": ("contains", "contains_reference"),
}
"""Title and key of each."""
TAGS = {
    "empty": Note("nothing was said"),
    "schema": Note("JSON was asked for, and the reply is not the object that was asked for"),
    "verbose": Note("right, but said in too many words for this score: the accepted answer stands in it"),
    "refusal": Note("it says that the text does not tell, or that the model won't, and gives no accepted answer"),
    "incomplete": Note("the token limit cut it off, or it ends in mid-sentence"),
    "hallucination": Note(
        "most words that it adds to the question stand neither in the text nor in an accepted answer"
    ),
    "drift": Note("far longer than the accepted answer and without it, or about something else than text and question"),
    "partial": Note("it shares many words with the accepted answer (F1 of 0.5 or more)"),
    "wrong": Note("of the text, and not the answer"),
}
"""What each failure tag says of an answer to a question; `tasks/questions/qa_scoring.py` gives the tags."""


class AnswerMeasuresFinding(Finding[AnswerMeasures]):
    key = "answer_measures"
    title = "Answers"
    record = AnswerMeasures

    def find(self, study: Study) -> AnswerMeasures | None:
        return answer_measures(study.groups, study.confidence)

    def look(self, report: Report) -> tuple[Text, ...]:
        """Where answers hold more than they match: the model is right in other words."""
        _, exact, contains = measures = self.of(report).measures
        told = contains.ci_low > exact.ci_high
        return (Text(label=self.title, text=_in_short(*measures)),) if told else ()

    def show(self, report: Report) -> tuple[Block, ...]:
        cap = report.analysis.safe_cap
        score = " and ".join(map(str, phrases.metric_names(cap))) or "F1"
        meaning = (
            "The same answers by three measures. F1 is the harmonic mean of two shares: of the answer's words that"
            " stand in the accepted answer, and of the accepted answer's words that stand in the answer. An exact"
            " match is the accepted answer and nothing else. An answer contains the accepted one where that stands in"
            " it, alone or among further words, and is neither denied nor one of several candidates. Words are compared"
            " as SQuAD does, without case, punctuation and articles; of a multiple choice all three are whether it is"
            f" right. The score of this report, by which the cap is found, is {score}. n counts questions;"
            " where each was put several times, other tables count the answers."
        )
        table = Table(columns=tuple(_columns(self.of(report).measures)))
        lines = tuple(Text(label=tag, text=TAGS[tag]) for tag in phrases.all_failures(report) if tag in TAGS)
        heading = Note("What the failure tags in the tables below say of an answer")
        return (Text(text=meaning), table, *((Text(text=heading), Lines(lines=lines)) if lines else ()))


def _in_short(f1: AnswerMeasure, exact: AnswerMeasure, contains: AnswerMeasure) -> Note:
    exact_share, contains_share = (
        Note("{mean:.0%} ({low:.0%}-{high:.0%})", mean=each.mean, low=each.ci_low, high=each.ci_high)
        for each in (exact, contains)
    )
    return Note(
        "F1 {f1:.2f} ({low:.2f}-{high:.2f}), exact match {exact}, contain the accepted answer {contains}; n = {n:,}",
        f1=f1.mean, low=f1.ci_low, high=f1.ci_high, exact=exact_share, contains=contains_share, n=contains.n,
    )  # fmt: skip


def _columns(measures: Sequence[AnswerMeasure]) -> Iterator[Column]:
    lengths = measures[0].lengths
    yield Column(title="asked", cells=(*(phrases.whole(each.asked_tokens) for each in lengths), "all"))
    for measure in measures:
        rows: tuple[_Row, ...] = (*measure.lengths, measure)
        if measure is measures[0]:
            yield from columns(rows, ("n", lambda row: phrases.whole(row.n)))
        yield from columns(
            rows,
            (_NAMES[measure.name][0], lambda row: phrases.score(row.mean)),
            ("interval", lambda row: phrases.interval(row.ci_low, row.ci_high)),
        )
