"""What the times of requests say: the time to read a prompt, by length, and the cap rule `latency`.

Only requests count whose prompt the server had to read (`analysis.bins.fresh_requests`).

The cap is the last length, from the shortest up, at which the share of requests whose whole answer came within
`analysis.latency_slo_ms` is shown to be above `analysis.latency_slo_share`, by the exact one-sided binomial bound at
the analysis' confidence. The order is fixed beforehand, so that no correction is needed. A sample without an answer
counts as too late.
"""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass

from contextcliff.analysis.bins import Group, computed_tokens, fresh_requests, streamed_requests
from contextcliff.analysis.study import Study
from contextcliff.findings.finding import Block, Heading, Table, Text, columns
from contextcliff.findings.phrases import milliseconds, percent, score, whole
from contextcliff.records.analysis import Bin
from contextcliff.statistics.intervals import clopper_pearson_low
from contextcliff.statistics.prefill_curve import PrefillCurve, PrefillRate, fitted_curve, predicted, typical

FEWEST = 4
"""Requests at a length, below which its times are not looked at."""


@dataclass(frozen=True, kw_only=True, slots=True)
class WithinLimit:
    """The requests of one length that were answered in time."""

    context_tokens: int
    """As asked."""
    n_requests: int
    n_within: int
    ci_low: float
    """One-sided lower bound of the share, at the analysis' confidence."""
    clears: bool


@dataclass(frozen=True, kw_only=True, slots=True)
class LatencyCap:
    """The cap by latency; `tokens` is None where not even the shortest length clears."""

    tokens: int | None
    slo_ms: float
    share: float
    lengths: tuple[WithinLimit, ...]


def latency_cap(study: Study) -> LatencyCap | None:
    """The cap, or None where no limit is set."""
    limit, share = study.settings.latency_slo_ms, study.settings.latency_slo_share
    if limit is None:
        return None
    lengths = []
    for group in study.groups:
        times = [item.generation.latency_ms for item in fresh_requests(group.samples) if item.generation is not None]
        n = len(times) + sum(item.generation is None for item in group.samples)
        within = sum(time <= limit for time in times)
        low = clopper_pearson_low(within, n, study.confidence)
        lengths.append(
            WithinLimit(
                context_tokens=group.asked_tokens, n_requests=n, n_within=within, ci_low=low, clears=low > share
            )
        )
    cleared = next((place for place, each in enumerate(lengths) if not each.clears), len(lengths))
    tokens = None
    if cleared:
        tokens = study.bins[cleared - 1].clears_up_to
    return LatencyCap(tokens=tokens, slo_ms=limit, share=share, lengths=tuple(lengths))


def show_cap(cap: LatencyCap, confidence: str) -> tuple[Block, ...]:
    """What a page shows of the cap by latency."""
    meaning = (
        f"A length clears where at least {percent(cap.share)} of its requests are shown to end within"
        f" {milliseconds(cap.slo_ms)}, at {confidence} confidence; a sample without an answer counts as late."
    )
    table = columns(
        cap.lengths,
        ("asked", lambda row: whole(row.context_tokens)),
        ("requests", lambda row: whole(row.n_requests)),
        ("in time", lambda row: whole(row.n_within)),
        ("tested bound", lambda row: score(row.ci_low)),
        ("clears", lambda row: "yes" if row.clears else "no"),
        words=("clears",),
    )
    return (Heading(text="Limit on latency"), Text(text=meaning), Table(columns=table))


@dataclass(frozen=True, kw_only=True, slots=True)
class Times:
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
        """The typical time per computed token, with its interval."""
        return PrefillRate(
            inverse=statistics.median(self.inverses),
            back=statistics.median(self.backs),
            typical=typical(self.rates, confidence),
        )

    def against(self, curve: PrefillCurve) -> list[float]:
        """The time of each request over what the curve predicts for it."""
        return [
            rate / curve.rate(inverse=inverse, back=back)
            for rate, inverse, back in zip(self.rates, self.inverses, self.backs, strict=True)
        ]


def times_by_length(groups: Sequence[Group], bins: Sequence[Bin]) -> list[Times]:
    """The times of each length where enough requests streamed: else the first token comes with the last."""
    found = []
    for group, length in zip(groups, bins, strict=True):
        timed = [each for each in streamed_requests(group.samples) if each.ttft_ms > 0.0]
        if len(timed) >= FEWEST:
            rates = tuple(each.ttft_ms / computed_tokens(each) for each in timed)
            inverses = tuple(1.0 / computed_tokens(each) for each in timed)
            backs = tuple(0.5 * (each.prompt_tokens + (each.cached_tokens or 0)) for each in timed)
            found.append(Times(length=length, rates=rates, inverses=inverses, backs=backs))
    return found


def spread_of(ratios: Sequence[float]) -> float:
    """Distance of the quartiles, as a share of the median."""
    low, median, high = statistics.quantiles(ratios, n=4, method="inclusive")
    return (high - low) / median


@dataclass(frozen=True, kw_only=True, slots=True)
class PrefillAtLength:
    """The time to the first token at one length, over the requests that the server had to read."""

    context_tokens: int
    """As asked."""
    n_requests: int
    ttft_ms: float
    """The Hodges-Lehmann estimate, at the median number of tokens that were read: what is compared with the curve.

    The one that is shown is the median (`Bin.ttft_ms_median`)."""
    predicted_ms: float | None
    """By the prefill curve of the shorter lengths; None at the shortest."""
    ms_per_token: float
    """The same for each token that was read."""
    spread: float
    """Distance of the quartiles of the times over what the curve of all lengths predicts, as a share of the median."""


def prefill_by_length(groups: Sequence[Group], bins: Sequence[Bin]) -> tuple[PrefillAtLength, ...]:
    """The times of every length with enough requests, shortest first; `bins` are those of the groups."""
    times = times_by_length(groups, bins)
    if not times:
        return ()
    rates = [each.rate(0.0) for each in times]
    curve = fitted_curve(rates)
    return tuple(
        PrefillAtLength(
            context_tokens=each.length.asked_tokens, n_requests=len(each.rates),
            ttft_ms=rates[place].typical.value * each.computed,
            predicted_ms=predicted(rates[:place], rates[place]) * each.computed if place else None,
            ms_per_token=rates[place].typical.value, spread=spread_of(each.against(curve)),
        )
        for place, each in enumerate(times)
    )  # fmt: skip


_READ = (
    "Of requests whose prompt the server had to read. Predicted: the time to the first token by the curve of the"
    " shorter lengths. Spread: the distance of the quartiles over the median."
)


def show_prefill(rows: Sequence[PrefillAtLength]) -> tuple[Block, ...]:
    """What a page shows of the times to the first token."""
    table = columns(
        rows,
        ("asked", lambda row: whole(row.context_tokens)),
        ("n", lambda row: whole(row.n_requests)),
        ("predicted", lambda row: milliseconds(row.predicted_ms)),
        ("ms per token", lambda row: f"{row.ms_per_token:.3g}"),
        ("spread", lambda row: percent(row.spread)),
    )
    return (Heading(text="Time to read the prompt"), Text(text=_READ), Table(columns=table))
