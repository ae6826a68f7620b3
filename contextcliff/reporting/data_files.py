"""Rows as CSV and objects as JSON, of which neither a terminal nor a spreadsheet obeys anything."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Mapping, Sequence

from contextcliff.reporting.atomic import LINE_ENDS
from contextcliff.reporting.plain_text import tame_cell

Cell = str | int | float | None
"""A value of a table; None: not measured."""
Row = dict[str, Cell]

# Inside a JSON string an escape is the same character, and a terminal does not obey it.
_ESCAPED = LINE_ENDS | {code: f"\\u{code:04x}" for code in (0x7F, *range(0x80, 0xA0))}


def json_text(value: Mapping[str, object]) -> str:
    """An object over several lines. Raises `ValueError` where a number is not finite."""
    text = json.dumps(dict(value), ensure_ascii=False, allow_nan=False, indent=2)
    return text.translate(_ESCAPED) + "\n"


def csv_text(rows: Sequence[Row]) -> str:
    """Rows of the same keys under one head line; an empty cell is what was not measured."""
    stream = io.StringIO()
    table = csv.DictWriter(stream, fieldnames=list(rows[0]) if rows else [], lineterminator="\n")
    table.writeheader()
    table.writerows(
        {key: tame_cell(cell) if isinstance(cell, str) else cell for key, cell in row.items()} for row in rows
    )
    return stream.getvalue()
