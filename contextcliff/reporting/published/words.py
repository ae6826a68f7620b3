"""Published curves as tables and sentences of a report."""

from __future__ import annotations

from collections.abc import Sequence

from contextcliff.findings import phrases
from contextcliff.findings.finding import Block, Column, Line, Lines, Table, Text
from contextcliff.records.published import PublishedCurve


def published_blocks(curves: Sequence[PublishedCurve]) -> tuple[Block, ...]:
    """A row for each curve, the source of each table, and how they are to be read."""
    if not curves:
        return ()
    lengths = sorted({point.tokens for curve in curves for point in curve.points})
    return (
        Text(
            text="Thin lines in the figure, as their sources print them: other prompts, other samples, often another "
            "mean over tasks. Nothing here is tested against them, and nothing is paired with them."
        ),
        Table(
            columns=(
                Column(title="published", cells=tuple(curve.model for curve in curves), words=True),
                Column(title="table", cells=tuple(curve.table for curve in curves), words=True),
                Column(
                    title="effective length",
                    cells=tuple(curve.effective_said or phrases.MISSING for curve in curves),
                ),
                *(
                    Column(title=f"{tokens:,}", cells=tuple(_score(curve, tokens) for curve in curves))
                    for tokens in lengths
                ),
            )
        ),
        Lines(lines=tuple(Line(text=said) for said in sources(curves))),
    )


def sources(curves: Sequence[PublishedCurve]) -> tuple[str, ...]:
    """What the scores of each table are, and where they stand."""
    tables = {curve.table: curve for curve in curves}
    return tuple(
        f"{name}: {'; '.join(part for part in (curve.metric, curve.asked) if part)}. {curve.source}"
        for name, curve in tables.items()
    )


def _score(curve: PublishedCurve, tokens: int) -> str:
    return next((f"{point.score:.3f}" for point in curve.points if point.tokens == tokens), phrases.MISSING)
