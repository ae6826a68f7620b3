"""Do the bounds of samples that share texts keep what they promise? Texts that differ by a beta law, planted.

A text's own rate is drawn from a beta distribution around the true score, so that two samples of one text
have the intra-class correlation planted. With equal texts of 0/1 scores the effective counts depend on nothing but the
sum of the texts' results and of their squares: all outcomes are enumerated, and the error rates are exact.
`benchmarks/clusters_simulated.py` has graded scores too.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from itertools import combinations_with_replacement, compress

import numpy as np
import pytest
from scipy import stats

from contextcliff.records.generation import ScoredSample
from contextcliff.statistics import clusters as module
from contextcliff.statistics import sample_size
from contextcliff.statistics.clusters import Cluster, Evidence
from contextcliff.statistics.intervals import clopper_pearson_low, wilson_of_share
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


def law(m: int, rate: float, correlation: float) -> Sequence[float]:
    """The chance of each number right, of the `m` samples of a text."""
    if correlation == 0.0:
        return stats.binom.pmf(np.arange(m + 1), m, rate).tolist()
    if correlation == 1.0:
        return [1.0 - rate, *(m - 1) * [0.0], rate]
    weight = (1.0 - correlation) / correlation
    return stats.betabinom.pmf(np.arange(m + 1), m, rate * weight, (1.0 - rate) * weight).tolist()


@lru_cache(maxsize=2_048)
def chances(k: int, m: int, rate: float, correlation: float) -> dict[tuple[int, int], float]:
    """The probability of every outcome: `k` texts of `m` samples."""
    table = np.zeros((k * m + 1, k * m * m + 1))
    table[0, 0] = 1.0
    for _ in range(k):
        longer = np.zeros_like(table)
        for y, chance in enumerate(law(m, rate, correlation)):
            longer[y:, y * y :] += chance * table[: table.shape[0] - y, : table.shape[1] - y * y]
        table = longer
    return {key: float(table[key]) for key in outcomes(k, m)}


def evidence(results: Sequence[int], m: int) -> Evidence:
    clusters = tuple(Cluster(total=float(y), scored=m) for y in sorted(results))
    return Evidence(scores=(), binary=True, clusters=clusters)


@lru_cache(maxsize=64)
def lower_bounds(k: int, m: int, assumed: float) -> dict[tuple[int, int], float]:
    """By effective counts, of every outcome. `assumed` is only there to tell the cached tables apart."""
    counts = {key: evidence(results, m).effective_sample(CONFIDENCE) for key, results in outcomes(k, m).items()}
    return {key: clopper_pearson_low(*each, CONFIDENCE) for key, each in counts.items()}


def error(k: int, m: int, rate: float, correlation: float) -> float:
    """How often the one-sided lower bound by effective counts, which no bound exceeds, is above the true score."""
    bounds = lower_bounds(k, m, module.ASSUMED_CORRELATION)
    return sum(p for key, p in chances(k, m, rate, correlation).items() if bounds[key] > rate + 1e-12)


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


@pytest.mark.parametrize("correlation", [0.0, 0.3, 0.6, 0.9, 1.0])
@pytest.mark.parametrize("rate", [0.8, 0.9])
@pytest.mark.parametrize(("k", "m"), [(4, 5), (8, 5), (10, 2), (14, 2), (19, 2)])
def test_few_texts_show_no_more_however_alike_the_answers_to_one_are(
    k: int, m: int, rate: float, correlation: float
) -> None:
    """By effective counts alone eight texts err in 16.8% where they are right or wrong as a whole."""
    of_text, found = law(m, rate, correlation), 0.0
    for results in combinations_with_replacement(range(m + 1), k):
        times = Counter(results)
        chance = math.factorial(k) * math.prod(of_text[y] ** n / math.factorial(n) for y, n in times.items())
        found += chance if chance > 1e-9 and evidence(results, m).lower(CONFIDENCE) > rate + 1e-12 else 0.0
    assert found <= ALPHA


@pytest.mark.parametrize(("threshold", "fewest"), [(0.5, 5), (0.8, 14), (0.9, 29)])
def test_texts_that_are_all_right_show_no_more_than_their_number(threshold: float, fewest: int) -> None:
    assert fewest == math.ceil(math.log(ALPHA) / math.log(threshold)) == sample_size.fewest_all_right(threshold, 0.95)
    assert evidence([5] * (fewest - 1), 5).lower(0.95) < threshold <= evidence([5] * fewest, 5).lower(0.95)


@pytest.mark.parametrize("results", [(0,) * 8, (5,) * 24, (0, 1, 2, 3, 4, 5, 5, 5), (0, 4, *(5,) * 22)])
def test_the_upper_bound_is_the_lower_one_of_what_is_wrong(results: Sequence[int]) -> None:
    wrong = evidence([5 - y for y in results], 5)
    assert evidence(results, 5).upper(CONFIDENCE) == pytest.approx(1.0 - wrong.lower(CONFIDENCE))


@pytest.mark.parametrize(("k", "m"), [(4, 5), (8, 5), (8, 10), (16, 5)])
def test_the_shown_interval_covers_at_least_as_promised(k: int, m: int) -> None:
    """Wilson's by effective counts, which that of few texts has in it."""
    counts = {key: evidence(each, m).effective_sample(0.5 * (1.0 + CONFIDENCE)) for key, each in outcomes(k, m).items()}
    intervals = {key: wilson_of_share(right / n, n, CONFIDENCE) for key, (right, n) in counts.items()}
    for correlation in (0.0, 0.1, 0.3):
        for rate in np.round(np.arange(0.05, 0.96, 0.05), 2).tolist():
            within = [low - 1e-12 <= rate <= high + 1e-12 for low, high in intervals.values()]
            assert sum(compress(chances(k, m, rate, correlation).values(), within)) >= 0.95


def drawn(rng: np.random.Generator, length: int, k: int, m: int, rate: float, correlation: float) -> list[ScoredSample]:
    right = rng.choice(m + 1, k, p=law(m, rate, correlation))
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
RUNS = 300


@pytest.mark.parametrize("relative", [False, True])
@pytest.mark.parametrize(("k", "correlation"), [(8, 1.0), (16, 0.3), (24, 1.0)])
def test_the_cap_is_above_a_planted_cliff_no_more_often_than_the_confidence_allows(
    k: int, correlation: float, relative: bool
) -> None:
    """Lengths beyond the cliff score the threshold itself, which is the hardest to tell from good."""
    rng, wrong, first = np.random.default_rng(40 + k), 0, 1.0 if correlation == 1.0 else 0.97
    for _ in range(RUNS):
        rates = {500: first, PLANTED: first, 2_000: 0.8 * first if relative else 0.8}
        samples = [each for length, rate in rates.items() for each in drawn(rng, length, k, 5, rate, correlation)]
        wrong += (analysed(samples, relative=relative, finders=()).safe_cap.tokens or 0) > PLANTED
    assert wrong <= allowed(ALPHA, RUNS)
