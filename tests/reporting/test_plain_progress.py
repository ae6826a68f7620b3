"""Progress in a file or a pipe: a plain line every 30 seconds, and no control characters."""

from __future__ import annotations

import pytest

from contextcliff.reporting.progress import PlainProgress, progress_of


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


def test_a_search_whose_end_is_open_tells_what_has_ended() -> None:
    assert written(total_tokens=None, total_samples=None, step_s=45, samples=2) == [
        "1,000 tokens, 1 sample, 45 s\n",
        "2,000 tokens, 2 samples, 1 min 30 s\n",
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


def test_fast_samples_write_no_line_each() -> None:
    assert written(total_tokens=None, total_samples=None, step_s=0.01, samples=1_000) == []


def test_a_pipe_has_the_title_and_what_it_came_to(capsys: pytest.CaptureFixture[str]) -> None:
    with progress_of("niah · m", total_tokens=3_000, total_samples=3, shown=True) as progress:
        for _ in range(3):
            progress.advance(1_000)
    told = capsys.readouterr().err
    title, last = told.splitlines()
    assert title == "niah · m"
    assert last.startswith("3,000/3,000 tokens, 3/3 samples, ")
    assert not set(told) & set("\x1b\r")
