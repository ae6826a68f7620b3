"""Which run it was, and the command that repeats it."""

from __future__ import annotations

from contextcliff.analysis.judged_by import rule_of, worded
from contextcliff.records.report import SCHEMA_VERSION, Report
from contextcliff.reporting.blocks import Block, Code, Pairs
from contextcliff.reporting.section import Section


class RunSection(Section[None]):
    """The run's names, the rule that it was judged by, and its command."""

    key = "this_run"
    title = "This run"

    def full(self, report: Report) -> tuple[Block, ...]:
        rows = (
            ("Run", report.run.run_id),
            ("Fingerprint", report.run.fingerprint),
            ("Created", report.run.created_at),
            ("Judged by", worded(rule_of(report))),
            ("Report schema", str(SCHEMA_VERSION)),
        )
        return (Pairs(rows=rows), Code(text=report.run.command))
