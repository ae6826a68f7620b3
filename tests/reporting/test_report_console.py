"""The risk report as a person reads it on a console."""

from __future__ import annotations

import io
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from rich.console import Console

from contextcliff.records import Report
from contextcliff.reporting.console import render_console

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


def table_of(text: str) -> list[str]:
    """The lines of the table's body."""
    return [line for line in text.splitlines() if re.match(r" +[\d,]+ .*\d$|.* -$", line)]


def test_the_cap_comes_with_its_confidence_its_share_of_the_window_and_the_reason(cliff: Report) -> None:
    text = printed(cliff)
    assert "SAFE CAP: 4,096 tokens (95% confidence, 50% of the window)" in text
    assert "Verdict:  cliff" in text or re.search(r"Verdict: +cliff", text)
    assert cliff.safe_cap.reason in text


def test_a_report_without_a_cap_says_so(without_cap: Report) -> None:
    text = printed(without_cap)
    assert "SAFE CAP: none - no tested length was shown to be safe" in text
    assert re.search(r"Verdict: +insufficient evidence", text)


def test_a_censored_cap_says_that_no_cliff_was_found_and_up_to_where(flat: Report) -> None:
    assert "no cliff up to the longest test (8,192 tokens)" in printed(flat)


def test_a_partial_report_says_so_and_counts_what_is_unscored(partial: Report) -> None:
    text = printed(partial)
    assert "PARTIAL" in text
    assert re.search(r"Unscored: +15 of 100", text)
    assert "timeout x5, rate_limit x2" in text


def test_a_run_without_any_score_prints_dashes_and_not_zeros(nothing_scored: Report) -> None:
    text = printed(nothing_scored)
    assert "OVERALL: no sample was scored" in text
    assert "0.00" not in text
    assert "None" not in text
    assert "nan" not in text


def test_a_run_without_bins_is_still_a_report(cliff: Report) -> None:
    assert "SAFE CAP" in printed(replace(cliff, bins=(), cells=(), zones=(), mean=None))


def test_zones_are_marked_without_colour(cliff: Report) -> None:
    text = printed(cliff)
    for mark in ("[OK] stable", "[!!] transition", "[XX] degraded"):
        assert mark in text


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


def test_a_row_of_the_table_holds_every_figure_of_its_length(cliff: Report) -> None:
    row = next(line for line in printed(cliff, width=100).splitlines() if line.lstrip().startswith("8,192"))
    assert row.split()[:5] == ["8,192", "8,180", "20", "0", "0.45"]
    assert row.split()[-2:] == ["7.4s", "7.9s"]
    assert "wrong_needle x8" in row


@pytest.mark.parametrize("width", [40, 50, 60, 70, 80, 120])
def test_no_number_of_the_table_is_cut_at_any_width(build: Callable[..., Report], width: int) -> None:
    lengths = (131_072, 262_144, 524_288, 1_048_576)
    report = build(lengths=lengths, successes=(1000, 990, 950, 300), n=1000, cap=524_288, window=1_048_576)
    text = printed(report, width=width)
    table = text[text.index("SCORE BY LENGTH") : text.index("OVERALL")]
    for length in lengths:
        row = next(line for line in table.splitlines() if line.split()[:1] == [f"{length:,}"])
        assert len(row) <= width
        assert "1,000" in row.split()
    assert "…" not in table


def test_a_long_failure_tag_is_shortened_before_its_count(cliff: Report) -> None:
    bins = tuple(replace(b, failures={"a_failure_with_a_very_long_name": 1234}) for b in cliff.bins)
    rows = [line for line in printed(replace(cliff, bins=bins)).splitlines() if "a_f" in line]
    assert len(rows) == len(bins)
    assert all(".. x1,234" in row for row in rows)


def test_markup_in_a_model_name_is_printed_and_not_interpreted(cliff: Report) -> None:
    name = "[bold red]evil[/bold red] [link=http://x]y[/] [/]"
    assert name in printed(replace(cliff, model=name))


def test_markup_in_a_tag_and_in_a_note_is_printed_and_not_interpreted(cliff: Report) -> None:
    bins = tuple(replace(b, failures={"[red]t": 3}) for b in cliff.bins)
    text = printed(replace(cliff, bins=bins, notes=("[/nothing] is closed",)))
    assert "[red]t x3" in text
    assert "[/nothing] is closed" in text


def test_control_characters_in_a_name_never_reach_the_terminal(cliff: Report) -> None:
    text = printed(replace(cliff, model="a\x1b[2Jb\rc\x07"))
    assert "\x1b" not in text
    assert "\r" not in text
    assert "\\x1b[2Jb" in text


def test_an_ascii_console_gets_every_line(cliff: Report) -> None:
    text = printed(replace(cliff, model="模型", notes=("0.72–0.91 “so”",)), encoding="ascii")
    assert "\\u6a21" in text
    assert '0.72-0.91 "so"' in text


def test_a_bound_just_under_the_threshold_does_not_read_as_if_it_met_it(cliff: Report) -> None:
    bins = tuple(replace(b, tested_low=0.7999) for b in cliff.bins)
    text = printed(replace(cliff, bins=bins))
    assert "0.79" in text


def test_a_relative_threshold_is_said_as_one_and_its_bound_is_not_called_tested(cliff: Report) -> None:
    text = printed(replace(cliff, safe_cap=replace(cliff.safe_cap, relative_to_baseline=True)))
    assert "80% of the shortest length's score" in text
    assert "tested" not in text[text.index("SCORE BY LENGTH") : text.index("OVERALL")]


def test_a_colour_terminal_gets_the_same_words(any_report: Report) -> None:
    plain = re.sub(r"\x1b\[[\d;]*m", "", printed(any_report, colour=True))
    assert plain == printed(any_report)


def test_usd_is_left_out_where_there_is_no_price(cliff: Report) -> None:
    assert "USD" in printed(cliff)
    assert "USD" not in printed(replace(cliff, usage=replace(cliff.usage, usd=None)))
