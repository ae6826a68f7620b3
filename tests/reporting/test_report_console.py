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
from tests.simulated_reports import edited, findings_in, relaid

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


def test_every_line_fits_80_columns_but_for_what_is_copied(any_report: Report) -> None:
    lines = printed(any_report, tracking_command="mlflow ui " + "x" * 200).splitlines()
    long = [line.strip() for line in lines if len(line) > 80]
    assert all(line.startswith("mlflow ui") or line == str(FOLDER) for line in long)


def test_a_path_and_a_command_longer_than_the_console_are_not_broken(cliff: Report) -> None:
    command = "mlflow ui --backend-store-uri sqlite:////" + "deep/" * 30 + "mlflow.db"
    lines = printed(cliff, tracking_command=command).splitlines()
    assert f"  {command}" in lines
    assert f"  {FOLDER}" in lines


def test_without_tracking_there_is_no_word_of_mlflow(cliff: Report) -> None:
    assert "mlflow" not in printed(cliff).lower()


@pytest.mark.parametrize("width", [40, 50, 60, 70, 80, 120])
def test_no_number_of_the_table_is_cut_at_any_width(cliff: Report, width: int) -> None:
    lengths = (131_072, 262_144, 524_288, 1_048_576)
    text = printed(relaid(cliff, lengths=lengths, n=1000), width=width)
    table = text[text.index("SCORE BY LENGTH") : text.index("OVERALL")]
    for length in lengths:
        row = next(line for line in table.splitlines() if line.split()[:1] == [f"{length:,}"])
        assert len(row) <= width
        assert "1,000" in row.split()
    assert "…" not in table


def test_a_table_for_which_there_is_no_room_ends_without_its_spare_columns(cliff: Report) -> None:
    rows = {width: [line.split() for line in printed(cliff, width=width).splitlines()] for width in (34, 100)}
    assert [row for row in rows[34] if row[:1] == ["8,192"]] == [["8,192", "20", "0", "0.45", "0.25"]]
    assert ["8,192", "8,180", "20", "0", "0.45"] in [row[:5] for row in rows[100]]


def test_a_long_failure_tag_is_shortened_before_its_count(cliff: Report) -> None:
    bins = tuple(replace(b, failures={"a_failure_with_a_very_long_name": 1234}) for b in cliff.analysis.bins)
    rows = [line for line in printed(edited(cliff, bins=bins)).splitlines() if "a_f" in line]
    assert len(rows) == len(bins)
    assert all(".. x1,234" in row for row in rows)


def test_markup_in_a_model_name_is_printed_and_not_interpreted(cliff: Report) -> None:
    name = "[bold red]evil[/bold red] [link=http://x]y[/] [/]"
    assert name in printed(edited(cliff, model=name))


def test_markup_in_a_tag_and_in_a_note_is_printed_and_not_interpreted(cliff: Report) -> None:
    bins = tuple(replace(b, failures={"[red]t": 3}) for b in cliff.analysis.bins)
    text = printed(edited(cliff, bins=bins, notes=("[/nothing] is closed",)))
    assert "[red]t x3" in text
    assert "[/nothing] is closed" in text


def test_control_characters_in_a_name_never_reach_the_terminal(cliff: Report) -> None:
    text = printed(edited(cliff, model="a\x1b[2Jb\rc\x07"))
    assert "\x1b" not in text
    assert "\r" not in text
    assert "\\x1b[2Jb" in text


def test_an_ascii_console_gets_every_line(cliff: Report) -> None:
    text = printed(edited(cliff, model="模型", notes=("0.72–0.91 “so”",)), encoding="ascii")
    assert "\\u6a21" in text
    assert '0.72-0.91 "so"' in text


def test_a_colour_terminal_gets_the_same_words(any_report: Report) -> None:
    plain = re.sub(r"\x1b\[[\d;]*m", "", printed(any_report, colour=True))
    assert plain == printed(any_report)


def test_nothing_that_a_judge_or_a_reason_brings_reaches_the_terminal_raw(full: Report) -> None:
    hostile = "[red]x[/] \x1b[2J"
    report = edited(
        full,
        judgement=replace(findings_in(full).judgement, judge=hostile),
        half_life=replace(findings_in(full).half_life, tokens=None, ci_low=None, reason=as_it_is(hostile)),
        guide=replace(findings_in(full).guide, rows=(replace(findings_in(full).guide.rows[0], level=hostile),)),
    )
    text = printed(report)
    assert "\x1b" not in text
    assert text.count("[red]x[/] \\x1b[2J") == 3
