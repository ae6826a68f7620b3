"""Sample sizes for 0/1 scores, checked with the binomial distribution."""

import pytest
from scipy import stats

from contextcliff.statistics.intervals import clopper_pearson_low
from contextcliff.statistics.sample_size import (
    cautious_mean,
    fewest_all_right,
    to_show_above,
    to_show_above_share,
    to_show_below,
)


def power_above(n: int, rate: float, threshold: float) -> float:
    clearing = [k for k in range(n + 1) if clopper_pearson_low(k, n, 0.95) >= threshold]
    return float(sum(stats.binom.pmf(k, n, rate) for k in clearing))


def power_below(n: int, rate: float, threshold: float) -> float:
    falling = [k for k in range(n + 1) if 1.0 - clopper_pearson_low(n - k, n, 0.95) < threshold]
    return float(sum(stats.binom.pmf(k, n, rate) for k in falling))


@pytest.mark.parametrize(("threshold", "fewest"), [(0.5, 5), (0.8, 14), (0.9, 29), (0.95, 59), (1.0, None)])
def test_fewest_samples_for_a_perfect_score(threshold: float, fewest: int | None) -> None:
    assert fewest_all_right(threshold, 0.95) == fewest


@pytest.mark.parametrize("rate", [0.9, 0.95, 0.99, 0.1, 0.5, 0.6])
def test_the_first_size_with_80_percent_power(rate: float) -> None:
    to_show, power = (to_show_above, power_above) if rate > 0.8 else (to_show_below, power_below)
    n = to_show(rate, 0.8, 0.95)
    assert n is not None
    assert power(n, rate, 0.8) >= 0.8
    assert all(power(m, rate, 0.8) < 0.8 for m in range(1, n))


def test_a_share_of_the_baseline_takes_more_than_a_fixed_threshold() -> None:
    alone, both = to_show_above(0.9, 0.76, 0.95), to_show_above_share(0.9, 0.95, 0.8, 0.95)
    assert alone is not None
    assert both is not None
    assert both > alone


def test_the_observed_rate_is_shrunk_but_not_across_the_threshold() -> None:
    assert cautious_mean(36 / 40, 40, 0.8) == pytest.approx(37 / 42)
    assert cautious_mean(5 / 6, 6, 0.8) == pytest.approx(5 / 6)
