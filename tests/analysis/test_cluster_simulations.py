"""Do the bounds of samples that share texts keep what they promise? Texts that differ by a beta law, planted.

A text's own rate is drawn from a beta distribution around the true score, so that two samples of one text
have the intra-class correlation planted. With equal texts of 0/1 scores the bounds depend on nothing but the sum of
the texts' results and of their squares: all outcomes are enumerated, and the error rates are exact.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import numpy as np
import pytest
from scipy import stats

from contextcliff.records.analysis import SafeCap
from contextcliff.records.generation import ScoredSample
from contextcliff.statistics import clusters as module
from contextcliff.statistics.clusters import Cluster, Evidence
from tests.make import analysed, of, scored_sample, texts
from tests.statistics.simulated_walks import allowed

pytestmark = pytest.mark.slow

CONFIDENCE = 0.95
ALPHA = 0.05
Outcomes = dict[tuple[int, int], tuple[int, ...]]
"""One composition of results a text for every (sum, sum of squares)."""


@lru_cache(maxsize=64)
def outcomes(k: int, m: int) -> Outcomes:
    found: Outcomes = {(0, 0): ()}
    for _ in range(k):
        longer: Outcomes = {}
        for (total, squares), results in found.items():
            for y in range(m + 1):
                longer.setdefault((total + y, squares + y * y), (*results, y))
        found = longer
    return found


@lru_cache(maxsize=2_048)
def chances(k: int, m: int, rate: float, correlation: float) -> dict[tuple[int, int], float]:
    """The probability of every outcome: `k` texts of `m` samples."""
    if correlation == 0.0:
        law = stats.binom.pmf(np.arange(m + 1), m, rate)
    else:
        weight = (1.0 - correlation) / correlation
        law = stats.betabinom.pmf(np.arange(m + 1), m, rate * weight, (1.0 - rate) * weight)
    table = np.zeros((k * m + 1, k * m * m + 1))
    table[0, 0] = 1.0
    for _ in range(k):
        longer = np.zeros_like(table)
        for y, chance in enumerate(law):
            longer[y:, y * y :] += chance * table[: table.shape[0] - y, : table.shape[1] - y * y]
        table = longer
    return {key: float(table[key]) for key in outcomes(k, m)}


def evidence(results: Sequence[int], m: int) -> Evidence:
    clusters = tuple(Cluster(total=float(y), scored=m) for y in sorted(results))
    return Evidence(scores=(), binary=True, clusters=clusters)


@lru_cache(maxsize=64)
def lower_bounds(k: int, m: int, assumed: float) -> dict[tuple[int, int], float]:
    """Of every outcome. `assumed` is only there to tell the cached tables apart."""
    return {key: evidence(results, m).lower(CONFIDENCE) for key, results in outcomes(k, m).items()}


def error(k: int, m: int, rate: float, correlation: float) -> float:
    """How often the one-sided lower bound is above the true score."""
    bounds = lower_bounds(k, m, module.ASSUMED_CORRELATION)
    return sum(p for key, p in chances(k, m, rate, correlation).items() if bounds[key] > rate + 1e-12)


@pytest.mark.parametrize("rate", [0.8, 0.9, 0.95])
@pytest.mark.parametrize("correlation", [0.0, 0.1, 0.3])
@pytest.mark.parametrize("k", [8, 16])
def test_the_bound_is_above_the_true_score_in_no_more_than_5_percent_of_runs(
    k: int, correlation: float, rate: float
) -> None:
    found = error(k, 5, rate, correlation)
    assert found <= ALPHA


@pytest.mark.parametrize(("k", "m"), [(4, 5), (8, 2), (8, 5), (8, 10), (16, 5), (16, 10), (24, 5)])
def test_at_no_score_between_a_half_and_1_is_the_error_more_than_marginally_above_5_percent(k: int, m: int) -> None:
    """The largest over 49 scores and four correlations: 5.1% for 16 texts of 10 at 0.93, elsewhere below."""
    rates = np.round(np.arange(0.5, 0.985, 0.01), 2).tolist()
    found = max(error(k, m, rate, correlation) for rate in rates for correlation in (0.0, 0.1, 0.2, 0.3))
    assert found <= 0.052


def test_without_an_assumed_correlation_the_method_would_be_too_sure_of_few_failures(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Korn and Graubard's counts with a design effect of at least 1: about 8% where 9 in 10 are right."""
    caches = (module.design_effect_of, module.effective_sample)
    monkeypatch.setattr(module, "ASSUMED_CORRELATION", 0.0)
    for cache in caches:
        cache.cache_clear()
    try:
        found = {(k, rate): error(k, 5, rate, 0.3) for k in (8, 16) for rate in (0.8, 0.9, 0.95)}
    finally:
        for cache in caches:
            cache.cache_clear()
    assert found[8, 0.9] > 0.075
    assert found[16, 0.95] > 0.08


@pytest.mark.parametrize("correlation", [0.0, 0.1, 0.3])
@pytest.mark.parametrize("k", [8, 16])
def test_the_upper_bound_is_below_the_true_score_as_rarely(k: int, correlation: float) -> None:
    bounds = {key: evidence(results, 5).upper(CONFIDENCE) for key, results in outcomes(k, 5).items()}
    for rate in (0.05, 0.2, 0.3, 0.5, 0.8, 0.95):
        wrong = sum(p for key, p in chances(k, 5, rate, correlation).items() if bounds[key] < rate - 1e-12)
        assert wrong <= ALPHA


@pytest.mark.parametrize(("k", "m"), [(4, 5), (8, 5), (8, 10), (16, 5)])
def test_the_shown_interval_covers_at_least_as_promised(k: int, m: int) -> None:
    intervals = {key: evidence(results, m).shown(CONFIDENCE) for key, results in outcomes(k, m).items()}
    least = 1.0
    for correlation in (0.0, 0.1, 0.3):
        for rate in np.round(np.arange(0.05, 0.96, 0.05), 2).tolist():
            covered = sum(
                p
                for key, p in chances(k, m, rate, correlation).items()
                if intervals[key][0] - 1e-12 <= rate <= intervals[key][1] + 1e-12
            )
            least = min(least, covered)
    assert least >= 0.95


def drawn(rng: np.random.Generator, length: int, k: int, m: int, rate: float, correlation: float) -> list[ScoredSample]:
    weight = (1.0 - correlation) / correlation
    right = rng.binomial(m, rng.beta(rate * weight, (1.0 - rate) * weight, k))
    return texts(length, *((int(y), m) for y in right))


@pytest.mark.parametrize("correlation", [0.1, 0.3])
def test_texts_of_different_sizes_and_fractional_scores_and_missing_ones(correlation: float) -> None:
    """Ten texts of 1 to 9 samples, scores of 0, 0.5 and 1 with the mean 0.85, one sample in twenty unscored."""
    rng = np.random.default_rng(12)
    runs, rate, wrong = 600, 0.85, 0
    weight = (1.0 - correlation) / correlation
    for _ in range(runs):
        samples: list[ScoredSample] = []
        for i in range(10):
            size = int(rng.integers(1, 10))
            of_text = rng.beta(rate * weight, (1.0 - rate) * weight)
            scores = rng.binomial(2, of_text, size) / 2.0
            missing = rng.random(size) < 0.05
            made = [
                scored_sample(500, None if gone else float(score)) for score, gone in zip(scores, missing, strict=True)
            ]
            samples += of(f"t{i}", made)
        low = analysed(samples, finders=()).bins[0].tested_low
        wrong += low is not None and low > rate
    assert wrong <= allowed(ALPHA, runs)


PLANTED = 1_000
RUNS = 600


def caps(k: int, *, beyond: float, relative: bool, first: float = 0.97) -> list[SafeCap]:
    rng = np.random.default_rng(40 + k)
    found = []
    for _ in range(RUNS):
        samples = [
            *drawn(rng, 500, k, 5, first, 0.3),
            *drawn(rng, PLANTED, k, 5, first, 0.3),
            *drawn(rng, 2_000, k, 5, beyond, 0.3),
            *drawn(rng, 4_000, k, 5, beyond, 0.3),
        ]
        found.append(analysed(samples, relative=relative, finders=()).safe_cap)
    return found


def above(found: Sequence[SafeCap]) -> int:
    return sum(cap.tokens is not None and cap.tokens > PLANTED for cap in found)


@pytest.mark.parametrize("relative", [False, True])
@pytest.mark.parametrize("k", [8, 16])
def test_the_cap_is_above_a_planted_cliff_no_more_often_than_the_confidence_allows(k: int, relative: bool) -> None:
    """Lengths beyond the cliff score the threshold itself, which is the hardest to tell from good."""
    found = caps(k, beyond=0.8 * 0.97 if relative else 0.8, relative=relative)
    assert above(found) <= allowed(ALPHA, RUNS)


def test_a_score_at_the_threshold_from_the_start_has_a_cap_no_more_often() -> None:
    found = caps(16, beyond=0.8, relative=False, first=0.8)
    assert sum(cap.tokens is not None for cap in found) <= allowed(ALPHA, RUNS)
