"""Times to the first token by length, and whether the server is slower from some length on: memory that runs out, a
cache that spills, a server that swaps.

A prompt of n tokens, c of them from a cache, takes a + b·(n − c) + d·(n² − c²) / 2 to read: a fixed part, a part for
each token that is computed, and attention, which looks back at all tokens before. Per computed token that grows by no
more than n + c does, however much of it is attention. So a length is slower where this time is more than that, and at
least `SLOWER` times the one of the length before, as at each longer one, and one at least. Lengths are asked in order:
another load that comes in the meantime looks the same, and so does a cache that ends at some length. So new texts of
the shortest length are asked at the end (`RECHECK`), and only if these are as fast as at first is it the length.
"""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from contextcliff.analysis.bins import Group, computed_tokens, median_tokens, streamed_requests
from contextcliff.records.generation import ScoredSample
from contextcliff.records.sample import RECHECK
from contextcliff.statistics.ranks import is_significant, p_larger

SLOWER = 2.0
STEADY = 0.9
"""Share of a length's requests that have to be slower: a load that comes and goes leaves some as they were."""
AS_FAST = 1.25
"""New texts that take this many times as long are still as fast as at first."""
FEWEST = 4
"""Requests at a length, below which its times are not looked at; new texts that are asked at the end."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Times:
    """The requests of a length whose prompt the server had to read."""

    asked_tokens: int
    median_tokens: int
    rates: tuple[float, ...]
    """Time to the first token for each token that was computed, in ms."""
    reach: float
    """Median of n + c."""

    @property
    def rate(self) -> float:
        return statistics.median(self.rates)

    @property
    def spread(self) -> float:
        """Distance of the quartiles, as a share of the median."""
        low, median, high = statistics.quantiles(self.rates, n=4, method="inclusive")
        return (high - low) / median


@dataclass(frozen=True, kw_only=True, slots=True)
class Slowdown:
    """That the server is slower from a length on, by the times alone."""

    begins: Times
    ratio: float
    """Time per token, over that of the length before."""
    p_value: float
    """Of "from no length on"."""


def times_of(samples: Iterable[ScoredSample], *, asked_tokens: int) -> Times | None:
    """The times of a length where enough requests streamed: else the first token comes with the last."""
    samples = tuple(samples)
    timed = [each for each in streamed_requests(samples) if each.ttft_ms > 0.0]
    if len(timed) < FEWEST:
        return None
    return Times(
        asked_tokens=asked_tokens, median_tokens=median_tokens(samples),
        rates=tuple(each.ttft_ms / computed_tokens(each) for each in timed),
        reach=statistics.median(each.prompt_tokens + (each.cached_tokens or 0) for each in timed),
    )  # fmt: skip


def times_by_length(groups: Sequence[Group]) -> list[Times]:
    """The times of each length that has enough, shortest first."""
    found = (times_of(group.samples, asked_tokens=group.asked_tokens) for group in groups)
    return [times for times in found if times is not None]


def slowdown(times: Sequence[Times], confidence: float) -> Slowdown | None:
    """Where the server is shown to be slower from a length on, twice in a row at least; None if nowhere."""
    tests = []
    for place, begins in enumerate(times[1:-1], start=1):
        before, beyond = times[place - 1], times[place:]
        factor = max(SLOWER, begins.reach / before.reach)
        if all(sum(rate > factor * before.rate for rate in each.rates) >= STEADY * len(each.rates) for each in beyond):
            p_value = max(p_larger([rate / factor for rate in each.rates], before.rates) for each in beyond)
            p_value = min(1.0, (len(times) - 2) * p_value)  # at each of so many lengths it could begin
            tests.append(Slowdown(begins=begins, ratio=begins.rate / before.rate, p_value=p_value))
    least = min(tests, key=lambda test: test.p_value, default=None)
    return least if least is not None and is_significant(least.p_value, confidence) else None


def rechecked(shortest: Times, controls: Iterable[ScoredSample]) -> float | None:
    """How many times as long new texts of the shortest length took at the end; None where too few were answered."""
    again = [control for control in controls if control.sample.control == RECHECK]
    found = times_of(again, asked_tokens=shortest.asked_tokens)
    return None if found is None else found.rate / shortest.rate
