"""The risk report on the console: readable at 80 columns, without colour and in plain ASCII."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from rich.box import SIMPLE_HEAD
from rich.cells import cell_len, set_cell_size
from rich.console import Console
from rich.table import Table as PrintedTable
from rich.text import Text as Printed

from contextcliff.findings.finding import (
    PAGE_NAME,
    Block,
    Code,
    Column,
    Heading,
    Lines,
    Pairs,
    Table,
    Text,
    findings_of,
)
from contextcliff.records.note import ENGLISH, Catalogue, Note
from contextcliff.records.report import Report
from contextcliff.reporting.text import broken, has_full_width, named, shown, text_of

_STYLES = {"good": "green", "doubtful": "yellow", "bad": "red"}


def render_console(
    report: Report,
    *,
    console: Console,
    folder: Path,
    tracking_command: str | None,
    html: bool = True,
    language: Catalogue = ENGLISH,
) -> None:
    """Print the answer, one table by length, warnings, and where the rest is: an ordinary run's fit 24 lines."""
    page = _Page(console=console, language=language)
    findings = findings_of(report)
    for finding in findings:
        if blocks := finding.short(report):
            page.blocks(blocks)
            console.print()
    warnings = tuple(line for finding in findings for line in finding.look(report) if line.mood == "doubtful")
    if warnings:
        page.blocks((Heading(text="Warnings"), Lines(lines=warnings)))
        console.print()
    page.copied("Report", str(folder / (PAGE_NAME if html else "report.md")))
    if tracking_command is not None:
        page.copied("Compare", tracking_command)


def render_summary(report: Report, *, console: Console, folder: Path, language: Catalogue = ENGLISH) -> None:
    """Print the cap, its reason, and where the whole report lies."""
    render_cap(report, console=console, language=language)
    page = _Page(console=console, language=language)
    page.blocks((Pairs(rows=(("Reason", report.analysis.safe_cap.reason),)),))
    page.copied("Report", str(folder))


def render_cap(report: Report, *, console: Console, language: Catalogue = ENGLISH) -> None:
    """Print the line of the safe cap alone."""
    answer = findings_of(report)[0].short(report)
    _Page(console=console, language=language).blocks([block for block in answer if isinstance(block, Text)])


@dataclass(frozen=True, kw_only=True, slots=True)
class _Page:
    console: Console
    language: Catalogue

    def copied(self, label: str, text: str) -> None:
        """A path or command: it may run over the edge, but no line break may enter it."""
        _line(self.console, f"{named(label, self.language)}: {text}", whole=True)

    def blocks(self, blocks: Sequence[Block]) -> None:
        for position, block in enumerate(blocks):
            if position and (isinstance(block, Heading) or (isinstance(block, Text) and block.strong)):
                self.console.print()
            self._block(block)

    def _block(self, block: Block) -> None:
        console, language = self.console, self.language
        match block:
            case Text(text=text, label=label, strong=strong, mood=mood):
                style = f"{'bold ' if strong else ''}{_STYLES.get(mood, '')}".strip()
                said = text_of(text, language)
                # The answer is read by programs too: no line break may enter it.
                _line(
                    console, f"{named(label, language).upper()}: {said}" if label else said, style=style, whole=strong
                )
            case Heading(text=text):
                _line(console, named(text, language).upper(), style="bold")
            case Pairs(rows=rows):
                print_rows(console, ((f"{named(name, language)}:", text_of(value, language)) for name, value in rows))
            case Lines(lines=lines):
                labels = (f"{named(line.label, language)}: " if line.label else "" for line in lines)
                texts = (text_of(line.text, language) for line in lines)
                print_rows(console, (("-", f"{label}{text}") for label, text in zip(labels, texts, strict=True)))
            case Table(columns=columns, on_console=rows):
                count = len(columns[0].cells)
                kept = range(count) if rows is None else rows
                titled = (replace(each, title=named(each.title, language)) for each in columns)
                shown_columns = [replace(each, cells=tuple(each.cells[row] for row in kept)) for each in titled]
                console.print(fitted(shown_columns, console=console), highlight=False)
                if left_out := count - len(kept):
                    more = Note("{n:further lengths} {n:is/are} in the report", n=left_out)
                    _line(console, text_of(more, language))
            case Code(text=text):
                _line(console, f"  {text}", whole=True)


def _line(console: Console, text: str, *, style: str = "", whole: bool = False) -> None:
    console.print(shown(text, console=console), style=style or None, highlight=False, soft_wrap=whole)


def print_rows(console: Console, rows: Iterable[tuple[str, str]]) -> None:
    """Print a name and a value a row; a long value wraps under itself."""
    rows = list(rows)
    column = 3 + max((cell_len(name) for name, _ in rows), default=0)
    for name, value in rows:
        lead = f"  {name}"
        for line in _wrapped(shown(value, console=console), console=console, width=max(10, console.width - column)):
            console.print(Printed(set_cell_size(lead, column)) + line, highlight=False, soft_wrap=True)
            lead = ""


def _wrapped(text: Printed, *, console: Console, width: int) -> Iterator[Printed]:
    if has_full_width(text.plain):
        yield from map(Printed, broken(text.plain, width=width))
        return
    for line in text.wrap(console, width):
        line.rstrip()
        yield line


def fitted(columns: Sequence[Column], *, console: Console) -> PrintedTable:
    """The table of those columns for which there is room: what does not fit is left out whole."""
    kept = list(columns)
    while sum(map(_width, kept)) + len(kept) - 1 > console.width:
        spare = max(kept, key=lambda column: column.spare)
        if not spare.spare:
            break
        kept.remove(spare)
    return _table(kept, console=console)


def folding(
    columns: Sequence[Column], *, console: Console, rule: bool = True, red: Collection[int] = ()
) -> PrintedTable:
    """All columns: text that is too wide goes on in the next line, numbers are never cut. A `rule` stands under the
    titles."""
    return _table(columns, console=console, folds=True, rule=rule, red=red)


def _table(
    columns: Sequence[Column], *, console: Console, folds: bool = False, rule: bool = False, red: Collection[int] = ()
) -> PrintedTable:
    table = PrintedTable(
        box=SIMPLE_HEAD if rule else None, padding=(0, 1, 0, 0), pad_edge=False, show_edge=False, header_style="bold"
    )
    for column in columns:
        table.add_column(
            Printed(column.title), justify="left" if column.words else "right", vertical="bottom", overflow="fold",
            no_wrap=not (folds and column.words),
            # A width of its own keeps rich from shrinking every column a little and all numbers with them.
            width=None if folds else _width(column),
        )  # fmt: skip
    for place, cells in enumerate(zip(*(column.cells for column in columns), strict=True)):
        table.add_row(*(shown(cell, console=console) for cell in cells), style="red" if place in red else None)
    return table


def _width(column: Column) -> int:
    return max(cell_len(text) for text in (*column.title.split("\n"), *column.cells))
