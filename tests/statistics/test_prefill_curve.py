"""Times that follow a prefill curve, and times that leave it."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from contextcliff.statistics.prefill_curve import PrefillRate, Typical, follows_a_curve, predicted, typical

LENGTHS = (500, 1_000, 2_000, 4_000, 8_000)
parts = st.floats(min_value=0.0, max_value=10.0)


def at(length: int, rate: float, *, width: float = 0.0) -> PrefillRate:
    """A rate with an interval of so much on either side."""
    interval = Typical(value=rate, low=rate * (1.0 - width), high=rate * (1.0 + width))
    return PrefillRate(inverse=1.0 / length, back=0.5 * length, typical=interval)


def curve(fixed: float, token: float, attention: float, lengths: Sequence[int] = LENGTHS) -> list[PrefillRate]:
    return [at(n, fixed / n + token + 0.5 * attention * n, width=0.02) for n in lengths]


def test_the_estimate_is_the_median_of_all_pairwise_means_of_the_logarithms() -> None:
    """Logarithms 0, 1 and 4: pairwise means 0, .5, 1, 2, 2.5 and 4."""
    assert typical([1.0, math.e, math.e**4], 0.5).value == pytest.approx(math.exp(1.5))


def test_the_interval_inverts_the_signed_rank_test_of_scipy() -> None:
    rng = np.random.default_rng(1)
    for n in (6, 12, 20, 30):
        values = np.exp(rng.normal(0.0, 0.3, n))
        result = typical(values.tolist(), 0.95)
        for end, step in ((result.low, -1e-6), (result.high, 1e-6)):
            inside, outside = (
                stats.wilcoxon(np.log(values) - math.log(end) - move, method="exact").pvalue for move in (-step, step)
            )
            assert inside > 0.05 >= outside


def test_too_few_values_have_no_interval() -> None:
    assert typical([1.0] * 5, 0.95) == Typical(value=1.0, low=0.0, high=math.inf)
    assert typical([1.0] * 6, 0.95) == Typical(value=1.0, low=1.0, high=1.0)


def test_of_very_many_values_some_stand_for_all() -> None:
    values = np.exp(np.random.default_rng(2).normal(0.0, 0.2, 40_000))
    result = typical(values.tolist(), 0.95)
    assert result.low < 1.0 < result.high
    assert result.value == pytest.approx(1.0, abs=0.01)
    assert result.high / result.low < 1.06


@given(st.lists(st.floats(min_value=1e-3, max_value=1e6), min_size=1, max_size=30))
def test_the_interval_holds_the_estimate_and_does_not_depend_on_the_order(values: list[float]) -> None:
    result, other = typical(values, 0.9), typical(values[::-1], 0.9)
    assert result.low <= result.value * (1 + 1e-12)
    assert result.value <= result.high * (1 + 1e-12)
    assert result == other


@given(parts, parts, parts)
def test_every_curve_without_a_negative_part_is_one(fixed: float, token: float, attention: float) -> None:
    if fixed + token + attention > 1e-3:
        assert follows_a_curve(curve(100.0 * fixed, token, 1e-4 * attention))


@pytest.mark.parametrize("begins", LENGTHS[1:])
def test_a_step_is_no_curve(begins: int) -> None:
    stepped = [at(n, 0.5 * (3.0 if n >= begins else 1.0), width=0.05) for n in LENGTHS]
    assert not follows_a_curve(stepped)


@pytest.mark.parametrize(("fixed", "token", "attention"), [(0.0, 2.0, 0.0), (300.0, 2.0, 0.0), (50.0, 1.0, 1e-3)])
def test_a_curve_through_three_lengths_predicts_the_fourth(fixed: float, token: float, attention: float) -> None:
    *shorter, last = curve(fixed, token, attention, (500, 1_000, 2_000, 8_000))
    assert predicted(shorter, last) == pytest.approx(last.typical.value)


def test_two_lengths_predict_by_what_their_rates_do_and_one_predicts_its_own() -> None:
    assert predicted([at(1_000, 2.0)], at(9_000, 1.0)) == pytest.approx(2.0)
    falling = [at(1_000, 2.0), at(2_000, 1.5)]
    assert predicted(falling, at(4_000, 1.0)) == pytest.approx(1.25)
    rising = [at(1_000, 2.0), at(2_000, 3.0)]
    assert predicted(rising, at(4_000, 1.0)) == pytest.approx(5.0)


@pytest.mark.slow
@pytest.mark.parametrize("noise", ["lognormal", "a tenth of the requests ten times as long"])
@pytest.mark.parametrize("n", [8, 20, 80])
def test_the_coverage_of_the_interval(noise: str, n: int) -> None:
    """The pseudo-median of symmetric noise is its median; a tenth of outliers on one side moves it a little."""
    rng, covered = np.random.default_rng(3), 0
    for _ in range(2_000):
        logs = rng.normal(0.0, 0.2, n)
        if noise != "lognormal":
            logs += np.where(rng.random(n) < 0.1, math.log(10.0), 0.0)
        result = typical(np.exp(logs).tolist(), 0.95)
        covered += result.low <= (1.0 if noise == "lognormal" else math.exp(0.034)) <= result.high
    assert covered / 2_000 >= 0.93
