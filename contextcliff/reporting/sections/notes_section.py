"""What a reader has to know to read the numbers right."""

from __future__ import annotations

from contextcliff.records.report import Report
from contextcliff.reporting.blocks import Block, Line, Lines
from contextcliff.reporting.section import Section


class NotesSection(Section[None]):
    """The notes of the run and of its analysis."""

    key = "note_list"
    title = "Notes"

    def short(self, report: Report) -> tuple[Block, ...]:
        return (Lines(lines=tuple(Line(text=note) for note in report.notes)),) if report.notes else ()
