"""A table at the console's width: what doesn't fit is left out whole, never cut or wrapped."""

from __future__ import annotations

from collections.abc import Sequence

from rich.cells import cell_len, set_cell_size
from rich.console import Console
from rich.table import Table
from rich.text import Text

from contextcliff.reporting.blocks import Column
from contextcliff.reporting.outside_text import shown

_NARROWEST_TAG = 8


def fitted(columns: Sequence[Column], *, console: Console) -> Table:
    """The table of those columns for which there is room.

    A column of words holds tags with a count, the only words that may be cut.
    """
    kept = list(columns)
    available = console.width
    while _total(kept) > available:
        tags = next((column for column in kept if column.words), None)
        if tags is not None and _total(kept) - _width(tags) + _NARROWEST_TAG <= available:
            kept = _shorten(kept, by=_total(kept) - available)
            continue
        spare = max(kept, key=lambda column: column.spare)
        if not spare.spare:
            break
        kept.remove(spare)

    table = Table(box=None, padding=(0, 1, 0, 0), pad_edge=False, header_style="bold")
    for column in kept:
        table.add_column(
            Text(column.title),
            justify="left" if column.words else "right",
            vertical="bottom",
            no_wrap=True,
            # A width of its own keeps rich from shrinking every column a little and all numbers with them.
            width=_width(column),
        )
    for cells in zip(*(column.cells for column in kept), strict=True):
        table.add_row(*(shown(cell, console=console) for cell in cells))
    return table


def _width(column: Column) -> int:
    return max(cell_len(text) for text in (*column.title.split("\n"), *column.cells))


def _total(columns: Sequence[Column]) -> int:
    return sum(_width(column) for column in columns) + len(columns) - 1


def _shorten(columns: Sequence[Column], *, by: int) -> list[Column]:
    """Cut the tags, the only words in the table, `by` characters shorter."""
    return [_shortened(column, width=_width(column) - by) if column.words else column for column in columns]


def _shortened(column: Column, *, width: int) -> Column:
    """Tags cut in the middle, before their count, which is a number and stays whole."""
    cells = []
    for cell in column.cells:
        if cell_len(cell) <= width:
            cells.append(cell)
            continue
        tag, _, count = cell.rpartition(" ")
        cells.append(f"{set_cell_size(tag, max(1, width - len(count) - 3))}.. {count}")
    return Column(title=column.title, cells=tuple(cells), spare=column.spare, words=True)
