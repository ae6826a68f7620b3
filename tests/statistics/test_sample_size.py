"""Sample sizes for 0/1 scores, the smallest drop that samples detect, and how many pairs settle a comparison."""

import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from contextcliff.statistics.intervals import clopper_pearson_low
from contextcliff.statistics.pairs import (
    Unit,
    Units,
    p_better_of_blocks,
    p_worse_of_blocks,
    pairs_for_non_inferiority,
    pairs_for_worse,
    sequential_difference,
    tango,
)
from contextcliff.statistics.sample_size import (
    cautious_mean,
    detectable_drop,
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


def test_hand_worked_small_numbers() -> None:
    # 3 of 3 against 0 of 3 has p = 1/20: it just reaches 95%; so it takes a fall to almost nothing.
    assert detectable_drop(2, confidence=0.95) is None
    assert detectable_drop(0, confidence=0.95) is None
    detected = detectable_drop(5, confidence=0.95)
    assert detected is not None
    assert detected > 0.8


@settings(max_examples=12, deadline=None)
@given(st.integers(min_value=6, max_value=60))
def test_more_samples_detect_no_larger_drop(samples: int) -> None:
    fewer, more = (detectable_drop(n, confidence=0.95) for n in (samples, 2 * samples))
    assert fewer is not None
    assert more is not None
    assert more <= fewer


@pytest.mark.slow
def test_the_approximation_takes_over_where_it_is_close() -> None:
    exact, approximate = (detectable_drop(n, confidence=0.95) for n in (250, 251))
    assert exact is not None
    assert approximate is not None
    assert abs(exact - approximate) < 0.01


@pytest.mark.parametrize("samples", [20, 60])
def test_a_drop_that_is_called_detectable_is_found_four_times_in_five(samples: int) -> None:
    drop = detectable_drop(samples, confidence=0.95)
    assert drop is not None
    rng, detected, runs = random.Random(samples), 0, 1_000
    for _ in range(runs):
        before = sum(rng.random() < 0.95 for _ in range(samples))
        after = sum(rng.random() < 0.95 - drop for _ in range(samples))
        table = np.array([[after, samples - after], [before, samples - before]])
        detected += bool(stats.fisher_exact(table, alternative="less").pvalue <= 0.05)
    # Four standard deviations of a thousand draws at .8.
    assert detected / runs > 0.8 - 4 * (0.8 * 0.2 / runs) ** 0.5


def test_five_points_take_some_250_pairs_where_a_tenth_differ() -> None:
    needed = pairs_for_non_inferiority(variance=0.1, margin=0.05, difference=0.0, confidence=0.95)
    assert needed == 248


def test_the_planned_pairs_show_it_as_often_as_planned() -> None:
    n = 248
    drawn = np.random.default_rng(1).multinomial(n, [0.05, 0.05, 0.9], size=2_000)
    shown = sum(tango(better=int(b), worse=int(w), n=n, confidence=0.95)[0] > -0.05 for b, w, _ in drawn)
    assert 0.76 <= shown / 2_000 <= 0.86


def test_a_candidate_beyond_the_margin_is_never_shown_to_be_within_it() -> None:
    assert pairs_for_non_inferiority(variance=0.1, margin=0.05, difference=-0.05, confidence=0.95) is None
    assert pairs_for_worse(variance=0.1, difference=0.0, confidence=0.95) is None
    assert pairs_for_worse(variance=0.1, difference=-0.1, confidence=0.95) == 79


def test_bets_on_pairs_see_a_block_in_which_everything_is_worse() -> None:
    worse = [Units.single([-1.0] * 11)]
    assert p_worse_of_blocks(worse) < 0.005
    assert p_better_of_blocks(worse) == 1.0


def test_pairs_that_do_not_differ_neither_win_nor_lose() -> None:
    some = [Units.single([-1.0, 0.0, -1.0, 1.0])]
    assert p_worse_of_blocks([*some, Units.single([0.0] * 11)]) == pytest.approx(p_worse_of_blocks(some))


def test_the_confidence_sequence_holds_the_mean_and_is_wider_than_an_interval_for_a_fixed_number() -> None:
    blocks = [Units.single([-1.0, 1.0, *[0.0] * 9]), Units.single([-1.0, *[0.0] * 10])] * 4
    found = sequential_difference(blocks, 0.95)
    low, high = tango(better=4, worse=8, n=88, confidence=0.95)
    assert found.low < low < found.mean < high < found.high


def test_texts_count_once_in_bets_on_them() -> None:
    texts = [Units.of(Unit(total=-5.0, pairs=5) for _ in range(4))]
    assert p_worse_of_blocks(texts) == p_worse_of_blocks([Units.single([-1.0] * 4)])
