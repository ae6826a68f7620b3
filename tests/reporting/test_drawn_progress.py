"""Progress on a terminal: what stays where there is little room, and what is said beside it."""

from __future__ import annotations

import io
from functools import partial
from typing import Any

import pytest
from rich.console import Console

from contextcliff.reporting.progress import drawn, phase

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


def test_a_wide_terminal_shows_tokens_and_samples_and_a_narrow_one_the_samples() -> None:
    assert "2,000/2,000,000 tokens" in last_frame(120)
    assert "2/2,000 samples" in last_frame(120)
    assert "tokens" not in last_frame(50)
    assert "2/2,000 samples" in last_frame(50)
    assert "samples" not in last_frame(30)


def test_a_name_is_cut_before_the_bar_is() -> None:
    assert TITLE in last_frame(120)
    assert "job 2/12 · continuation" in last_frame(40)
    assert TITLE not in last_frame(40)


def test_what_is_said_beside_the_bar_stays_above_it() -> None:
    console, file = terminal(80)
    with drawn(TITLE, console, total_tokens=2, total_samples=2) as progress:
        progress.remark("512 tokens: mean score 1.00, 4 samples")
        progress.advance(2)
    text = file.getvalue()
    assert text.index("512 tokens: mean score 1.00, 4 samples") < text.rindex("samples")


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
