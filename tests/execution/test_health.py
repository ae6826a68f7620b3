"""Concurrency that gives way and comes back, and a breaker that chance does not open."""

from __future__ import annotations

import random

import pytest

from contextcliff.errors import EngineFault, RunError
from contextcliff.execution.runner import FAILURES_IN_A_ROW, REFUSALS_IN_A_ROW, Health

BUSY = EngineFault("rate_limit", "slow down", retryable=True)
DOWN = EngineFault("server_error", "500", retryable=True)
REFUSED = EngineFault("content_filter", "400")


def test_a_rate_limit_halves_what_is_in_flight_once_for_all_that_were_and_answers_bring_it_back() -> None:
    health = Health(most=16)
    for limit in (8, 4, 2, 1, 1):
        for _ in range(10):
            health.failed(BUSY)
        assert health.limit == limit
        health.answered()
    for _ in range(400):
        health.answered()
    assert health.limit == 16


@pytest.mark.parametrize(
    ("fault", "most", "told"),
    [
        (DOWN, FAILURES_IN_A_ROW, "25 requests failed in a row, the last with server_error: 500; what was answered is"),
        (REFUSED, REFUSALS_IN_A_ROW, "25 requests were refused and none was answered between them, the last with"),
    ],
)
def test_a_row_opens_the_breaker_and_says_how_to_go_on(fault: EngineFault, most: int, told: str) -> None:
    health = Health(most=4)
    for _ in range(most - 1):
        health.failed(fault)
    with pytest.raises(RunError, match=told):
        health.failed(fault)


def test_chance_prompts_that_are_too_long_and_those_refused_before_open_nothing() -> None:
    rng, health = random.Random(0), Health(most=4)
    for _ in range(100_000):
        if rng.random() < 0.3:
            health.failed(DOWN)
        else:
            health.answered()
    for _ in range(3 * REFUSALS_IN_A_ROW):
        health.failed(EngineFault("overflow", "400"))
        health.failed(REFUSED, before=True)
