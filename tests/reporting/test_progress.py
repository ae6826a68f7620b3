"""Progress on a terminal, in a file or a pipe: what stays where there is little room, and how a search is shown."""

from __future__ import annotations

import io
from collections.abc import Callable

import pytest
from rich.console import Console

from contextcliff.records.search_record import Decision, LengthStanding
from contextcliff.reporting.progress import PlainProgress, Progress, drawn, phase, progress_of, standing_line

LONG = "niah_multi_static · a/model-with-a-name-that-is-as-long-as-they-come-8b-instruct-q4_k_m · kv q8_0"


def last_frame(width: int, advance: Callable[[Progress], None], **totals: int) -> list[str]:
    """The lines that a terminal of this width shows in the end; of a search without totals."""
    file = io.StringIO()
    console = Console(file=file, width=width, force_terminal=True, color_system=None, legacy_windows=False)
    with drawn(LONG, console, **totals) as progress:
        advance(progress)
    lines = [line.strip() for line in file.getvalue().rpartition("\x1b[2K")[2].splitlines()]
    assert max(map(len, lines)) <= width
    return lines


@pytest.mark.parametrize("width", [30, 40, 50, 64, 80, 120])
def test_the_time_left_is_there_at_any_width(width: int) -> None:
    def half(progress: Progress) -> None:
        progress.advance(1_000)

    def begun(progress: Progress) -> None:
        progress.advance(1_000)
        progress.expect(1_000_000_000)

    assert any("left " in line for line in last_frame(width, half, total_tokens=2_000_000, total_samples=2_000))
    searched = " ".join(last_frame(width, begun)) if width >= 40 else "about left"
    assert "about " in searched
    assert " left" in searched
    assert width < 40 or ("1,000 tokens" in searched) == (width >= 64)


@pytest.mark.parametrize("totals", [{"total_tokens": 2, "total_samples": 2}, {}])
def test_the_last_answer_stands_in_one_line_and_can_neither_move_the_cursor_nor_set_colours(
    totals: dict[str, int],
) -> None:
    def answered(progress: Progress) -> None:
        progress.advance(1, answer="an earlier one")
        progress.advance(1, answer="It was\n\x1b[2J[red]late[/] " + "and later " * 100)

    (last,) = (line for line in last_frame(80, answered, **totals) if "last answer: " in line)
    assert last.startswith(r"last answer: It was \x1b[2J[red]late[/] and later")


def test_a_phase_is_one_line_where_there_is_no_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    with phase("drawing the figures", shown=True):
        assert capsys.readouterr().err == "drawing the figures\n"
    with phase("uploading the run", shown=False):
        pass
    assert capsys.readouterr().err == ""


def test_a_line_comes_every_thirty_seconds_with_the_time_that_is_left_of_a_search_by_what_is_expected() -> None:
    lines: list[str] = []
    now_s = [100.0]
    told = PlainProgress(lines.append, total_tokens=20_000, total_samples=20, clock=lambda: now_s[0])
    search = PlainProgress(lines.append, clock=lambda: now_s[0])
    search.advance(1_000)
    search.expect(9_000)
    for _ in range(3):
        now_s[0] += 10
        told.advance(1_000)
    search.advance(1_000)
    search.expect(0)
    now_s[0] += 30
    told.advance(1_000)
    search.advance(1_000)
    assert lines == [
        "3,000/20,000 tokens, 3/20 samples, 30 s, 2 min 50 s left\n",
        "2,000 tokens, 2 samples, 30 s, about 2 min 00 s left\n",
        "4,000/20,000 tokens, 4/20 samples, 1 min 00 s, 4 min 00 s left\n",
        "3,000 tokens, 3 samples, 1 min 00 s\n",
    ]


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


def test_nothing_of_a_search_is_cut_on_a_terminal_of_eighty_columns() -> None:
    def go_on(progress: Progress) -> None:
        progress.lengths(WALK)
        for _ in range(1234):
            progress.advance(98_765)

    whole = " ".join(last_frame(80, go_on))
    for said in (standing_line(WALK), "121,876,010 tokens", "1,234 samples"):
        assert said in whole
    assert LONG.replace(" ", "") in whole.replace(" ", "")


def test_a_pipe_gets_a_line_for_each_decided_length_and_no_control_characters(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with progress_of(LONG, shown=True) as progress:
        for shown in range(1, len(WALK) + 1):
            for _ in range(50):
                progress.advance(1000)
                progress.lengths(WALK[:shown])
    told = capsys.readouterr().err
    assert told.splitlines() == [LONG, *(standing_line([each]) for each in WALK if each.decision != "open")]
    assert "\x1b" not in told
    assert "\r" not in told
