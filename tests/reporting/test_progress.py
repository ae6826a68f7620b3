"""Progress on a terminal, in a file or a pipe: what stays where there is little room, and how a search is shown."""

from __future__ import annotations

import io
from functools import partial
from typing import Any

import pytest
from rich.console import Console

from contextcliff.records.search_record import Decision, LengthStanding
from contextcliff.reporting.progress import PlainProgress, drawn, phase, progress_of, standing_line

TITLE = "job 2/12 · continuation · a-model-with-a-rather-long-name-Instruct-2512 · kv turboquant"


def terminal(width: int) -> tuple[Console, io.StringIO]:
    file = io.StringIO()
    return Console(file=file, width=width, force_terminal=True, color_system=None, legacy_windows=False), file


def last_frame(width: int) -> str:
    """The last frame of a bar that stands at one sample of two."""
    console, file = terminal(width)
    with drawn(TITLE, console, total_tokens=2_000_000, total_samples=2_000) as progress:
        progress.advance(1_000)
        progress.advance(1_000)
    return file.getvalue()


@pytest.mark.parametrize("width", [30, 40, 50, 80, 120])
def test_the_time_left_is_there_at_any_width_and_no_line_is_longer(width: int) -> None:
    text = last_frame(width)
    lines = [line for part in text.split("\r") for line in part.split("\n")]
    frame = [line.split("\x1b[2K")[-1] for line in lines]
    assert any("left " in line for line in frame)
    assert max(len(line) for line in frame if "\x1b" not in line) <= width


@pytest.mark.parametrize("bar", [partial(drawn, total_tokens=2, total_samples=2), drawn])
def test_the_last_answer_stands_in_one_line_and_can_neither_move_the_cursor_nor_set_colours(bar: Any) -> None:
    console, file = terminal(80)
    with bar(TITLE, console) as progress:
        progress.advance(1, answer="an earlier one")
        progress.advance(1, answer="It was\n\x1b[2J[red]late[/] " + "and later " * 100)
    last = file.getvalue().rpartition("last answer: ")[2]
    assert last.startswith(r"It was \x1b[2J[red]late[/] and later")
    assert len(last.splitlines()[0]) <= 80 - len("last answer: ")


def test_a_phase_is_one_line_where_there_is_no_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    with phase("drawing the figures", shown=True):
        assert capsys.readouterr().err == "drawing the figures\n"
    with phase("uploading the run", shown=False):
        pass
    assert capsys.readouterr().err == ""


class Clock:
    now_s = 100.0

    def __call__(self) -> float:
        return self.now_s


def written(*, total_tokens: int | None, total_samples: int | None, step_s: float, samples: int) -> list[str]:
    lines: list[str] = []
    clock = Clock()
    progress = PlainProgress(lines.append, total_tokens=total_tokens, total_samples=total_samples, clock=clock)
    for _ in range(samples):
        clock.now_s += step_s
        progress.advance(1_000)
    return lines


def test_a_line_comes_every_thirty_seconds_with_the_time_that_is_left() -> None:
    assert written(total_tokens=20_000, total_samples=20, step_s=10, samples=9) == [
        "3,000/20,000 tokens, 3/20 samples, 30 s, 2 min 50 s left\n",
        "6,000/20,000 tokens, 6/20 samples, 1 min 00 s, 2 min 20 s left\n",
        "9,000/20,000 tokens, 9/20 samples, 1 min 30 s, 1 min 50 s left\n",
    ]


def test_a_search_says_what_is_expected_to_be_left() -> None:
    lines: list[str] = []
    clock = Clock()
    progress = PlainProgress(lines.append, clock=clock)
    progress.advance(1_000)
    progress.expect(9_000)
    clock.now_s += 30
    progress.advance(1_000)
    progress.expect(0)
    clock.now_s += 30
    progress.advance(1_000)
    assert lines == [
        "2,000 tokens, 2 samples, 30 s, about 2 min 00 s left\n",
        "3,000 tokens, 3 samples, 1 min 00 s\n",
    ]


SEARCH = "niah_multi_static · a/model-with-a-name-that-is-as-long-as-they-come-8b-instruct-q4_k_m · kv q8_0"


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
    with drawn(SEARCH, console) as progress:
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
    assert SEARCH.replace(" ", "") in whole.replace(" ", "")


def test_a_pipe_gets_a_line_for_each_decided_length_and_no_control_characters(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with progress_of(SEARCH, shown=True) as progress:
        for shown in range(1, len(WALK) + 1):
            for _ in range(50):
                progress.advance(1000)
                progress.lengths(WALK[:shown])
    told = capsys.readouterr().err
    assert told.splitlines() == [SEARCH, *(standing_line([each]) for each in WALK if each.decision != "open")]
    assert "\x1b" not in told
    assert "\r" not in told


def test_a_search_says_about_how_long_it_will_take_at_any_width() -> None:
    for width in (40, 64, 120):
        console, written = terminal(width)
        with drawn("niah", console) as progress:
            progress.advance(1_000)
            progress.expect(1_000_000_000)
        last = written.getvalue().rpartition("\x1b[2K")[2]
        assert "about " in last
        assert " left" in last
        assert max(len(line.strip()) for line in last.splitlines()) <= width
        assert ("1,000 tokens" in last) == (width >= 64)
