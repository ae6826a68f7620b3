"""Whether a length can show a cliff at all, by prompts with the evidence alone and without it."""

from __future__ import annotations

from contextcliff.analysis.controls import ControlResults
from contextcliff.analysis.study import Study
from contextcliff.findings import phrases
from contextcliff.findings.finding import Block, Finding, Table, Text, columns
from contextcliff.records.report import Report

_MEANING = (
    "Ceiling: the evidence alone; floor: the text without it. A length whose ceiling is shown to be low, or whose"
    " floor to be high, is not informative: its scores say nothing about length."
)


class ControlsFinding(Finding[ControlResults]):
    key = "controls"
    title = "Controls"
    record = ControlResults
    inline = True

    def find(self, study: Study) -> ControlResults | None:
        return ControlResults(controls=study.control_levels)

    def show(self, report: Report) -> tuple[Block, ...]:
        levels = self.of(report).controls
        if not levels:
            return ()
        cells = report.analysis.cells
        blind = sum(not cell.informative for cell in cells)
        blind_cells = f"{blind:,} of {len(cells):,} cells of length and depth are not informative."
        table = columns(
            levels,
            ("asked", lambda level: phrases.whole(level.asked_tokens)),
            ("ceiling n", lambda level: phrases.whole(level.ceiling_n)),
            ("ceiling", lambda level: phrases.score(level.ceiling)),
            ("interval", lambda level: phrases.interval(level.ceiling_ci_low, level.ceiling_ci_high)),
            ("floor n", lambda level: phrases.whole(level.floor_n)),
            ("floor", lambda level: phrases.score(level.floor)),
            ("interval", lambda level: phrases.interval(level.floor_ci_low, level.floor_ci_high)),
            ("informative", lambda level: "yes" if level.informative else "no"),
        )
        return (Text(text=_MEANING), Table(columns=table), *((Text(text=blind_cells),) if blind else ()))
