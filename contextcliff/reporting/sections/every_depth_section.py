"""Whether the cap holds at every depth, and not only on the mean over them."""

from __future__ import annotations

from collections.abc import Mapping

from contextcliff.analysis.every_depth import EveryDepth, every_depth
from contextcliff.analysis.study import Study
from contextcliff.findings import phrases
from contextcliff.findings.finding import Block, Column, Finding, Shown, Table, Text
from contextcliff.records.report import Report
from contextcliff.reporting.report_facts import EveryDepthInShort

_MEANING = (
    "The safe cap is about the mean over depths, which can hide a bad one. Here each third of the depths is tested by"
    " itself; the cap rule any_depth is the longest prompt up to which each of them clears the threshold."
)


class EveryDepthSection(Finding[EveryDepth]):
    """The thirds of the depths at every length, and the cap rule `any_depth`."""

    key = "every_depth"
    title = "Every depth"
    folded = True
    record = EveryDepth
    cap_rules = {  # noqa: RUF012 - a ClassVar of the base class
        "any_depth": "longest prompt of the last length, from the shortest up to the safe cap, at which each third of"
        " the depths was shown to clear the threshold"
    }

    def find(self, study: Study) -> EveryDepth | None:
        return every_depth(study)

    def caps(self, finding: EveryDepth, study: Study) -> Mapping[str, int | None]:  # noqa: ARG002
        return {"any_depth": finding.tokens}

    def summary(self, report: Report) -> tuple[tuple[str, Shown], ...]:
        finding = self.of(report)
        if finding is None or finding.reason is None:
            return ()
        return ((self.title, EveryDepthInShort(tokens=finding.tokens, reason=finding.reason)),)

    def show(self, report: Report) -> tuple[Block, ...]:
        finding = self.of(report)
        if finding is None or not report.analysis.bins:
            return ()
        rows = [(length, third) for length in finding.lengths for third in length.thirds]
        columns = (
            Column(title="asked tokens", cells=tuple(phrases.whole(length.context_tokens) for length, _ in rows)),
            Column(title="third", cells=tuple(third.name for _, third in rows), words=True),
            Column(title="depths", cells=tuple(f"{third.low:.3g}-{third.high:.3g}" for _, third in rows)),
            Column(title="n", cells=tuple(phrases.whole(third.n_samples) for _, third in rows)),
            Column(title="score", cells=tuple(phrases.score(third.mean) for _, third in rows)),
            Column(title="shown", cells=tuple(third.shown for _, third in rows), words=True),
        )
        reason = finding.reason
        short = () if reason is None else (Text(text=EveryDepthInShort(tokens=finding.tokens, reason=reason)),)
        return (Text(text=_MEANING), *short, Table(columns=columns))
