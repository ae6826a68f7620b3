"""Levels straight from counts or scores, for tests that need many of them or nothing else."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache

from contextcliff.analysis.lengths import Item, LengthResult
from contextcliff.records.analysis import Bin
from contextcliff.statistics.descriptive import mean_of
from contextcliff.statistics.intervals import is_binary, lower_bound, shown_interval


def counted(results: Mapping[int, tuple[int, int]]) -> list[LengthResult]:
    """`{length: (right, scored)}`."""
    return [_level(length, (0.0,) * (n - right) + (1.0,) * right) for length, (right, n) in results.items()]


def scoring(results: Mapping[int, Sequence[float]]) -> list[LengthResult]:
    """`{length: scores}`."""
    return [_level(length, tuple(sorted(scores))) for length, scores in results.items()]


@lru_cache(maxsize=4096)
def _level(length: int, scores: tuple[float, ...]) -> LengthResult:
    binary = is_binary(scores)
    low, high = shown_interval(scores, 0.95, binary=binary) if scores else (None, None)
    found = Bin(
        asked_tokens=length,
        min_tokens=length,
        median_tokens=length,
        max_tokens=length,
        n_samples=len(scores),
        n_unscored=0,
        mean=mean_of(scores) if scores else None,
        ci_low=low,
        ci_high=high,
        tested_low=lower_bound(scores, 0.95) if scores else None,
        std=None,
        failure_rate=None,
        failures={},
        ttft_ms_median=None,
        latency_ms_median=None,
    )
    items = (Item(cluster="", document="moby-dick", score=score, repeats=(score,)) for score in scores)
    return LengthResult(bin=found, items=tuple(items), binary=binary)
