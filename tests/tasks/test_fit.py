"""A prompt is as large as its budget allows."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contextcliff.errors import ConfigError
from contextcliff.tasks.grid import fit


@given(
    st.lists(st.integers(0, 40), min_size=1, max_size=400),
    st.integers(1, 3_000),
    st.integers(0, 9_000),
    st.integers(0, 9),
)
def test_the_largest_size_within_the_budget_is_found(steps: list[int], frame: int, budget: int, near: int) -> None:
    tokens = [frame + sum(steps[:size]) for size in range(len(steps) + 1)]
    asked: list[int] = []

    def tokens_of(size: int) -> int:
        asked.append(size)
        return tokens[size]

    if frame > budget:
        with pytest.raises(ConfigError, match=rf"task.lengths: {budget:,} is too short: .* takes {frame:,} tokens.*x"):
            fit(tokens_of, budget, least=0, most=len(steps), lower="x")
        return
    size = fit(tokens_of, budget, least=0, most=len(steps), near=near)
    assert tokens[size] <= budget
    assert size == len(steps) or tokens[size + 1] > budget or tokens[size] >= budget - near
    assert len(asked) <= 30
