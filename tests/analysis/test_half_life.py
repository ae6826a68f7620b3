"""The half-life of recall: curves worked by hand, what has none, and what no relabelling may change."""

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from contextcliff.findings.half_life import HalfLife, decay_misfit, half_life, half_life_lsq
from contextcliff.records.analysis import Bin
from contextcliff.records.note import as_it_is
from tests.make import counted, known
from tests.simulated_reports import CLIFF, findings_in, simulated

HALVING = {1_000: (20, 50), 2_000: (10, 50), 3_000: (5, 50)}
"""0.4, 0.2, 0.1: from 0.8 at length 0, halved every 1,000 tokens."""


def test_means_that_halve_every_thousand_tokens_have_that_half_life() -> None:
    found = half_life(counted(HALVING), 0.95)
    assert (found.tokens, found.censored) == (1_000, False)
    assert found.initial == pytest.approx(0.8)
    assert found.ci_low is not None
    assert found.ci_high is not None
    assert found.ci_low < 1_000 < found.ci_high
    assert str(found.reason) == (
        f"the score halves every 1,000 tokens (95% CI {found.ci_low:,}–{found.ci_high:,}), from 0.80 at length 0, by an"
        " exponential decay fitted to 3 lengths, 150 samples"
    )
    assert half_life_lsq(counted(HALVING)) == 1_000


def test_the_fit_is_the_likeliest_of_a_fine_grid() -> None:
    results = {500: (38, 40), 1_000: (36, 40), 2_000: (30, 40), 4_000: (14, 40)}
    found = half_life(counted(results), 0.95)
    rates, initials = np.meshgrid(math.log(2) / np.linspace(1_500, 6_000, 901), np.linspace(0.8, 1.0, 201))
    likelihood = np.zeros_like(rates)
    for length, (right, n) in results.items():
        likelihood += stats.binom.logpmf(right, n, initials * np.exp(-rates * length))
    best = np.unravel_index(likelihood.argmax(), likelihood.shape)
    assert found.tokens == pytest.approx(math.log(2) / rates[best], abs=5)
    assert found.initial == pytest.approx(initials[best], abs=1e-3)


@pytest.mark.parametrize(("right", "z"), [((44, 40, 36), 2.0), ((43, 40, 37), 1.5)])
def test_the_upper_end_is_missing_exactly_where_the_trend_test_finds_nothing(
    right: tuple[int, int, int], z: float
) -> None:
    """Cochran and Armitage: Σ (right − expected)·(2 − i) / √(0.8 · 0.2 · 50 · 2) against 1.96."""
    assert (right[0] - right[2]) / math.sqrt(0.8 * 0.2 * 50 * 2) == pytest.approx(z)
    found = half_life(counted({1_000 * i: (k, 50) for i, k in enumerate(right, start=1)}), 0.95)
    assert (found.ci_high is None) == (z < 1.96)
    assert str(found.reason).startswith("the score is not shown to fall" if z < 1.96 else "the score halves every")
    assert (found.tokens is None) == (z < 1.96)
    assert found.ci_low is not None


def test_all_right_leaves_a_lower_bound() -> None:
    """With nothing wrong R₀ is 1, and the bound is where (Σ n·L)² = z² · Σ n·L² / (e^(λL) − 1)."""
    found = half_life(counted(dict.fromkeys((1000, 2000, 4000), (50, 50))), 0.95)
    assert (found.tokens, found.ci_high, found.initial, found.censored) == (None, None, None, True)
    assert found.ci_low is not None
    rate, x = math.log(2) / found.ci_low, np.array([1_000.0, 2_000.0, 4_000.0])
    spread = stats.norm.ppf(0.975) ** 2 * (50 * x**2 / np.expm1(rate * x)).sum()
    assert (50 * x.sum()) ** 2 == pytest.approx(spread, rel=1e-4)
    assert str(found.reason) == (
        "every sample has the full score (3 lengths, 150 samples): an exponential decay would take"
        f" {found.ci_low:,} tokens or more to halve it, at 95% confidence"
    )


@pytest.mark.parametrize(
    ("results", "reason"),
    [
        ({}, "a decay takes scores at 3 lengths or more, and there are 0"),
        ({500: (20, 20), 1_000: (5, 20)}, "a decay takes scores at 3 lengths or more, and there are 2"),
        ({500: (20, 20), 1_000: (5, 20), 2_000: (0, 0)}, "a decay takes scores at 3 lengths or more, and there are 2"),
        (
            {500: (0, 20), 1_000: (0, 20), 2_000: (0, 20)},
            "no sample scored above 0 (3 lengths, 60 samples): there is nothing to halve",
        ),
    ],
)
def test_what_has_no_half_life_says_why(results: dict[int, tuple[int, int]], reason: str) -> None:
    found = half_life(counted(results), 0.95)
    assert (found.tokens, found.ci_low, found.ci_high, found.censored) == (None, None, None, False)
    assert str(found.reason) == reason
    assert half_life_lsq(counted(results)) is None


def test_least_squares_weighs_every_length_alike_and_knows_no_bound_on_the_initial_recall() -> None:
    """1.0, 0.5 and 0.25 at 1,000 to 3,000 tokens lie on 2·e^(−λL)."""
    assert half_life_lsq(counted({1_000: (40, 40), 2_000: (20, 40), 3_000: (100, 400)})) == 1_000


FIT = HalfLife(tokens=1_000, ci_low=900, ci_high=1_100, censored=False, reason=as_it_is(""), initial=0.8)
"""0.4 at 1,000 tokens, 0.2 at 2,000."""


def a_bin(tokens: int, mean: float | None, *, low: float = 0.0, high: float = 1.0) -> Bin:
    known = simulated(CLIFF).analysis.bins[0]
    return replace(known, median_tokens=tokens, mean=mean, ci_low=low, ci_high=high)


def test_a_misfit_worked_by_hand() -> None:
    misfit = known(decay_misfit(FIT, [a_bin(1_000, 0.7, low=0.5, high=0.9), a_bin(2_000, 0.1, low=0.0, high=0.3)]))
    assert misfit.largest == pytest.approx(0.3)
    assert misfit.largest_at == 1_000
    assert misfit.rms == pytest.approx(((0.3**2 + 0.1**2) / 2) ** 0.5)
    assert (misfit.outside, misfit.lengths) == (1, 2)


def test_a_cliff_has_no_half_life_and_the_curve_would_miss_it() -> None:
    report = simulated(CLIFF)
    found = findings_in(report).half_life
    assert (found.tokens, found.ci_low, found.ci_high) == (None, None, None)
    low, high = report.analysis.safe_cap.ci_low, known(report.analysis.safe_cap.ci_high)
    assert str(found.reason) == (
        f"the score falls in one step, between {low:,} and {high:,} tokens: that is a cliff, and no decay"
    )
    results = counted({1_000: (40, 40), 2_000: (39, 40), 4_000: (39, 40), 8_000: (2, 40)})
    misfit = known(decay_misfit(half_life(results, 0.95), [result.bin for result in results]))
    assert misfit.rms > 0.1
    assert misfit.outside > 0
