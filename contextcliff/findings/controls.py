"""Whether a length can show a cliff at all, by prompts with the evidence alone and without it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from contextcliff.analysis.controls import ControlLevel, ControlResults
from contextcliff.analysis.study import Study
from contextcliff.findings import phrases
from contextcliff.findings.finding import Block, Column, Finding, Measurement, Table, Text
from contextcliff.records.note import Note
from contextcliff.records.report import Report

_MEANING = (
    "Ceiling: the evidence alone; floor: the text without it. A length whose ceiling is shown to be low, or whose"
    " floor to be high, is not informative: its scores say nothing about length."
)

_NAMED = 4
"""Lengths that a sentence names at most."""


class ControlsFinding(Finding[ControlResults]):
    """The controls of every length, and which lengths they show to be uninformative."""

    key = "controls"
    title = "Controls"
    record = ControlResults
    inline = True

    def find(self, study: Study) -> ControlResults | None:
        return ControlResults(controls=study.control_levels)

    def show(self, report: Report) -> tuple[Block, ...]:
        levels = _levels(report)
        if not levels:
            return ()
        cells = report.analysis.cells
        blind = sum(not cell.informative for cell in cells)
        blind_cells = f"{blind:,} of {len(cells):,} cells of length and depth are not informative."
        return (
            Text(text=_MEANING),
            Table(columns=_columns(levels)),
            *((Text(text=blind_cells),) if blind else ()),
        )

    def metrics(self, report: Report) -> Iterator[Measurement]:
        for level in _levels(report):
            yield Measurement(key="by_length/control_ceiling", value=level.ceiling, step=level.asked_tokens)
            yield Measurement(key="by_length/control_floor", value=level.floor, step=level.asked_tokens)


def _levels(report: Report) -> tuple[ControlLevel, ...]:
    finding = report.analysis.finding(ControlResults)
    return () if finding is None else finding.controls


def _no_cliff_can_show(lengths: Sequence[int], *, every: bool) -> Note:
    if every:
        return Note("no length can show a cliff (low ceiling or high floor)")
    named, more = ", ".join(f"{tokens:,}" for tokens in lengths[:_NAMED]), len(lengths) - _NAMED
    if more > 0:
        return Note(
            "no cliff can show at {named} and {more:,} more tokens (low ceiling or high floor)", named=named, more=more
        )
    return Note("no cliff can show at {named} tokens (low ceiling or high floor)", named=named)


def _columns(levels: Sequence[ControlLevel]) -> tuple[Column, ...]:
    ceilings = tuple(phrases.interval(level.ceiling_ci_low, level.ceiling_ci_high) for level in levels)
    floors = tuple(phrases.interval(level.floor_ci_low, level.floor_ci_high) for level in levels)
    return (
        Column(title="asked tokens", cells=tuple(phrases.whole(level.asked_tokens) for level in levels)),
        Column(title="ceiling n", cells=tuple(phrases.whole(level.ceiling_n) for level in levels)),
        Column(title="ceiling", cells=tuple(phrases.score(level.ceiling) for level in levels)),
        Column(title="interval", cells=ceilings),
        Column(title="floor n", cells=tuple(phrases.whole(level.floor_n) for level in levels)),
        Column(title="floor", cells=tuple(phrases.score(level.floor) for level in levels)),
        Column(title="interval", cells=floors),
        Column(title="informative", cells=tuple("yes" if level.informative else "no" for level in levels)),
    )
