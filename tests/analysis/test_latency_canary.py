"""The time to the first token against what prefill predicts."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from contextcliff.analysis.bins import Group, fresh_requests
from contextcliff.findings.latency import prefill_by_length
from contextcliff.findings.warnings import EarlyWarnings, latency_warnings
from contextcliff.records.generation import ScoredSample
from tests.make import LENGTHS, Server, analysed, asked_of, bins_of, finding, of, scored_sample, timed

RNG = np.random.default_rng


def begins(groups: tuple[Group, ...]) -> dict[str, int]:
    return {each.name: each.context_tokens for each in latency_warnings(groups, bins_of(groups), 0.95)}


def with_cache(item: ScoredSample, cached: int | None) -> ScoredSample:
    assert item.generation is not None
    return replace(item, generation=replace(item.generation, cached_tokens=cached))


def test_a_resource_cliff_is_marked_where_it_begins_though_every_answer_is_right() -> None:
    server = Server(factors={4_000: 3.0, 8_000: 3.0})
    samples = [item for group in asked_of(server, n=20, rng=RNG(1)) for item in group.samples]
    analysis = analysed(samples)
    (warning,) = finding(analysis, EarlyWarnings).warnings
    assert analysis.safe_cap.tokens == 8_000
    assert (warning.name, warning.context_tokens) == ("latency_canary", 4_000)
    assert warning.figures["ratio"] == pytest.approx(3.0, rel=0.2)
    assert str(warning.reason).startswith("from 4,000 tokens on the first token takes 3.1 times as long")


def test_a_part_of_the_prompt_out_of_the_cache_is_taken_off() -> None:
    """Half of each longer prompt was cached: the time is that of the rest, which looks back at the whole."""
    rng, server = RNG(5), Server(fixed=0.0)
    times = {}
    for length in LENGTHS:
        cached = 0 if length == 500 else length // 2
        whole, before = (server.token * n + 0.5 * server.attention * n**2 for n in (length, cached))
        times[length] = ((whole - before) * np.exp(rng.normal(0.0, 0.05, 20))).tolist()
    cached_tokens = {length: [0 if length == 500 else length // 2] * 20 for length in LENGTHS}
    groups = timed(times, cached=cached_tokens)
    assert begins(groups) == {}
    rows = prefill_by_length(groups, bins_of(groups))
    assert rows[-1].predicted_ms == pytest.approx(rows[-1].ttft_ms, rel=0.1)


def test_of_equal_prompts_the_slowest_counts() -> None:
    repeats = [scored_sample(500, 1.0, ttft_ms=time, prompt="same") for time in (3.0, 900.0, 2.0)]
    other = scored_sample(500, 1.0, ttft_ms=700.0)
    assert fresh_requests([*repeats, other]) == (other, repeats[1])


def test_of_requests_that_share_a_text_with_an_unknown_cache_the_slowest_counts() -> None:
    shared = of("text", [scored_sample(500, 1.0, ttft_ms=time) for time in (3.0, 900.0, 2.0)])
    assert [item.generation.ttft_ms for item in fresh_requests(shared) if item.generation] == [900.0]
    known = [with_cache(item, 0) for item in shared]
    assert len(fresh_requests(known)) == 3


def test_answers_in_one_piece_have_no_time_to_the_first_token() -> None:
    groups = asked_of(Server(factors={8_000: 3.0}), n=20, rng=RNG(6))
    whole = [
        replace(
            group,
            samples=tuple(
                replace(item, generation=replace(item.generation, streamed=False))
                for item in group.samples
                if item.generation is not None
            ),
        )
        for group in groups
    ]
    assert begins(tuple(whole)) == {}
    assert prefill_by_length(whole, bins_of(whole)) == ()
