"""How often latency warnings are false, and how often a resource cliff is found. From fixed seeds, 500 runs a law."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence

import numpy as np
import pytest

from contextcliff.analysis.analyse import study_of
from contextcliff.analysis.analysis_settings import AnalysisSettings
from contextcliff.analysis.limits import latency_cap
from contextcliff.analysis.prefill import slowdown, times_by_length
from contextcliff.analysis.study import StudyFacts
from tests.make import LENGTHS, Server, asked_of, known, scored_sample

pytestmark = pytest.mark.slow

RUNS = 500

Recorder = Callable[[str, object], None]


def slower(server: Server, record_property: Recorder) -> Counter[int | None]:
    """How many runs take the server to be slower, by the length from which on; None if they do not."""
    rng, counts = np.random.default_rng(11), Counter[int | None]()
    for _ in range(RUNS):
        found = slowdown(times_by_length(asked_of(server, n=20, rng=rng)), 0.95)
        counts[None if found is None else found.begins.asked_tokens] += 1
    record_property("slower", dict(counts))
    return counts


@pytest.mark.parametrize(
    "server",
    [
        Server(token=0.01, attention=1e-3, noise=0.2),
        Server(fixed=1_000.0, noise=0.2),
        Server(factors={1_000: 3.0}, noise=0.2),
        Server(factors={500: 5.0, 1_000: 3.0}, noise=0.2),
    ],
    ids=["attention alone", "fixed part", "a load that is over", "a load at first"],
)
def test_what_prefill_explains_or_what_is_over_is_not_slower(server: Server, record_property: Recorder) -> None:
    assert slower(server, record_property)[None] >= 0.95 * RUNS


@pytest.mark.parametrize("begins", [1, 2, 3])
@pytest.mark.parametrize(("concurrency", "least"), [(1, 0.95), (4, 0.6)])
@pytest.mark.parametrize("noise", [0.05, 0.1, 0.2])
def test_a_cliff_of_four_times_the_time_is_found_where_it_begins(
    noise: float, concurrency: int, least: float, begins: int, record_property: Recorder
) -> None:
    factors = dict.fromkeys(LENGTHS[begins:], 4.0)
    counts = slower(Server(noise=noise, concurrency=concurrency, factors=factors), record_property)
    assert counts[LENGTHS[begins]] >= least * RUNS
    assert RUNS - counts[None] - counts[LENGTHS[begins]] <= 0.06 * RUNS


@pytest.mark.parametrize(("shares", "n"), [((0.99, 0.95, 0.8, 0.8), 20), ((0.99, 0.8, 0.8, 0.5), 60)])
def test_the_cap_by_latency_claims_no_length_whose_share_is_not_above_the_limit(
    shares: Sequence[float], n: int, record_property: Recorder
) -> None:
    """`shares` are the true shares of requests in time, by length; at .8 a claim is an error."""
    rng, caps = np.random.default_rng(19), Counter[int | None]()
    facts = StudyFacts(max_context_tokens=8_192, designed_lengths=True, relative_by_default=False)
    settings = AnalysisSettings(latency_slo_ms=100.0)
    for _ in range(RUNS):
        samples = [
            scored_sample(length, 1.0, latency_ms=10.0 if in_time else 500.0)
            for length, share in zip(LENGTHS, shares, strict=False)
            for in_time in rng.random(n) < share
        ]
        cap = known(latency_cap(study_of(samples, settings, facts)))
        caps[cap.tokens] += 1
    first_bad = LENGTHS[next(place for place, share in enumerate(shares) if share <= 0.8)]
    errors = sum(count for tokens, count in caps.items() if tokens is not None and tokens >= first_bad)
    record_property("error", errors / RUNS)
    record_property("claims_500", 1.0 - caps[None] / RUNS)
    assert errors / RUNS <= 0.05
    assert 1.0 - caps[None] / RUNS >= 0.8
