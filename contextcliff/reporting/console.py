"""The risk report on the console: readable at 80 columns, without colour and in plain ASCII."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from rich.cells import cell_len, set_cell_size
from rich.console import Console
from rich.text import Text as Printed

from contextcliff.records.report import Report
from contextcliff.reporting.blocks import Block, Code, Heading, Lines, Pairs, Table, Text
from contextcliff.reporting.console_table import fitted
from contextcliff.reporting.section_list import sections_of
from contextcliff.reporting.shown import shown

_TITLE = "FAILURE RISK REPORT"
_STYLES = {"good": "green", "doubtful": "yellow", "bad": "red"}
_INDENT = 2


def render_console(report: Report, *, console: Console, folder: Path, tracking_command: str | None) -> None:
    """Print the risk report. `folder` is where the files lie; `tracking_command` opens the tracking UI."""
    sections = sections_of(report)
    answer, *others = sections
    _line(console, _TITLE, style="bold")
    _line(console, "-" * len(_TITLE))
    _blocks(console, answer.short(report))
    console.print()
    # One line a finding, right under the answer; whatever has more to say has a place of its own below.
    beside = [row for section in sections for row in section.summary(report)]
    if beside:
        _line(console, "BESIDE THE CAP", style="bold")
        _pairs(console, beside)
        console.print()
    for section in others:
        blocks = section.short(report)
        if blocks:
            note = f" ({section.title_note})" if section.title_note else ""
            _line(console, f"{section.title.upper()}{note}", style="bold")
            _blocks(console, blocks)
            console.print()
    # Paths and commands are copied: they may run over the edge, but no line break may enter them.
    _line(console, "FILES (report.md, report.json, samples.jsonl, manifest.json, figures/)", style="bold")
    _line(console, f"  {folder}", whole=True)
    for section in sections:
        if names := section.names_of_files(report):
            _line(console, f"  {names}")
    if tracking_command is not None:
        _line(console, "COMPARE RUNS IN MLFLOW", style="bold")
        _line(console, f"  {tracking_command}", whole=True)


def _blocks(console: Console, blocks: Sequence[Block]) -> None:
    for position, block in enumerate(blocks):
        if position and (isinstance(block, Heading) or (isinstance(block, Text) and block.strong)):
            console.print()
        _block(console, block)


def _block(console: Console, block: Block) -> None:
    match block:
        case Text(text=text, strong=strong, mood=mood):
            _line(console, text, style=f"{'bold ' if strong else ''}{_STYLES.get(mood, '')}".strip())
        case Heading(text=text):
            _line(console, text.upper(), style="bold")
        case Pairs(rows=rows):
            _pairs(console, rows)
        case Lines(lines=lines, bullets=True):
            _rows(console, [("-", line.text) for line in lines])
        case Lines(lines=lines):
            for line in lines:
                _line(console, f"  {line.text}", style=_STYLES.get(line.mood, ""))
        case Table(columns=columns):
            console.print(fitted(columns, console=console), highlight=False)
        case Code(text=text):
            _line(console, f"  {text}", whole=True)


def _line(console: Console, text: str, *, style: str = "", whole: bool = False) -> None:
    console.print(shown(text, console=console), style=style or None, highlight=False, soft_wrap=whole)


def _pairs(console: Console, pairs: Sequence[tuple[str, str]]) -> None:
    _rows(console, [(f"{name}:", value) for name, value in pairs])


def _rows(console: Console, rows: Sequence[tuple[str, str]]) -> None:
    """Print a name and a value a row; a long value wraps under itself."""
    column = _INDENT + max((cell_len(name) for name, _ in rows), default=0) + 1
    for name, value in rows:
        lead = " " * _INDENT + name
        for line in shown(value, console=console).wrap(console, max(10, console.width - column)):
            line.rstrip()
            console.print(Printed(set_cell_size(lead, column)) + line, highlight=False, soft_wrap=True)
            lead = ""
