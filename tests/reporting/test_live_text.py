"""The model's words as they come, with several rounds under way."""

from __future__ import annotations

import io
import random

import pytest
from rich.console import Console

from contextcliff.records.sample import Sample
from contextcliff.reporting.live_text import LiveText
from tests.writing.made_writing import make_round

FIGURES = ("Cloze 14.66", "level 16+", "vocabulary 0.564")


def sample(tokens: int, trial: int) -> Sample:
    return make_round(tokens=tokens, trial=trial).sample


FIRST, SECOND, THIRD = sample(2048, 0), sample(2048, 1), sample(4096, 0)
ALL = (FIRST, SECOND, THIRD, sample(4096, 1))


class Watched:
    """A live view and what it has printed so far."""

    def __init__(self, *, encoding: str = "utf-8") -> None:
        self._raw = io.BytesIO()
        self._stream = io.TextIOWrapper(self._raw, encoding=encoding, newline="\n")
        self.live = LiveText(Console(file=self._stream, width=80), samples=ALL)
        self._encoding = encoding

    @property
    def text(self) -> str:
        self._stream.flush()
        return self._raw.getvalue().decode(self._encoding)


@pytest.fixture
def watched() -> Watched:
    return Watched()


def test_words_are_shown_as_they_come_under_a_header_and_figures_at_the_end(watched: Watched) -> None:
    watched.live.began(FIRST)
    assert watched.text == "[1/2] 2,048 tokens, round 1/2\n"
    watched.live.wrote(FIRST, "It was ")
    watched.live.wrote(FIRST, "late.\n\nNobody")
    assert watched.text.endswith("round 1/2\nIt was late.\n\nNobody")
    watched.live.ended(FIRST, figures=FIGURES)
    assert watched.text.endswith("Nobody\n    complete · Cloze 14.66 · level 16+ · vocabulary 0.564\n\n")


def test_the_averages_of_a_length_stand_under_its_last_round(watched: Watched) -> None:
    watched.live.began(FIRST)
    watched.live.began(SECOND)
    watched.live.ended(SECOND, averages="2,048 tokens: mean score 0.62, 2 samples")
    watched.live.ended(FIRST)
    assert watched.text.endswith("round 2/2\n\n    complete\n\n2,048 tokens: mean score 0.62, 2 samples\n\n")


def test_a_round_beside_the_live_one_waits_and_is_printed_whole_after_it(watched: Watched) -> None:
    watched.live.began(FIRST)
    watched.live.began(SECOND)
    watched.live.wrote(SECOND, "two-a ")
    watched.live.wrote(FIRST, "one-a ")
    watched.live.wrote(SECOND, "two-b ")
    assert "two" not in watched.text
    watched.live.wrote(FIRST, "one-b")
    watched.live.ended(FIRST)
    # What was kept back comes at once, and the second round is live from here on.
    assert watched.text.endswith("one-a one-b\n    complete\n\n[1/2] 2,048 tokens, round 2/2\ntwo-a two-b ")
    watched.live.wrote(SECOND, "two-c")
    assert watched.text.endswith("two-a two-b two-c")


def test_a_round_that_ends_before_the_live_one_is_printed_whole_with_its_end(watched: Watched) -> None:
    for item in (FIRST, SECOND, THIRD):
        watched.live.began(item)
        watched.live.wrote(item, f"words of {item.sample_id}")
    watched.live.ended(SECOND, failure="repetition")
    assert "repetition" not in watched.text
    watched.live.ended(FIRST)
    assert watched.text == (
        "[1/2] 2,048 tokens, round 1/2\nwords of continuation-2048-0\n    complete\n\n"
        "[1/2] 2,048 tokens, round 2/2\nwords of continuation-2048-1\n    repetition\n\n"
        "[2/2] 4,096 tokens, round 1/2\nwords of continuation-4096-0"
    )


@pytest.mark.parametrize("seed", range(20))
def test_however_pieces_interleave_each_round_is_printed_once_and_in_one_piece(seed: int) -> None:
    watched, drawn = Watched(), random.Random(seed)
    left = {item.sample_id: [f"<{item.sample_id}:{i}>" for i in range(6)] for item in ALL}
    started: set[str] = set()
    while any(left.values()):
        item = drawn.choice([item for item in ALL if left[item.sample_id]])
        if item.sample_id not in started:
            started.add(item.sample_id)
            watched.live.began(item)
        watched.live.wrote(item, left[item.sample_id].pop(0))
        if not left[item.sample_id]:
            watched.live.ended(item)
    for item in ALL:
        whole = "".join(f"<{item.sample_id}:{i}>" for i in range(6))
        assert watched.text.count(whole) == 1
    assert watched.text.count("complete") == watched.text.count("tokens, round") == 4


def test_a_model_can_neither_move_the_cursor_nor_set_colours(watched: Watched) -> None:
    watched.live.began(FIRST)
    watched.live.wrote(FIRST, "a\x1b[2J\x07\rb\n[bold red]c[/] \u202ed")
    assert watched.text.endswith("a\\x1b[2J\\x07 b\n[bold red]c[/] \\u202ed")


def test_a_console_that_lacks_a_character_shows_it_as_an_escape() -> None:
    watched = Watched(encoding="ascii")
    watched.live.began(FIRST)
    watched.live.wrote(FIRST, "“no” 模")
    watched.live.ended(FIRST, figures=FIGURES)
    assert '"no" \\u6a21' in watched.text
    assert "complete - Cloze 14.66 - level 16+" in watched.text


def test_a_round_that_is_asked_again_is_not_printed_twice(watched: Watched) -> None:
    watched.live.began(FIRST)
    watched.live.wrote(FIRST, "half a sen")
    watched.live.began(SECOND)
    watched.live.wrote(SECOND, "broken off")
    watched.live.began(SECOND)
    watched.live.wrote(SECOND, "whole")
    watched.live.began(FIRST)
    watched.live.wrote(FIRST, "a sentence")
    watched.live.ended(FIRST)
    assert "half a sen\n(broken off, asked again)\na sentence" in watched.text
    assert watched.text.endswith("round 2/2\nwhole")


def test_a_round_that_never_wrote_ends_with_its_reason(watched: Watched) -> None:
    watched.live.ended(FIRST, failure="timeout")
    assert watched.text == "[1/2] 2,048 tokens, round 1/2\n\n    timeout\n\n"
