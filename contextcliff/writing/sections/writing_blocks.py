"""What the console and a page show of a model's prose, as blocks."""

from __future__ import annotations

from collections.abc import Sequence

from contextcliff.reporting import phrases
from contextcliff.reporting.blocks import Block, Column, Heading, Image, Line, Lines, Pairs, Table, Text
from contextcliff.writing.prose_findings import Writing
from contextcliff.writing.sections import writing_text
from contextcliff.writing.sections.writing_phrases import change, title, value, way

_METHOD = (
    "Every prompt ends at the same place in the text, whatever its length, and the author's own next words are measured"
    " beside the model's. The composite (0-100, up is worse) is calibrated by windows of the author's text; the classic"
    " one is Context-Tester's. An interval is a bootstrap over the rounds. What could not be measured is a dash and"
    " counts in nothing."
)
_SCALES = {"z": "at equal length", "raw": "as it is"}
_TRENDS = "From the shortest to the longest"
_TREND_TEST = (
    "Jonckheere and Terpstra's test over all lengths, one-sided where one way is worse; corrected: Holm. At equal"
    " length: tested are the z-scores by windows of the author's text as long as each round's, not the figures beside"
    " them."
)


def console_blocks(writing: Writing) -> tuple[Block, ...]:
    """The table of lengths at the console's width, the verdict, trends, and what was shown to be worse."""
    trends = writing_text.trend_lines(writing)
    return (
        Table(columns=tuple(writing_text.tier_columns(writing))),
        Pairs(rows=writing_text.summary(writing)),
        *((Heading(text=_TRENDS), Pairs(rows=tuple(trends))) if trends else ()),
        *_lists(writing, in_short=True),
    )


def page_blocks(writing: Writing) -> tuple[Block, ...]:
    """Every table whole, and the figures."""
    head, rows = writing_text.tier_table(writing)
    return (
        Pairs(rows=writing_text.summary(writing)),
        _table(head, rows, words={len(head) - 1}) if rows else Text(text="No length was tested."),
        Image(figure="core_metrics"),
        Image(figure="writing_dashboard"),
        *_trends(writing),
        *_lists(writing, in_short=False),
        *_measures(writing),
        Image(figure="convergence"),
        Image(figure="writing_rounds"),
        Text(text=_METHOD),
    )


def _lists(writing: Writing, *, in_short: bool) -> tuple[Block, ...]:
    blocks: list[Block] = []
    for heading, lines in writing_text.lists(writing, in_short=in_short).items():
        if lines:
            blocks += [Heading(text=heading), Lines(lines=tuple(Line(text=line) for line in lines))]
    return tuple(blocks)


def _trends(writing: Writing) -> tuple[Block, ...]:
    if not writing.trends:
        return ()
    rows = [
        (
            title(trend.measure),
            way(trend.measure) or "neither",
            value(trend.start),
            value(trend.end),
            change(trend.measure, trend.end - trend.start),
            phrases.MISSING if trend.p_value is None else phrases.p_value(trend.p_value).removeprefix("p = "),
            phrases.MISSING if trend.p_holm is None else phrases.p_value(trend.p_holm).removeprefix("p = "),
            phrases.MISSING if trend.p_value is None else _SCALES[trend.scale],
        )
        for trend in writing.trends
    ]
    head = ("measure", "which way is worse", "shortest", "longest", "change", "p", "corrected", "tested")
    return (Heading(text=_TRENDS), _table(head, rows, words={0, 1, len(head) - 1}), Text(text=_TREND_TEST))


def _measures(writing: Writing) -> tuple[Block, ...]:
    head, rows = writing_text.measure_table(writing)
    return (Heading(text="Every measure"), _table(head, rows, words={0})) if rows else ()


def _table(head: Sequence[str], rows: Sequence[Sequence[str]], *, words: set[int]) -> Table:
    """`words` are the columns of text, counted from 0; the others are numbers."""
    cells = zip(*rows, strict=True)
    return Table(
        columns=tuple(
            Column(title=name, cells=tuple(column), words=position in words)
            for position, (name, column) in enumerate(zip(head, cells, strict=True))
        )
    )
