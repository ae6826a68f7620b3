"""Every cap rule side by side."""

from __future__ import annotations

from collections.abc import Iterator

from contextcliff.records.report import Report
from contextcliff.reporting import phrases
from contextcliff.reporting.blocks import Block, Column, Table, Text
from contextcliff.reporting.section import Measurement, Section
from contextcliff.reporting.section_list import sections_of

_RULES = {
    # Also the rules of findings that a run need not have: every report lists them.
    "walk_up": "longest prompt of the last length, from the shortest up, that was shown to clear the threshold",
    "blueprint": "shortest prompt of the first length where the spread doubles, the mean falls by over 30% or"
    " failures spike",
    "absolute": "longest prompt before the first mean under the threshold, taken as a fixed score; no test",
    "relative": "longest prompt before the first mean under a fixed share of the shortest length's, the"
    ' "effective length" of other benchmarks; no test',
    "writing": "where the text that the model itself writes degrades",
    "memory": "what the KV cache leaves room for",
    "latency": "what a limit on latency admits",
}


class CapRulesSection(Section[None]):
    """The cap by each rule, for comparison with the one that the report stands on."""

    key = "cap_rules"
    title = "Appendix: every cap rule"

    def full(self, report: Report) -> tuple[Block, ...]:
        caps = report.analysis.caps
        words = _RULES | {rule: text for section in sections_of(report) for rule, text in section.cap_rules.items()}
        chosen = f"The report stands on {report.analysis.safe_cap.rule}; the others are for comparison."
        columns = (
            Column(title="rule", cells=tuple(caps), words=True),
            Column(title="cap in tokens", cells=tuple(phrases.whole(tokens) for tokens in caps.values())),
            Column(title="what it is", cells=tuple(words.get(rule, "") for rule in caps), words=True),
        )
        return (Text(text=chosen), *((Table(columns=columns),) if caps else ()))

    def metrics(self, report: Report) -> Iterator[Measurement]:
        for rule, tokens in report.analysis.caps.items():
            yield Measurement(key=f"caps.{rule}", value=tokens)
