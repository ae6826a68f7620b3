"""How often latency warnings are false, and how often a resource cliff is found. From fixed seeds, 2,000 runs a law."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence

import numpy as np
import pytest

from contextcliff.analysis.latency_canary import latency_warnings
from tests.analysis.timed_requests import LENGTHS, Server, asked_of, bins_of

pytestmark = pytest.mark.slow

RUNS = 2_000
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


@pytest.mark.parametrize("lengths", [LENGTHS, FEW], ids=["five lengths", "three lengths"])
@pytest.mark.parametrize("n", [10, 20])
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
