"""The risk report on the console: readable at 80 columns, without colour and in plain ASCII."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from rich.cells import cell_len, set_cell_size
from rich.console import Console
from rich.table import Table
from rich.text import Text

from contextcliff.records import Bin, Report
from contextcliff.reporting import findings, phrases

_ZONE_STYLES = {"stable": "green", "transition": "yellow", "degraded": "red"}
_LEVEL_STYLES = {"safe": "green", "caution": "yellow", "danger": "red"}
_INDENT = 2
_NARROWEST_FAILURE = 8
_PLAIN_SIGNS = str.maketrans({"–": "-", "—": "-", "−": "-", "…": "...", "“": '"', "”": '"', "‘": "'", "’": "'"})


@dataclass(frozen=True, kw_only=True, slots=True)
class _Column:
    """A column of the table. The one with the highest `spare` goes first where space is short."""

    title: str
    cells: tuple[str, ...]
    spare: int = 0
    left: bool = False

    @property
    def width(self) -> int:
        return max(cell_len(text) for text in (*self.title.split("\n"), *self.cells))


def render_console(report: Report, *, console: Console, folder: Path, tracking_command: str | None) -> None:
    """Print the risk report. `folder` is where the files lie; `tracking_command` opens the tracking UI."""
    title = "FAILURE RISK REPORT"
    _line(console, title, style="bold")
    _line(console, "-" * len(title))
    if report.partial:
        _line(console, "PARTIAL: the run stopped before its end; lengths may be missing.", style="yellow")
    _pairs(console, phrases.identity(report))
    console.print()
    found = report.safe_cap.tokens is not None
    _line(console, f"SAFE CAP: {phrases.headline(report)}", style="bold green" if found else "bold red")
    _pairs(console, phrases.cap_details(report))
    console.print()
    if report.zones:
        _line(console, "ZONES", style="bold")
        for zone in report.zones:
            _line(console, "  " + phrases.zone_line(zone), style=_ZONE_STYLES.get(zone.name, ""))
        console.print()
    if report.guide.rows:
        _line(console, "OPERATING GUIDE (by mean score; lengths as asked)", style="bold")
        for level, text in findings.guide_lines(report.guide):
            _line(console, f"  {text}", style=_LEVEL_STYLES.get(level, ""))
        console.print()
    beside = findings.summary(report)
    if beside:
        _line(console, "BESIDE THE CAP", style="bold")
        _pairs(console, beside)
        console.print()
    if report.bins:
        _line(console, "SCORE BY LENGTH (tokens)", style="bold")
        console.print(_score_table(report, console=console), highlight=False)
        console.print()
    _line(console, f"OVERALL: {phrases.overall(report)}", style="bold")
    console.print()
    _line(console, "WHAT IT TOOK", style="bold")
    _pairs(console, phrases.took(report))
    if report.notes:
        console.print()
        _line(console, "NOTES", style="bold")
        _rows(console, [("-", note) for note in report.notes])
    console.print()
    # Paths and commands are copied: they may run over the edge, but no line break may enter them.
    _line(console, "FILES (report.md, report.json, samples.jsonl, manifest.json, figures/)", style="bold")
    _line(console, f"  {folder}", whole=True)
    if tracking_command is not None:
        _line(console, "COMPARE RUNS IN MLFLOW", style="bold")
        _line(console, f"  {tracking_command}", whole=True)


def _shown(text: str, *, console: Console) -> Text:
    """Text that came from outside as this console can show it.

    A `Text` is never read for markup. Control characters could move the cursor or set colours, and
    characters that the console's encoding lacks would end the run in its last second: both are
    printed as escapes.
    """
    plain = "".join(char if char.isprintable() else _escape(char) for char in text)
    encoding = console.encoding
    try:
        plain.encode(encoding)
    except UnicodeEncodeError:
        plain = plain.translate(_PLAIN_SIGNS)
    return Text(plain.encode(encoding, errors="backslashreplace").decode(encoding))


def _escape(char: str) -> str:
    return " " if char.isspace() else char.encode("unicode_escape").decode("ascii")


def _line(console: Console, text: str, *, style: str = "", whole: bool = False) -> None:
    console.print(_shown(text, console=console), style=style or None, highlight=False, soft_wrap=whole)


def _pairs(console: Console, pairs: Sequence[tuple[str, str]]) -> None:
    _rows(console, [(f"{name}:", value) for name, value in pairs])


def _rows(console: Console, rows: Sequence[tuple[str, str]]) -> None:
    """Print a name and a value a row; a long value wraps under itself."""
    column = _INDENT + max(cell_len(name) for name, _ in rows) + 1
    for name, value in rows:
        lead = " " * _INDENT + name
        for line in _shown(value, console=console).wrap(console, max(10, console.width - column)):
            line.rstrip()
            console.print(Text(set_cell_size(lead, column)) + line, highlight=False, soft_wrap=True)
            lead = ""


def _score_table(report: Report, *, console: Console) -> Table:
    """The table at the console's width: what doesn't fit is left out whole, never cut or wrapped."""
    columns = _columns(report.bins, bound=phrases.bound_name(report.safe_cap))
    room = console.width
    while _total(columns) > room:
        failure = next((column for column in columns if column.left), None)
        if failure is not None and _total(columns) - failure.width + _NARROWEST_FAILURE <= room:
            columns = _shorten(columns, by=_total(columns) - room)
            continue
        spare = max(columns, key=lambda column: column.spare)
        if not spare.spare:
            break
        columns.remove(spare)

    table = Table(box=None, padding=(0, 1, 0, 0), pad_edge=False, header_style="bold")
    for column in columns:
        table.add_column(
            Text(column.title),
            justify="left" if column.left else "right",
            vertical="bottom",
            no_wrap=True,
            # A width of its own keeps rich from shrinking every column a little and all numbers with them.
            width=column.width,
        )
    for cells in zip(*(column.cells for column in columns), strict=True):
        table.add_row(*(_shown(cell, console=console) for cell in cells))
    return table


def _total(columns: Sequence[_Column]) -> int:
    return sum(column.width for column in columns) + len(columns) - 1


def _shorten(columns: Sequence[_Column], *, by: int) -> list[_Column]:
    """Cut the failure tags, the only words in the table, `by` characters shorter."""
    return [_shortened(column, width=column.width - by) if column.left else column for column in columns]


def _shortened(column: _Column, *, width: int) -> _Column:
    """Tags cut in the middle, before their count, which is a number and stays whole."""
    cells = []
    for cell in column.cells:
        if cell_len(cell) <= width:
            cells.append(cell)
            continue
        tag, _, count = cell.rpartition(" ")
        cells.append(f"{set_cell_size(tag, max(1, width - len(count) - 3))}.. {count}")
    return _Column(title=column.title, cells=tuple(cells), spare=column.spare, left=True)


def _columns(bins: Sequence[Bin], *, bound: str) -> list[_Column]:
    def column(title: str, cells: Sequence[str], *, spare: int = 0, left: bool = False) -> _Column:
        return _Column(title=title, cells=tuple(cells), spare=spare, left=left)

    return [
        column("asked", [phrases.whole(b.asked_tokens) for b in bins]),
        column("measured", [phrases.whole(b.median_tokens) for b in bins], spare=2),
        column("n", [phrases.whole(b.n_samples) for b in bins]),
        column("un-\nscored", [phrases.whole(b.n_unscored) for b in bins], spare=1),
        column("score", [phrases.score(b.mean) for b in bins]),
        column("interval", [phrases.interval(b.ci_low, b.ci_high) for b in bins], spare=3),
        column(bound.replace(" ", "\n"), [phrases.bound(b.tested_low) for b in bins]),
        column("commonest\nfailure", [phrases.commonest_failure(b) for b in bins], spare=4, left=True),
        column("median\nTTFT", [phrases.milliseconds(b.ttft_ms_median) for b in bins], spare=6),
        column("median\nlatency", [phrases.milliseconds(b.latency_ms_median) for b in bins], spare=5),
    ]
