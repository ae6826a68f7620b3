"""How a search is shown while it goes on."""

from __future__ import annotations

import io

import pytest
from rich.console import Console

from contextcliff.records.search_record import Decision, LengthStanding
from contextcliff.reporting.progress import drawn, progress_of, standing_line

TITLE = "niah_multi_static · a/model-with-a-name-that-is-as-long-as-they-come-8b-instruct-q4_k_m · kv q8_0"


def stands(context_tokens: int, decision: Decision, score_sum: float, answered: int) -> LengthStanding:
    return LengthStanding(context_tokens=context_tokens, decision=decision, score_sum=score_sum, answered=answered)


WALK = (
    stands(512, "passed", 22, 22),
    stands(1024, "passed", 29, 30),
    stands(2048, "below", 2, 10),
    stands(1536, "unsettled", 131, 160),
    stands(1280, "passed", 40.5, 44),
    stands(1408, "open", 9, 10),
    stands(1472, "open", 0, 0),
)


def test_a_line_has_the_walk_and_what_was_refined_in_the_order_of_testing() -> None:
    assert standing_line(WALK) == (
        "512 ok 22/22 · 1,024 ok 29/30 · 2,048 below 2/10 · 1,536 unsettled 131/160 · 1,280 ok 40.5/44 · "
        "1,408 … 9/10 · 1,472 …"
    )
    assert standing_line([stands(512, "baseline", 9, 10)]) == "512 baseline 9/10"


def test_nothing_is_cut_on_a_terminal_of_eighty_columns() -> None:
    written = io.StringIO()
    console = Console(file=written, width=80, height=25, force_terminal=True, color_system=None, legacy_windows=False)
    with drawn(TITLE, console) as progress:
        progress.lengths(WALK)
        for _ in range(1234):
            progress.advance(98_765)
    last = written.getvalue().rpartition("\x1b[2K")[2]
    lines = [line.strip() for line in last.splitlines()]
    assert max(map(len, lines)) <= 80
    whole = " ".join(lines)
    assert standing_line(WALK) in whole
    assert "121,876,010 tokens" in whole
    assert "1,234 samples" in whole
    assert TITLE.replace(" ", "") in whole.replace(" ", "")


def test_a_pipe_gets_a_line_for_each_decided_length_and_no_control_characters(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with progress_of(TITLE, shown=True) as progress:
        for shown in range(1, len(WALK) + 1):
            for _ in range(50):
                progress.advance(1000)
                progress.lengths(WALK[:shown])
    told = capsys.readouterr().err
    assert told.splitlines() == [TITLE, *(standing_line([each]) for each in WALK if each.decision != "open")]
    assert "\x1b" not in told
    assert "\r" not in told


def test_a_search_says_about_how_long_it_will_take_at_any_width() -> None:
    for width in (40, 64, 120):
        written = io.StringIO()
        console = Console(file=written, width=width, force_terminal=True, color_system=None, legacy_windows=False)
        with drawn("niah", console) as progress:
            progress.advance(1_000)
            progress.expect(1_000_000_000)
        last = written.getvalue().rpartition("\x1b[2K")[2]
        assert "about " in last
        assert " left" in last
        assert max(len(line.strip()) for line in last.splitlines()) <= width
        assert ("1,000 tokens" in last) == (width >= 64)
