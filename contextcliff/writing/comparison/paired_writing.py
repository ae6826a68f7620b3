"""The prose of the candidates beside the baseline's, pair by pair: sentences, tables and data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict

from contextcliff.findings.finding import Block, Column, Heading, Table, Text
from contextcliff.reporting.comparison.comparison import ComparedRun, DecidedRun
from contextcliff.reporting.words.english_say import say
from contextcliff.writing.analysis.paired_measures import MeasureDifference, PairedRounds, measure_differences
from contextcliff.writing.comparison.written_run import WrittenRun, sides
from contextcliff.writing.words.english_differences import (
    HEAD,
    WORDS,
    cells,
    differences_notes,
    differences_sentence,
)

Differences = Mapping[str, Sequence[MeasureDifference]]
"""By the candidate's name."""


def paired_differences(
    written: Sequence[WrittenRun], *, decided: Sequence[DecidedRun], baseline: ComparedRun, confidence: float
) -> Differences:
    """The differences of every candidate with prose that has pairs with the baseline; none where that has no prose."""
    by_name = {side.name: side for side in sides(written)}
    base = by_name.get(baseline.name)
    if base is None:
        return {}
    candidates = {
        each.run.name: PairedRounds(side=by_name[each.run.name], pairs=each.pairs)
        for each in decided
        if each.pairs and each.run.name in by_name
    }
    return measure_differences(base, candidates, confidence=confidence)


def difference_lines(known: Differences, *, baseline: str) -> tuple[str, ...]:
    """A sentence a candidate."""
    return tuple(differences_sentence(name, baseline, rows) for name, rows in known.items())


def difference_notes(known: Differences, *, confidence: float) -> tuple[str, ...]:
    """What a reader has to know before the figures."""
    return differences_notes(known, confidence=confidence)


def difference_blocks(known: Differences, *, baseline: str) -> tuple[Block, ...]:
    """A table a candidate: a row a measure, and why some were not tested."""
    return tuple(block for name, rows in known.items() if rows for block in _of_candidate(name, rows, baseline))


def _of_candidate(name: str, rows: Sequence[MeasureDifference], baseline: str) -> tuple[Block, ...]:
    shown = [cells(one) for one in rows]
    columns = tuple(
        Column(title=title, cells=tuple(row[place] for row in shown), words=title in WORDS)
        for place, title in enumerate(HEAD)
    )
    reasons = dict.fromkeys(say(one.reason) for one in rows if one.reason is not None)
    return (
        Heading(text=f"{name} against {baseline}, pair by pair"),
        Text(text=differences_sentence(name, baseline, rows)),
        Table(columns=columns),
        *(Text(text=f"Not tested where {reason}.") for reason in reasons),
    )


def difference_data(known: Differences) -> list[dict[str, object]]:
    """The rows in `comparison.json`, every figure in full precision."""
    return [
        {"candidate": name, **asdict(one), "reason": "" if one.reason is None else say(one.reason)}
        for name, rows in known.items()
        for one in rows
    ]
