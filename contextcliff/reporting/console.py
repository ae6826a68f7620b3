"""The risk report on the console: readable at 80 columns, without colour and in plain ASCII."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from rich.cells import cell_len, set_cell_size
from rich.console import Console
from rich.text import Text

from contextcliff.records.analysis import Bin
from contextcliff.records.report import Report
from contextcliff.reporting import findings, found_in, phrases
from contextcliff.reporting.console_table import Column, fitted
from contextcliff.reporting.shown import shown
from contextcliff.writing.prose_findings import Writing
from contextcliff.writing.sections import writing_text

_ZONE_STYLES = {"stable": "green", "transition": "yellow", "degraded": "red"}
_LEVEL_STYLES = {"safe": "green", "caution": "yellow", "danger": "red"}
_INDENT = 2


def render_console(report: Report, *, console: Console, folder: Path, tracking_command: str | None) -> None:
    """Print the risk report. `folder` is where the files lie; `tracking_command` opens the tracking UI."""
    title = "FAILURE RISK REPORT"
    _line(console, title, style="bold")
    _line(console, "-" * len(title))
    if report.run.partial:
        _line(console, f"PARTIAL: {phrases.partial(report)}.", style="yellow")
    _pairs(console, phrases.identity(report))
    console.print()
    found = report.analysis.safe_cap.tokens is not None
    _line(console, f"SAFE CAP: {phrases.headline(report)}", style="bold green" if found else "bold red")
    _pairs(console, phrases.cap_details(report))
    console.print()
    if report.analysis.zones:
        _line(console, "ZONES", style="bold")
        for zone in report.analysis.zones:
            _line(console, "  " + phrases.zone_line(zone), style=_ZONE_STYLES.get(zone.name, ""))
        console.print()
    if found_in.guide(report).rows:
        _line(console, "OPERATING GUIDE (by mean score; lengths as asked)", style="bold")
        for level, text in findings.guide_lines(found_in.guide(report)):
            _line(console, f"  {text}", style=_LEVEL_STYLES.get(level, ""))
        console.print()
    beside = findings.summary(report)
    if beside:
        _line(console, "BESIDE THE CAP", style="bold")
        _pairs(console, beside)
        console.print()
    if report.analysis.bins:
        _line(console, "SCORE BY LENGTH (tokens)", style="bold")
        columns = _score_columns(report.analysis.bins, bound=phrases.bound_name(report.analysis.safe_cap))
        console.print(fitted(columns, console=console), highlight=False)
        console.print()
    writing = report.analysis.finding(Writing)
    if writing is not None:
        _writing(console, writing)
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
    if writing is not None:
        _line(console, "  of the writing: writing.html (for a browser), writing.csv, generations.txt")
    if tracking_command is not None:
        _line(console, "COMPARE RUNS IN MLFLOW", style="bold")
        _line(console, f"  {tracking_command}", whole=True)


def _writing(console: Console, writing: Writing) -> None:
    _line(console, "WRITING BY LENGTH (tokens)", style="bold")
    console.print(fitted(writing_text.tier_columns(writing), console=console), highlight=False)
    _pairs(console, writing_text.summary(writing))
    console.print()
    trends = writing_text.trend_lines(writing)
    if trends:
        _line(console, "FROM THE SHORTEST TO THE LONGEST", style="bold")
        _pairs(console, trends)
        console.print()
    for heading, lines in writing_text.lists(writing, in_short=True).items():
        if lines:
            _line(console, heading.upper(), style="bold")
            _rows(console, [("-", line) for line in lines])
            console.print()


def _line(console: Console, text: str, *, style: str = "", whole: bool = False) -> None:
    console.print(shown(text, console=console), style=style or None, highlight=False, soft_wrap=whole)


def _pairs(console: Console, pairs: Sequence[tuple[str, str]]) -> None:
    _rows(console, [(f"{name}:", value) for name, value in pairs])


def _rows(console: Console, rows: Sequence[tuple[str, str]]) -> None:
    """Print a name and a value a row; a long value wraps under itself."""
    column = _INDENT + max(cell_len(name) for name, _ in rows) + 1
    for name, value in rows:
        lead = " " * _INDENT + name
        for line in shown(value, console=console).wrap(console, max(10, console.width - column)):
            line.rstrip()
            console.print(Text(set_cell_size(lead, column)) + line, highlight=False, soft_wrap=True)
            lead = ""


def _score_columns(bins: Sequence[Bin], *, bound: str) -> list[Column]:
    def column(title: str, cells: Sequence[str], *, spare: int = 0, left: bool = False) -> Column:
        return Column(title=title, cells=tuple(cells), spare=spare, left=left)

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
