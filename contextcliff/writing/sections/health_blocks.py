"""The healthy rounds of a continuation run by length, and why the others are not, as a table with what it means."""

from __future__ import annotations

from collections.abc import Sequence

from contextcliff.findings import phrases
from contextcliff.findings.finding import Block, Column, Image, Table, Text
from contextcliff.writing.prose_findings import Writing
from contextcliff.writing.sections.shown_lengths import shown_lengths

_HEALTH = (
    "A round that is not healthy is counted once: as too short (less text than task.min_tokens_fraction asks for), else"
    " as in a loop (more than half of its three-word sequences have occurred before), else as beyond the author. The"
    " author's passages are windows of the text about as long as the round, each judged by what the other windows do;"
    " within the limit are 99% of them. The interval is Wilson's; the tested bound is exact and one-sided, and counts"
    " unscored rounds as not healthy."
)


def health_table(writing: Writing) -> tuple[Block, ...]:
    """The table alone, at the console's width; nothing where nobody judged the rounds."""
    columns = _columns(writing)
    return (Table(columns=tuple(columns)),) if columns else ()


def health_blocks(writing: Writing) -> tuple[Block, ...]:
    """The table with its figure, and how rounds are counted."""
    table = health_table(writing)
    return (*table, Text(text=_HEALTH), Image(figure="healthy_rounds")) if table else ()


_FAULTS = {"too_short": "too short", "loop": "in a loop", "beyond_author": "beyond the author", "unmeasured": "unknown"}


def _columns(writing: Writing) -> list[Column]:
    """The healthy rounds of each length, and why the others are not; no column where nobody judged them."""
    levels = () if writing.health is None else writing.health.levels
    faults = [fault for fault in _FAULTS if fault != "unmeasured" or any(fault in level.faults for level in levels)]
    if not levels:
        return []
    return [
        _plain(shown_lengths(writing).column, [phrases.whole(level.context_tokens) for level in levels]),
        _plain("rounds", [phrases.whole(level.n) for level in levels]),
        *(
            [_plain("un-\nscored", [phrases.whole(level.n_unscored) for level in levels])]
            if any(level.n_unscored for level in levels)
            else []
        ),
        _plain("healthy", [phrases.whole(level.healthy) for level in levels]),
        _plain("share", [_share(level.share) for level in levels]),
        _plain("interval", [phrases.interval(level.ci_low, level.ci_high) for level in levels], spare=1),
        _plain("tested\nbound", [phrases.bound(level.tested_low) for level in levels], spare=2),
        *(
            _plain(
                _FAULTS[fault].replace(" ", "\n", 1),
                [phrases.whole(level.faults.get(fault, 0)) for level in levels],
                spare=3 + place,
            )
            for place, fault in enumerate(faults)
        ),
    ]


def _plain(title: str, cells: Sequence[str], *, spare: int = 0) -> Column:
    return Column(title=title, cells=tuple(cells), spare=spare)


def _share(share: float | None) -> str:
    return phrases.MISSING if share is None else f"{100 * share:.1f}%"
