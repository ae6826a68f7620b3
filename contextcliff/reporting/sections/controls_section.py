"""Whether a length can show a cliff at all, by prompts with the evidence alone and without it."""

from __future__ import annotations

from collections.abc import Iterator

from contextcliff.analysis.controls import ControlLevel, ControlResults
from contextcliff.analysis.study import Study
from contextcliff.records.report import Report
from contextcliff.reporting.section import Measurement, Section


class ControlsSection(Section[ControlResults]):
    """Whether a length can show a cliff at all, by prompts with the evidence alone and without it."""

    key = "controls"
    title = "Controls"
    record = ControlResults
    inline = True

    def compute(self, study: Study) -> ControlResults | None:
        return ControlResults(controls=study.control_levels)

    def metrics(self, report: Report) -> Iterator[Measurement]:
        for level in _levels(report):
            yield Measurement(key="control_ceiling", value=level.ceiling, step=level.asked_tokens)
            yield Measurement(key="control_floor", value=level.floor, step=level.asked_tokens)


def _levels(report: Report) -> tuple[ControlLevel, ...]:
    finding = report.analysis.finding(ControlResults)
    return () if finding is None else finding.controls
