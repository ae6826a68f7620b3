"""What to do at each length: use the text as it is, compress it, or retrieve from it."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

from contextcliff.analysis.study import Study
from contextcliff.findings import phrases
from contextcliff.findings.finding import Block, Column, Finding, Line, Lines, Table, Text
from contextcliff.findings.guide import Guide, operating_guide, tokens_of
from contextcliff.findings.half_life import half_life_of
from contextcliff.findings.phrases import shown_interval
from contextcliff.records.report import Report
from contextcliff.reporting.report_facts import GuideRange

_MARKS = {"safe": "[OK]", "caution": "[!!]", "danger": "[XX]"}
_MOODS = {"safe": "good", "caution": "doubtful", "danger": "bad"}
_SCALE = (
    "Safe: up to the safe cap, where the length is shown to clear the threshold. Nothing beyond the cap is safe: "
    "danger is a mean score under 0.5, caution any other, also a high one. It is sure where the tests of the safe cap "
    "show the length to clear the threshold (safe) or to be below it (caution, danger); the rest is a rule of thumb."
)


class GuideSection(Finding[Guide]):
    """An operating guide by the safe cap and the mean scores, for tasks of recall."""

    key = "guide"
    title = "Operating guide"
    title_note = "safe as far as the cap; longest prompt of each length"
    record = Guide

    def find(self, study: Study) -> Guide | None:
        # The guide's limits are those of recall: how hard a question set is, and what prose is, would move them.
        if study.sequence is None or study.facts.quantity != "score":
            return Guide(rows=(), advice=())
        if study.facts.relative_by_default or not study.facts.designed_lengths:
            return Guide(rows=(), advice=())
        return operating_guide(study.sequence, half_life_of(study))

    def short(self, report: Report) -> tuple[Block, ...]:
        guide = self.of(report)
        if guide is None or not guide.rows:
            return ()
        return (Lines(lines=tuple(_lines(guide)), bullets=False),)

    def show(self, report: Report) -> tuple[Block, ...]:
        guide = self.of(report)
        if guide is None or not (guide.rows or guide.advice):
            return ()
        rows = guide.rows
        columns = (
            Column(title="level", cells=tuple(f"{_mark(row.level)} {row.level}" for row in rows), words=True),
            Column(title="asked tokens", cells=tuple(phrases.whole(row.asked_tokens) for row in rows)),
            Column(title="prompt tokens", cells=tuple(phrases.whole(row.max_tokens) for row in rows)),
            Column(title="n", cells=tuple(phrases.whole(row.n_samples) for row in rows)),
            Column(title="score", cells=tuple(phrases.score(row.mean) for row in rows)),
            Column(title="interval", cells=tuple(shown_interval(report, row.ci_low, row.ci_high) for row in rows)),
            Column(title="sure", cells=tuple("yes" if row.sure else "no" for row in rows)),
        )
        return (
            Text(text=_SCALE),
            *((Table(columns=columns),) if rows else ()),
            Lines(lines=tuple(Line(text=line) for line in guide.advice)),
        )


def _lines(guide: Guide) -> Iterator[Line]:
    """A line for each range of neighbouring lengths at one level."""
    for level, run in itertools.groupby(guide.rows, key=lambda row: row.level):
        rows = list(run)
        text = GuideRange(
            mark=_mark(level),
            level=level,
            first=tokens_of(rows[0]),
            last=tokens_of(rows[-1]),
            n_lengths=len(rows),
            n_sure=sum(row.sure for row in rows),
        )
        yield Line(text=text, mood=_MOODS.get(level, ""))


def _mark(level: str) -> str:
    return _MARKS.get(level, "[??]")
