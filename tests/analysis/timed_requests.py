"""Groups of samples whose times follow a planted law."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from contextcliff.analysis.bins import Group, summarise
from contextcliff.records.analysis import Bin
from contextcliff.records.generation import ScoredSample
from tests.analysis.analysis_samples import scored_sample

LENGTHS = (500, 1_000, 2_000, 4_000, 8_000)


@dataclass(frozen=True, kw_only=True, slots=True)
class Server:
    """What a request takes: a fixed part, a part for each token, and attention, in ms; times noise.

    The whole answer takes `answer_ms` more.
    """

    fixed: float = 30.0
    token: float = 0.5
    attention: float = 1e-4
    """Of a pair of tokens."""
    noise: float = 0.1
    """Standard deviation of the logarithm."""
    concurrency: int = 1
    """Requests at once: each waits for some of the others, and those of one round share a part of their noise."""
    factors: Mapping[int, float] | None = None
    """By length, what the time is multiplied with."""
    widths: Mapping[int, float] | None = None
    """By length, what the noise is multiplied with."""
    answer_ms: float = 250.0

    def times(self, length: int, n: int, rng: np.random.Generator) -> list[float]:
        base = self.fixed + self.token * length + 0.5 * self.attention * length**2
        width = self.noise * (self.widths or {}).get(length, 1.0)
        logs = rng.normal(0.0, width, n)
        if self.concurrency > 1:
            rounds = rng.normal(0.0, width, -(-n // self.concurrency)).repeat(self.concurrency)[:n]
            waited = rng.integers(0, self.concurrency, n) * 0.5
            logs = np.sqrt(0.5) * (logs + rounds) + np.log1p(waited)
        return [float(time) for time in base * (self.factors or {}).get(length, 1.0) * np.exp(logs)]


def timed(
    times: Mapping[int, Sequence[float]],
    *,
    cached: Mapping[int, Sequence[int | None]] | None = None,
    answer_ms: float = 250.0,
) -> tuple[Group, ...]:
    """A group a length, a sample each time (TTFT in ms), all answers right."""
    return tuple(
        Group(
            asked_tokens=length,
            samples=tuple(
                _with_cache(
                    scored_sample(length, 1.0, ttft_ms=time, latency_ms=time + answer_ms),
                    None if cached is None else cached[length][place],
                )
                for place, time in enumerate(of_length)
            ),
        )
        for length, of_length in times.items()
    )


def asked_of(
    server: Server, *, n: int, rng: np.random.Generator, lengths: Sequence[int] = LENGTHS
) -> tuple[Group, ...]:
    """`n` requests at each length."""
    return timed({length: server.times(length, n, rng) for length in lengths}, answer_ms=server.answer_ms)


def documents(
    server: Server, *, n: int, rng: np.random.Generator, step: tuple[int, float] | None = None
) -> list[ScoredSample]:
    """`n` documents of their own lengths, 200 to 8,000 tokens; from a `step` on the time is so many times as long."""
    samples = []
    for length in np.exp(rng.uniform(np.log(200), np.log(8_000), n)).round():
        (time,) = server.times(int(length), 1, rng)
        factor = step[1] if step is not None and length >= step[0] else 1.0
        samples.append(scored_sample(int(length), 1.0, ttft_ms=factor * time))
    return samples


def bins_of(groups: Sequence[Group]) -> tuple[Bin, ...]:
    return tuple(result.bin for result in summarise(groups, 0.95))


def _with_cache(item: ScoredSample, cached: int | None) -> ScoredSample:
    assert item.generation is not None
    return replace(item, generation=replace(item.generation, cached_tokens=cached))
