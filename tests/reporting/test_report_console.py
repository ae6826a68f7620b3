"""The risk report as a person reads it on a console."""

from __future__ import annotations

import io
import re
from dataclasses import replace
from pathlib import Path

import pytest
from rich.console import Console

from contextcliff.records.fact import Said
from contextcliff.records.report import Report
from contextcliff.reporting.console import render_console
from contextcliff.reporting.words.english import say
from tests.simulated_reports import PARTIAL, edited, findings_in, relaid, simulated

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
    assert re.search(r"Shape: +cliff - by the curve that fits best \(no test\), the score\s+falls", text)
    assert re.search(r"Evidence: +settled", text)
    assert say(cliff.analysis.safe_cap.reason) in " ".join(text.split())


def test_a_report_without_a_cap_says_so(without_cap: Report) -> None:
    text = printed(without_cap)
    assert "SAFE CAP: none - no tested length was shown to be safe" in text
    assert re.search(r"Evidence: +unsettled", text)


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
    assert "SAFE CAP" in printed(edited(cliff, bins=(), cells=(), zones=(), mean=None))


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
    assert "wrong_needle x7" in row


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
    lines = printed(cliff, width=34).splitlines()
    table = lines[next(i for i, line in enumerate(lines) if line.startswith("SENSITIVITY")) :]
    assert "setting" in next(line for line in table if "safe cap" in line and "value" in line)
    assert any(line.split() == ["threshold", "0.8*", "4,096"] for line in table)


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


def test_a_bound_just_under_the_threshold_does_not_read_as_if_it_met_it(cliff: Report) -> None:
    bins = tuple(replace(b, tested_low=0.7999) for b in cliff.analysis.bins)
    text = printed(edited(cliff, bins=bins))
    assert "0.79" in text


def test_a_relative_threshold_is_said_as_one_and_its_bound_is_not_called_tested(cliff: Report) -> None:
    text = printed(edited(cliff, safe_cap=replace(cliff.analysis.safe_cap, relative_to_baseline=True)))
    assert "80% of the shortest length's score" in text
    assert "tested" not in text[text.index("SCORE BY LENGTH") : text.index("OVERALL")]


def test_a_colour_terminal_gets_the_same_words(any_report: Report) -> None:
    plain = re.sub(r"\x1b\[[\d;]*m", "", printed(any_report, colour=True))
    assert plain == printed(any_report)


def test_usd_is_left_out_where_there_is_no_price(cliff: Report) -> None:
    assert "USD" in printed(cliff)
    assert "USD" not in printed(edited(cliff, usage=replace(cliff.usage, usd=None)))


def test_the_guide_has_one_line_a_range_and_says_how_sure_it_is(full: Report) -> None:
    rows = [replace(row, sure=row.asked_tokens < 2048) for row in findings_in(full).guide.rows]
    text = printed(edited(full, guide=replace(findings_in(full).guide, rows=tuple(rows))))
    guide = text[text.index("OPERATING GUIDE") : text.index("SCORE BY LENGTH")].strip().splitlines()[1:]
    assert guide == [
        "  [OK] safe       512 - 4,096 tokens, sure at 2 of 4 lengths",
        "  [XX] danger     8,192 tokens, not sure",
    ]


def test_a_range_whose_every_length_is_sure_says_nothing_of_it(full: Report) -> None:
    rows = tuple(replace(row, sure=True) for row in findings_in(full).guide.rows)
    guide = replace(findings_in(full).guide, rows=rows)
    assert "  [OK] safe       512 - 4,096 tokens\n" in printed(edited(full, guide=guide))


def test_half_life_position_controls_and_judge_have_a_line_each_under_the_cap(full: Report) -> None:
    text = printed(full)
    found = findings_in(full)
    half_life = found.half_life
    beside = text[text.index("BESIDE THE CAP") : text.index("ZONES")].splitlines()
    lines = " ".join(" ".join(beside).split())
    assert f"{half_life.tokens:,} tokens ({half_life.ci_low:,}-{half_life.ci_high:,}), beyond the longest" in lines
    assert "middle collapse (p < 0.001)" in lines
    assert "no cliff can show at 512 tokens" in lines
    assert "qwen3-4b disagrees in 6.1% (2.8%-12.7%) of 98; mean rating 8.4" in lines
    assert [line.split(":")[0].strip() for line in beside if re.match(r"  \S", line)] == [
        *("Fitted length", "Effective length", "Half-life", "Position", "Every depth", "Controls", "Judge"),
    ]


def test_without_a_half_life_the_reason_is_given(full: Report) -> None:
    found = replace(findings_in(full).half_life, tokens=None, ci_low=None, reason=Said(text="the score does not fall"))
    assert re.search(r"Half-life: +none: the score does not fall\n", printed(edited(full, half_life=found)))


def test_controls_are_no_topic_where_every_length_is_informative(full: Report) -> None:
    fine = tuple(replace(level, informative=True) for level in findings_in(full).controls)
    assert "can show" not in printed(edited(full, controls=fine, notes=()))


def test_of_many_uninformative_lengths_only_some_are_named(full: Report) -> None:
    blind = [replace(findings_in(full).controls[0], asked_tokens=1000 * i, informative=i == 9) for i in range(1, 10)]
    assert "at 1,000, 2,000, 3,000, 4,000 and 4 more tokens" in " ".join(
        printed(edited(full, controls=tuple(blind))).split()
    )
    assert "no length can show a cliff" in printed(edited(full, controls=tuple(blind[:8])))


def test_a_judge_that_rated_nothing_is_told(full: Report) -> None:
    silent = replace(findings_in(full).judgement, n_judged=0, n_unjudged=100, share=None)
    assert "qwen3-4b rated none of 100 answers" in printed(edited(full, judgement=silent))


def test_without_findings_there_is_no_line_of_them(nothing_scored: Report) -> None:
    text = printed(edited(nothing_scored, bins=()))
    assert "OPERATING GUIDE" not in text
    assert "BESIDE THE CAP" not in text


def test_nothing_that_a_judge_or_a_reason_brings_reaches_the_terminal_raw(full: Report) -> None:
    hostile = "[red]x[/] \x1b[2J"
    report = edited(
        full,
        judgement=replace(findings_in(full).judgement, judge=hostile),
        half_life=replace(findings_in(full).half_life, tokens=None, ci_low=None, reason=Said(text=hostile)),
        guide=replace(findings_in(full).guide, rows=(replace(findings_in(full).guide.rows[0], level=hostile),)),
    )
    text = printed(report)
    assert "\x1b" not in text
    assert text.count("[red]x[/] \\x1b[2J") == 3


def test_where_no_length_is_shown_below_nothing_is_said_to_cross(flat: Report) -> None:
    assert "cross" not in printed(flat).lower()
    text = " ".join(printed(simulated(PARTIAL)).split())
    assert "crosses the threshold" not in text
    assert "no tested length is shown to be below the threshold; a fall can only lie above 2,048 tokens" in text


def test_the_guide_agrees_with_the_cap(cliff: Report) -> None:
    assert "[OK] safe       512 - 4,096 tokens\n" in printed(cliff)


def test_zones_have_range_mean_and_fall(cliff: Report) -> None:
    assert "[XX] degraded   8,152 - 8,192 tokens, mean 0.45 (55% lower)" in printed(cliff)
