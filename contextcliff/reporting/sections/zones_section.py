"""The tested range in up to three zones: stable, transition, degraded."""

from __future__ import annotations

from contextcliff.records.analysis import Zone
from contextcliff.records.report import Report
from contextcliff.reporting import phrases
from contextcliff.reporting.blocks import Block, Column, Line, Lines, Table
from contextcliff.reporting.report_facts import ZoneRange
from contextcliff.reporting.section import Section

_MARKS = {"stable": "[OK]", "transition": "[!!]", "degraded": "[XX]"}
_MOODS = {"stable": "good", "transition": "doubtful", "degraded": "bad"}


class ZonesSection(Section[None]):
    """From where to where the model is stable, and where it is degraded."""

    key = "zone_table"
    title = "Zones"

    def short(self, report: Report) -> tuple[Block, ...]:
        zones = report.analysis.zones
        lines = tuple(
            Line(text=ZoneRange(mark=_mark(zone), zone=zone), mood=_MOODS.get(zone.name, "")) for zone in zones
        )
        return (Lines(lines=lines, bullets=False),) if zones else ()

    def full(self, report: Report) -> tuple[Block, ...]:
        zones = report.analysis.zones
        if not zones:
            return ()
        marks = tuple(map(_mark, zones))
        columns = (
            Column(title="", cells=marks, words=True),
            Column(title="zone", cells=tuple(zone.name for zone in zones), words=True),
            Column(title="from tokens", cells=tuple(phrases.whole(zone.min_tokens) for zone in zones)),
            Column(title="to tokens", cells=tuple(phrases.whole(zone.max_tokens) for zone in zones)),
        )
        return (Table(columns=columns),)


def _mark(zone: Zone) -> str:
    return _MARKS.get(zone.name, "[??]")
