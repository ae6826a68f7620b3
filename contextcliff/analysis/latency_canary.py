"""Time to the first token against what prefill predicts: a resource cliff, marked even where the score holds.

Memory that runs out, a cache that spills and a server that swaps show in the time before they show in the score. The
time to the first token (TTFT) is divided by the tokens that the server had to read, and compared with the prefill curve
of `statistics/prefill_curve.py`.

The canary begins at the shortest length from which on the typical TTFT is at least `JUMP` times what the curve of the
shorter lengths predicts, at this length and at each longer one, while these shorter lengths follow a curve and all
lengths together follow none at the analysis' confidence. The time per token has to rise there by at least `RISE` too:
else a load on the server that is over after the shortest lengths would look like a cliff. One that lasts to the longest
length does look like one, since lengths are asked in ascending order.

For the spread each time is divided by what the curve of all lengths predicts for its prompt, so that what the prompts
of one length differ by is no spread. It begins to grow at the shortest length where the quartiles of these ratios are
at least `SPREAD` times as far apart as at the shortest one, relative to the median and at least `LEAST_SPREAD` of it,
and where the distances from the median are shown to be larger (Mann and Whitney, Holm's correction over the lengths).
With a canary it is not looked at: no curve goes through all lengths then.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass

from contextcliff.analysis.bins import Group
from contextcliff.analysis.early_warning import EarlyWarning
from contextcliff.analysis.request_times import computed_tokens, fresh_requests
from contextcliff.records.analysis import Bin
from contextcliff.records.fact import Fact
from contextcliff.records.generation import Generation
from contextcliff.statistics.prefill_curve import (
    PrefillCurve,
    PrefillRate,
    fitted_curve,
    follows_a_curve,
    predicted,
    typical,
)
from contextcliff.statistics.ranks import holm, is_significant, p_larger

JUMP = 1.5
RISE = 1.2
SPREAD = 2.0
LEAST_SPREAD = 0.1
FEWEST = 4
"""Requests at a length, below which its times are not looked at."""


@dataclass(frozen=True, kw_only=True, slots=True)
class PrefillAtLength:
    """The time to the first token at one length, over the requests that the server had to read."""

    context_tokens: int
    """As asked."""
    n_requests: int
    ttft_ms: float
    """A typical one: the Hodges-Lehmann estimate, at the median number of tokens that were read."""
    predicted_ms: float | None
    """By the prefill curve of the shorter lengths; None at the shortest."""
    ms_per_token: float
    """The same for each token that was read."""
    spread: float
    """Distance of the quartiles of the times over what the curve of all lengths predicts, as a share of the median."""


@dataclass(frozen=True, kw_only=True, slots=True)
class TtftJump(Fact):
    """From this length on the first token comes later than prefill predicts; typical times in milliseconds."""

    tokens: int
    ttft_ms: float
    predicted_ms: float
    n_requests: int

    @property
    def ratio(self) -> float:
        return self.ttft_ms / self.predicted_ms


@dataclass(frozen=True, kw_only=True, slots=True)
class TtftSpread(Fact):
    """The distance of the TTFT's quartiles as a share of its median, at this length and at the shortest."""

    tokens: int
    spread: float
    shortest_tokens: int
    shortest_spread: float
    n_requests: int


@dataclass(frozen=True, kw_only=True, slots=True)
class _Times:
    """The requests of a length: their time per computed token, and what a prefill curve needs of them."""

    length: Bin
    rates: tuple[float, ...]
    inverses: tuple[float, ...]
    """1 / computed tokens of each request."""
    backs: tuple[float, ...]
    """Tokens before a computed one on average, of each request."""

    @property
    def computed(self) -> float:
        """Median of the tokens that were computed."""
        return 1.0 / statistics.median(self.inverses)

    def rate(self, confidence: float) -> PrefillRate:
        return PrefillRate(
            inverse=statistics.median(self.inverses),
            back=statistics.median(self.backs),
            typical=typical(self.rates, confidence),
        )

    def against(self, curve: PrefillCurve) -> tuple[float, ...]:
        """The time of each request over what the curve predicts for it."""
        return tuple(
            rate / curve.rate(inverse=inverse, back=back)
            for rate, inverse, back in zip(self.rates, self.inverses, self.backs, strict=True)
        )


def prefill_by_length(groups: Sequence[Group], bins: Sequence[Bin]) -> tuple[PrefillAtLength, ...]:
    """The times of every length with enough requests, shortest first; `bins` are those of the groups."""
    times = _times(groups, bins)
    if not times:
        return ()
    rates = [each.rate(0.0) for each in times]
    curve = fitted_curve(rates)
    return tuple(
        PrefillAtLength(
            context_tokens=each.length.asked_tokens,
            n_requests=len(each.rates),
            ttft_ms=rates[place].typical.value * each.computed,
            predicted_ms=predicted(rates[:place], rates[place]) * each.computed if place else None,
            ms_per_token=rates[place].typical.value,
            spread=_spread_of(each.against(curve)),
        )
        for place, each in enumerate(times)
    )


def latency_warnings(groups: Sequence[Group], bins: Sequence[Bin], confidence: float) -> tuple[EarlyWarning, ...]:
    """The canary, or else the growing spread, as far as they are shown at `confidence`."""
    times = _times(groups, bins)
    if len(times) < 2:
        return ()
    warning = _canary(times, confidence) or _spread(times, confidence)
    return () if warning is None else (warning,)


def _canary(times: Sequence[_Times], confidence: float) -> EarlyWarning | None:
    each_length = 1.0 - (1.0 - confidence) / len(times)
    rates = [each.rate(each_length) for each in times]
    if follows_a_curve(rates):
        return None
    for place in range(1, len(times)):
        shorter, rate, begins = rates[:place], rates[place], times[place]
        if rate.typical.value < RISE * shorter[-1].typical.value:
            continue
        if any(each.typical.value < JUMP * predicted(shorter, each) for each in rates[place:]):
            continue
        if not follows_a_curve(shorter):
            continue
        fact = TtftJump(
            tokens=begins.length.median_tokens,
            ttft_ms=rate.typical.value * begins.computed,
            predicted_ms=predicted(shorter, rate) * begins.computed,
            n_requests=len(begins.rates),
        )
        return EarlyWarning(
            name="latency_canary",
            context_tokens=begins.length.asked_tokens,
            median_tokens=fact.tokens,
            figures={"ttft_ms": fact.ttft_ms, "predicted_ms": fact.predicted_ms, "ratio": fact.ratio},
            reason=fact,
        )
    return None


def _spread(times: Sequence[_Times], confidence: float) -> EarlyWarning | None:
    curve = fitted_curve([each.rate(0.0) for each in times])
    shortest, *longer = ((each, each.against(curve)) for each in times)
    first, ratios_of_first = shortest
    first_spread, distances = _spread_of(ratios_of_first), _distances(ratios_of_first)
    corrected = holm([p_larger(_distances(ratios), distances) for _, ratios in longer])
    for (each, ratios), p_value in zip(longer, corrected, strict=True):
        spread = _spread_of(ratios)
        if spread < max(LEAST_SPREAD, SPREAD * first_spread) or not is_significant(p_value, confidence):
            continue
        fact = TtftSpread(
            tokens=each.length.median_tokens,
            spread=spread,
            shortest_tokens=first.length.median_tokens,
            shortest_spread=first_spread,
            n_requests=len(ratios),
        )
        return EarlyWarning(
            name="latency_spread",
            context_tokens=each.length.asked_tokens,
            median_tokens=fact.tokens,
            figures={"spread": fact.spread, "baseline_spread": fact.shortest_spread},
            reason=fact,
        )
    return None


def _spread_of(ratios: Sequence[float]) -> float:
    """Distance of the quartiles, as a share of the median."""
    low, median, high = statistics.quantiles(ratios, n=4, method="inclusive")
    return (high - low) / median


def _distances(ratios: Sequence[float]) -> list[float]:
    """How far each is from the median, as the logarithm of a ratio."""
    median = statistics.median(ratios)
    return [abs(math.log(ratio / median)) for ratio in ratios]


def _times(groups: Sequence[Group], bins: Sequence[Bin]) -> tuple[_Times, ...]:
    found = (_times_of(group, length) for group, length in zip(groups, bins, strict=True))
    return tuple(times for times in found if times is not None)


def _times_of(group: Group, length: Bin) -> _Times | None:
    """None where too few requests streamed their answer: without a stream the first token comes with the last."""
    timed = [
        item.generation
        for item in fresh_requests(group.samples)
        if item.generation is not None and item.generation.streamed and item.generation.ttft_ms > 0.0
    ]
    if len(timed) < FEWEST:
        return None
    return _Times(
        length=length,
        rates=tuple(each.ttft_ms / computed_tokens(each) for each in timed),
        inverses=tuple(1.0 / computed_tokens(each) for each in timed),
        backs=tuple(map(_tokens_before, timed)),
    )


def _tokens_before(generation: Generation) -> float:
    """Tokens before a computed one, on average."""
    return 0.5 * (generation.prompt_tokens + (generation.cached_tokens or 0))
