"""The risk report as a person reads it on a console."""

from __future__ import annotations

import io
import re
from dataclasses import replace
from pathlib import Path

import pytest
from rich.console import Console

from contextcliff.records.note import as_it_is
from contextcliff.records.report import Report
from contextcliff.reporting.console import render_console
from tests.simulated_reports import edited, relaid

FOLDER = Path("outputs") / "default" / "a-rather-long-run-identity-that-goes-on-and-on-and-on-and-on-and-on-and-on"


def printed(
    report: Report,
    *,
    width: int = 80,
    encoding: str = "utf-8",
    colour: bool = False,
    tracking_command: str | None = None,
) -> str:
    raw = io.BytesIO()
    stream = io.TextIOWrapper(raw, encoding=encoding, newline="\n")
    console = Console(file=stream, width=width, force_terminal=colour, color_system="truecolor" if colour else None)
    render_console(report, console=console, folder=FOLDER, tracking_command=tracking_command)
    stream.flush()
    return raw.getvalue().decode(encoding)


def test_a_path_and_a_command_longer_than_the_console_are_not_broken(cliff: Report) -> None:
    command = "mlflow ui --backend-store-uri sqlite:////" + "deep/" * 30 + "mlflow.db"
    lines = printed(cliff, tracking_command=command).splitlines()
    assert lines[-2:] == [f"Report: {FOLDER / 'report.html'}", f"Compare: {command}"]
    assert "mlflow" not in printed(cliff).lower()


@pytest.mark.parametrize("width", [40, 50, 60, 70, 80, 120])
def test_no_number_of_the_table_is_cut_at_any_width(cliff: Report, width: int) -> None:
    lengths = (131_072, 262_144, 524_288, 1_048_576)
    lines = printed(relaid(cliff, lengths=lengths, n=1000), width=width).splitlines()
    for length in lengths:
        row = next(line for line in lines if line.split()[:1] == [f"{length:,}"])
        assert len(row) <= width
        assert "1,000" in row.split()
        assert "…" not in row


def test_markup_is_printed_and_not_interpreted_and_no_control_character_reaches_the_terminal(full: Report) -> None:
    bins = tuple(replace(b, failures={"[red]t": 3}) for b in full.analysis.bins)
    cap = replace(full.analysis.safe_cap, reason=as_it_is("[red]x[/] \x1b[2J"))
    text = printed(edited(full, model="[link=http://x]y[/] [/] a\x1b[2Jb\rc\x07", bins=bins, safe_cap=cap))
    for shown in ("[link=http://x]y[/] [/] a\\x1b[2Jb", "[red]t x3", "[red]x[/] \\x1b[2J"):
        assert shown in text
    assert not {"\x1b", "\r", "\x07"} & set(text)


def test_an_ascii_console_gets_every_line(cliff: Report) -> None:
    text = printed(edited(cliff, model="模型"), encoding="ascii")
    assert "\\u6a21" in text
    assert "(95% CI 0.26-0.66)" in text


def test_a_colour_terminal_gets_the_same_words(full: Report) -> None:
    plain = re.sub(r"\x1b\[[\d;]*m", "", printed(full, colour=True))
    assert plain == printed(full)
