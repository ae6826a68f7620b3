"""Concurrency that gives way and comes back, and a breaker that chance does not open."""

from __future__ import annotations

import random

import pytest

from contextcliff.errors import EngineFault, RunError
from contextcliff.execution.runner import FAILURES_IN_A_ROW, REFUSALS_IN_A_ROW, Health

BUSY = EngineFault("rate_limit", "slow down", retryable=True)
DOWN = EngineFault("server_error", "500", retryable=True)
REFUSED = EngineFault("content_filter", "400")


def test_a_rate_limit_halves_what_is_in_flight_once_for_all_that_were() -> None:
    health = Health(most=16)
    for _ in range(10):
        health.failed(BUSY)
    assert health.limit == 8


def test_answers_bring_it_back_to_what_is_allowed() -> None:
    health = Health(most=16)
    for _ in range(3):
        health.failed(BUSY)
        health.answered()
    assert health.limit < 8
    for _ in range(400):
        health.answered()
    assert health.limit == 16


def test_one_request_is_always_allowed() -> None:
    health = Health(most=2)
    for _ in range(6):
        health.failed(BUSY)
        health.answered()
    assert health.limit >= 1


def test_a_row_of_failures_opens_the_breaker_and_says_how_to_go_on() -> None:
    health = Health(most=4)
    for _ in range(FAILURES_IN_A_ROW - 1):
        health.failed(DOWN)
    with pytest.raises(RunError) as told:
        health.failed(DOWN)
    assert str(told.value) == (
        "25 requests failed in a row, the last with server_error: 500; what was answered is kept: "
        "when the server is well again, the same command goes on"
    )


def test_a_third_of_failures_at_random_opens_nothing() -> None:
    rng, health = random.Random(0), Health(most=4)
    for _ in range(100_000):
        if rng.random() < 0.3:
            health.failed(DOWN)
        else:
            health.answered()


def test_refusals_without_an_answer_between_end_the_run_with_the_servers_words() -> None:
    health = Health(most=4)
    for _ in range(REFUSALS_IN_A_ROW - 1):
        health.failed(REFUSED)
    with pytest.raises(RunError) as told:
        health.failed(EngineFault("bad_request", "400 - no such thing"))
    assert str(told.value) == (
        "25 requests were refused and none was answered between them, the last with bad_request: 400 - no such thing; "
        "look at the server's log, and at what is sent beside the prompt: model.extra_body, sampling "
        "(engine.sampler_names=null sends the temperature alone); what was answered is kept, and "
        "action=analyze reports it"
    )


def test_prompts_that_are_too_long_or_were_refused_before_are_no_row() -> None:
    health = Health(most=4)
    for _ in range(3 * REFUSALS_IN_A_ROW):
        health.failed(EngineFault("overflow", "400"))
        health.failed(REFUSED, before=True)


def test_a_refusal_shows_that_the_server_is_there() -> None:
    health = Health(most=4)
    for _ in range(3):
        for _ in range(FAILURES_IN_A_ROW - 1):
            health.failed(DOWN)
        health.failed(REFUSED)
