"""A comparison on the console: a table of the runs, what each part says, and where the files lie."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from rich.cells import cell_len
from rich.console import Console
from rich.table import Table
from rich.text import Text

from contextcliff.reporting.comparison import comparison as rows
from contextcliff.reporting.comparison.comparison import Comparison
from contextcliff.reporting.outside_text import shown

_NARROWEST = 16


def render_comparison(comparison: Comparison, *, console: Console, folder: Path) -> None:
    """Print it, readable at 80 columns."""
    title = "COMPARISON"
    console.print(title, style="bold", highlight=False)
    console.print("-" * len(title), highlight=False)
    console.print(_table(comparison, console=console), highlight=False)
    for part in comparison.parts:
        if part.lines:
            _heading(console, part.title.upper())
            _items(console, part.lines)
    if comparison.notes:
        _heading(console, "NOTES")
        _items(console, comparison.notes)
    console.print()
    # A path is copied: it may run over the edge, but no line break may enter it.
    pages = ", ".join(
        ("comparison.md, .json, .csv, figures", *(name for part in comparison.parts for name in part.files))
    )
    console.print(f"FILES ({pages})", style="bold", highlight=False)
    console.print(shown(f"  {folder}", console=console), highlight=False, soft_wrap=True)


def _table(comparison: Comparison, *, console: Console) -> Table:
    """Numbers are never cut; a long name goes on in the next line."""
    columns = (
        ("cap", [rows.cap(run) for run in comparison.runs]),
        ("verdict", [rows.verdict(run) for run in comparison.runs]),
        ("score", [rows.score(run) for run in comparison.runs]),
        ("lengths", [rows.lengths(run) for run in comparison.runs]),
    )
    widths = [max(map(cell_len, (name, *cells))) for name, cells in columns]
    names = [_plain(run.name) for run in comparison.runs]
    available = max(_NARROWEST, console.width - sum(widths) - len(widths))
    table = Table(box=None, padding=(0, 1, 0, 0), pad_edge=False, header_style="bold")
    table.add_column("run", width=min(available, max(map(cell_len, (*names, "run")))), overflow="fold")
    for (name, _), width in zip(columns, widths, strict=True):
        table.add_column(name, justify="left" if name == "verdict" else "right", no_wrap=True, width=width)
    for place, name in enumerate(names):
        table.add_row(*(shown(text, console=console) for text in (name, *(cells[place] for _, cells in columns))))
    return table


def _heading(console: Console, text: str) -> None:
    console.print()
    console.print(text, style="bold", highlight=False)


def _items(console: Console, lines: Sequence[str]) -> None:
    for line in lines:
        lead = "  - "
        for part in shown(_plain(line), console=console).wrap(console, max(20, console.width - len(lead))):
            part.rstrip()
            console.print(Text(lead) + part, highlight=False, soft_wrap=True)
            lead = "    "


def _plain(text: str) -> str:
    return text.replace(" · ", ", ")
