"""How often latency warnings are false, and how often a resource cliff is found. From fixed seeds, 500 runs a law."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence

import numpy as np
import pytest

from contextcliff.analysis.analyse import study_of
from contextcliff.analysis.analysis_settings import AnalysisSettings
from contextcliff.analysis.bins import group
from contextcliff.analysis.limits import latency_cap
from contextcliff.analysis.study import StudyFacts
from contextcliff.findings.warnings import latency_warnings
from tests.make import LENGTHS, Server, asked_of, bins_of, documents, known, scored_sample

pytestmark = pytest.mark.slow

RUNS = 500
FEW = (512, 1_024, 2_048)
NOISES = (0.05, 0.1, 0.2)

Recorder = Callable[[str, object], None]


def warned(
    server: Server, record_property: Recorder, *, n: int = 20, lengths: Sequence[int] = LENGTHS
) -> Counter[tuple[str, int]]:
    """How many runs have each warning at each length."""
    rng, bins, counts = np.random.default_rng(11), None, Counter[tuple[str, int]]()
    for _ in range(RUNS):
        groups = asked_of(server, n=n, rng=rng, lengths=lengths)
        bins = bins or bins_of(groups)
        counts.update((each.name, each.context_tokens) for each in latency_warnings(groups, bins, 0.95))
    for (name, length), count in sorted(counts.items()):
        record_property(f"{name}_{length}", count / RUNS)
    return counts


def share(counts: Counter[tuple[str, int]], name: str) -> float:
    return sum(count for (kind, _), count in counts.items() if kind == name) / RUNS


@pytest.mark.parametrize(("lengths", "n"), [(LENGTHS, 20), (FEW, 10)], ids=["five lengths", "three lengths"])
@pytest.mark.parametrize("concurrency", [1, 4])
@pytest.mark.parametrize("noise", NOISES)
def test_steady_latency_raises_no_alarm(
    noise: float, concurrency: int, n: int, lengths: Sequence[int], record_property: Recorder
) -> None:
    server = Server(noise=noise, concurrency=concurrency)
    counts = warned(server, record_property, n=n, lengths=lengths)
    assert share(counts, "latency_canary") <= 0.01
    assert share(counts, "latency_spread") <= 0.06


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
def test_what_prefill_explains_or_what_is_over_raises_no_alarm(server: Server, record_property: Recorder) -> None:
    assert share(warned(server, record_property), "latency_canary") <= 0.05


@pytest.mark.parametrize("begins", [1, 2, 3, 4])
@pytest.mark.parametrize(("concurrency", "least"), [(1, 0.95), (4, 0.6)])
@pytest.mark.parametrize("noise", NOISES)
def test_a_cliff_of_three_times_the_time_is_found_where_it_begins(
    noise: float, concurrency: int, least: float, begins: int, record_property: Recorder
) -> None:
    factors = dict.fromkeys(LENGTHS[begins:], 3.0)
    counts = warned(Server(noise=noise, concurrency=concurrency, factors=factors), record_property)
    assert counts["latency_canary", LENGTHS[begins]] / RUNS >= least
    assert share(counts, "latency_canary") - counts["latency_canary", LENGTHS[begins]] / RUNS <= 0.06


@pytest.mark.parametrize("noise", NOISES)
def test_three_times_the_spread_is_found(noise: float, record_property: Recorder) -> None:
    counts = warned(Server(noise=noise, widths={4_000: 3.0, 8_000: 3.0}), record_property)
    assert (counts["latency_spread", 4_000] + counts["latency_spread", 8_000]) / RUNS >= 0.8


@pytest.mark.parametrize(
    ("step", "noise", "least"),
    [
        (None, 0.05, 0.0),
        (None, 0.2, 0.0),
        ((2_000, 3.0), 0.05, 0.9),
        ((2_000, 3.0), 0.1, 0.7),
        ((2_000, 3.0), 0.2, 0.4),
    ],
)
def test_documents_of_their_own_length(
    step: tuple[int, float] | None, noise: float, least: float, record_property: Recorder
) -> None:
    """A hundred documents in five bins: within a bin lengths differ, and the step stands inside one.

    Where the canary does not show the step, the spread of that bin at times does, which is no false alarm.
    """
    rng, counts = np.random.default_rng(17), Counter[str]()
    for _ in range(RUNS):
        groups = group(documents(Server(noise=noise), n=100, rng=rng, step=step), designed_lengths=False, bins=5)
        counts.update(each.name for each in latency_warnings(groups, bins_of(groups), 0.95))
    for name, count in counts.items():
        record_property(name, count / RUNS)
    assert counts["latency_canary"] / RUNS >= least
    if step is None:
        assert counts["latency_canary"] / RUNS <= 0.01
        assert counts["latency_spread"] / RUNS <= 0.05


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
