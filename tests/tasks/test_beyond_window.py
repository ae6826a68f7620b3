"""`beyond_window=fit`: lengths that the window can't hold are left out, and its own is shortened by the answer."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contextcliff.errors import ConfigError
from contextcliff.tasks.grid import DesignedLengths
from contextcliff.tasks.task import ContextBudget
from tests.compositions import built

LENGTHS = (4_096, 8_192, 16_384, 32_768, 65_536, 131_072)


def task(*overrides: str) -> DesignedLengths:
    found = built("task=niah", f"task.lengths=[{','.join(map(str, LENGTHS))}]", *overrides).task
    assert isinstance(found, DesignedLengths)
    return found


def budget(window: int) -> ContextBudget:
    return ContextBudget(context_window=window, answer_tokens=32, fits_lengths=True)


@pytest.mark.parametrize(
    ("window", "asked"),
    [
        (200_000, LENGTHS),
        (131_072, (*LENGTHS[:-1], 130_872)),
        (128_000, (*LENGTHS[:-1], 127_800)),
        (100_000, LENGTHS[:-1]),
        (40_960, LENGTHS[:4]),
        (8_192, (4_096, 7_992)),
        (4_300, (4_096,)),
    ],
)
def test_the_lengths_that_fit_and_the_longest_that_does_in_the_place_of_the_windows_own(
    window: int, asked: tuple[int, ...]
) -> None:
    assert task().lengths_in(budget(window)) == asked
    assert task().longest_context(budget(window)) == asked[-1]


def test_what_was_shortened_and_what_was_left_out_is_noted() -> None:
    assert task().length_notes(budget(65_536)) == (
        "asked at 65,336 tokens in the place of 65,536, which with its answer is more than the window of 65,536",
        "left out, since the window of 65,536 can't hold them: 131,072",
    )
    assert task().length_notes(budget(200_000)) == ()


def test_where_none_fits_one_line_says_what_does() -> None:
    with pytest.raises(ConfigError) as refused:
        task().lengths_in(budget(2_048))
    assert str(refused.value) == (
        "task.lengths: none of 4,096, 8,192, 16,384, 32,768, 65,536, 131,072 fits into model.context_window=2,048; the "
        "longest that fits is 1,848"
    )


@given(window=st.integers(4_400, 300_000))
def test_every_length_fits_and_one_that_does_is_never_changed(window: int) -> None:
    found = task().lengths_in(budget(window))
    assert all(length + 200 <= window for length in found)
    assert {length for length in LENGTHS if length + 200 <= window} <= set(found)
    assert len(set(found) - set(LENGTHS)) <= 1
