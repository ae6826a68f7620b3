"""Answers to questions: F1, exact match and the share that contains an accepted answer; and what each tag means."""

from __future__ import annotations

from collections.abc import Iterator

from contextcliff.analysis.answer_measures import AnswerMeasure, AnswerMeasures, MeasuredLength, answer_measures
from contextcliff.analysis.judged_by import rule_of
from contextcliff.analysis.study import Study
from contextcliff.findings import phrases
from contextcliff.findings.finding import Block, Column, Finding, Line, Lines, Measurement, Shown, Table, Text
from contextcliff.records.report import Report
from contextcliff.reporting.report_facts import EXPLAINED_TAGS, AnswersInShort, FailureTag, FailureTagsFollow

_TITLES = {"f1": "F1", "em": "exact match", "contains_reference": "contains"}
_KEYS = {"f1": "f1", "em": "exact_match", "contains_reference": "contains_reference"}
_SCORES = {"f1": "F1", "em": "exact match", "rouge_l": "ROUGE-L (the longest common subsequence of words)"}


class AnswerMeasuresSection(Finding[AnswerMeasures]):
    """The measures by length, and the tags of the answers that are no exact match."""

    key = "answer_measures"
    title = "Answers"
    record = AnswerMeasures

    def find(self, study: Study) -> AnswerMeasures | None:
        return answer_measures(study.groups, study.confidence)

    def summary(self, report: Report) -> tuple[tuple[str, Shown], ...]:
        finding = self.of(report)
        return () if finding is None else ((self.title, AnswersInShort(measures=finding)),)

    def short(self, report: Report) -> tuple[Block, ...]:
        if self.of(report) is None:
            return ()
        shown = {phrases.commonest_failure(each).rpartition(" x")[0] for each in report.analysis.bins}
        return _explained([tag for tag in phrases.all_failures(report) if tag in shown])

    def show(self, report: Report) -> tuple[Block, ...]:
        finding = self.of(report)
        if finding is None:
            return ()
        score = _SCORES.get(rule_of(report).get("task.metric", "f1"), "F1")
        meaning = (
            "The same answers by three measures. F1 is the harmonic mean of two shares: of the answer's words that"
            " stand in the accepted answer, and of the accepted answer's words that stand in the answer. An exact"
            " match is the accepted answer and nothing else. An answer contains the accepted one where that stands in"
            " it, alone or among further words, and is neither denied nor one of several candidates. Words are compared"
            " as SQuAD does, without case, punctuation and articles; of a multiple choice all three are whether it is"
            " right."
            f" The score of this report, by which the cap is found, is {score}. n counts questions;"
            " where each was put several times, other tables count the answers."
        )
        explained = _explained(list(phrases.all_failures(report)))
        return (Text(text=meaning), Table(columns=_columns(finding)), *explained)

    def metrics(self, report: Report) -> Iterator[Measurement]:
        finding = self.of(report)
        for measure in () if finding is None else finding.measures:
            key = _KEYS[measure.name]
            yield Measurement(key=f"answers/{key}", value=measure.mean)
            yield Measurement(key=f"answers/{key}_ci_low", value=measure.ci_low)
            yield Measurement(key=f"answers/{key}_ci_high", value=measure.ci_high)
            yield Measurement(key=f"answers/{key}_n", value=measure.n)
            for length in measure.lengths:
                yield Measurement(key=f"by_length/{key}", value=length.mean, step=length.asked_tokens)
                yield Measurement(key=f"by_length/{key}_ci_low", value=length.ci_low, step=length.asked_tokens)
                yield Measurement(key=f"by_length/{key}_ci_high", value=length.ci_high, step=length.asked_tokens)
                yield Measurement(key=f"by_length/{key}_n", value=length.n, step=length.asked_tokens)


def _explained(tags: list[str]) -> tuple[Block, ...]:
    lines = tuple(Line(label=tag, text=FailureTag(tag=tag)) for tag in tags if tag in EXPLAINED_TAGS)
    return (Text(text=FailureTagsFollow()), Lines(lines=lines)) if lines else ()


def _columns(finding: AnswerMeasures) -> tuple[Column, ...]:
    first = finding.measures[0]
    return (
        Column(title="asked tokens", cells=(*(phrases.whole(each.asked_tokens) for each in first.lengths), "all")),
        Column(title="n", cells=(*(phrases.whole(each.n) for each in first.lengths), phrases.whole(first.n))),
        *(column for measure in finding.measures for column in _columns_of(measure)),
    )


def _columns_of(measure: AnswerMeasure) -> tuple[Column, Column]:
    rows: tuple[MeasuredLength | AnswerMeasure, ...] = (*measure.lengths, measure)
    return (
        Column(title=_TITLES[measure.name], cells=tuple(phrases.score(row.mean) for row in rows)),
        Column(title="interval", cells=tuple(phrases.interval(row.ci_low, row.ci_high) for row in rows)),
    )
