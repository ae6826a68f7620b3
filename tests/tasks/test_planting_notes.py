"""What a reader is said of how the needles went in."""

from __future__ import annotations

from dataclasses import replace

import pytest

from contextcliff.tasks.needles.planter import Made, planting_notes
from tests.make import scored_sample

MADE = Made(sample=scored_sample(500, 1.0).sample, controls=(), redrawn=0, off=0.0)


@pytest.mark.parametrize(
    ("redrawn", "said"),
    [
        ((0, 1, 0), "1 needle was drawn again, since the text held its words already"),
        ((2, 1, 0), "3 needles were drawn again, since the text held their words already"),
    ],
)
def test_needles_that_were_drawn_again_are_counted(redrawn: tuple[int, ...], said: str) -> None:
    assert planting_notes([replace(MADE, redrawn=n) for n in redrawn], misplaced=0.1) == (said,)


def test_where_none_was_nothing_is_said() -> None:
    assert planting_notes([MADE], misplaced=0.1) == ()
