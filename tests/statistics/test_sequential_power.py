"""What a sequential test will do, computed beforehand."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from contextcliff.statistics.power import (
    RUNS,
    fewest_perfect,
    fewest_perfect_share,
    profile_power,
    sequential_power,
    share_power,
)
from contextcliff.statistics.sequential import decide
from tests.statistics.simulated_walks import decide_share, most_errors

ALPHA = 0.05


@pytest.mark.parametrize("profile", [(0.7, 0.7), (1.0, 0.5), (0.3, 0.9)])
def test_it_is_what_every_possible_run_gives(profile: tuple[float, ...]) -> None:
    """All 2 ** 10 runs of five blocks of two, each decided by `decide` and weighted by its chance."""
    chances = dict.fromkeys(("above", "below", "open"), 0.0)
    expected = 0.0
    for scores in itertools.product((1.0, 0.0), repeat=10):
        rates = profile * 5
        chance = math.prod(rate if x else 1.0 - rate for x, rate in zip(scores, rates, strict=True))
        result = decide([scores[i : i + 2] for i in range(0, 10, 2)], threshold=0.5, alpha=0.2, below_at=5.0)
        chances[result.kind] += chance
        expected += chance * result.samples
    power = profile_power(profile, threshold=0.5, alpha=0.2, most=10, below_at=5.0)
    assert (power.above, power.below, power.open) == pytest.approx(tuple(chances.values()))
    assert power.expected_samples == pytest.approx(expected)


@given(
    st.lists(st.floats(min_value=0.0, max_value=1.0), min_size=1, max_size=10).map(tuple),
    st.floats(min_value=0.05, max_value=0.95),
    st.floats(min_value=0.01, max_value=0.2),
)
def test_no_profile_errs_more_often_than_alpha(profile: tuple[float, ...], threshold: float, alpha: float) -> None:
    """Exact. Whether the mean of the profile is at most the threshold or at least."""
    power = profile_power(profile, threshold=threshold, alpha=alpha, most=160)
    assert power.above + power.below + power.open == pytest.approx(1.0)
    mean = math.fsum(profile) / len(profile)
    if mean <= threshold:
        assert power.above <= alpha
    if mean >= threshold:
        assert power.below <= 0.05


@pytest.mark.parametrize(
    ("profile", "error"),
    [
        ((0.8,) * 10, 0.0286),
        ((1.0,) * 5 + (0.6,) * 5, 0.0137),
        ((1.0,) * 8 + (0.0,) * 2, 0.0),
        ((1.0,) * 4 + (2.0 / 3.0,) * 6, 0.0181),
    ],
)
def test_the_error_at_the_threshold_by_profile(profile: tuple[float, ...], error: float) -> None:
    """The more the depths differ, the less the sum of a block varies, and the seldomer it errs."""
    assert profile_power(profile, threshold=0.8, alpha=ALPHA, most=160).above == pytest.approx(error, abs=5e-4)


@pytest.mark.parametrize(
    ("rate", "above", "expected"),
    [(1.0, 1.0, 20.0), (0.98, 1.0, 25.0), (0.95, 1.0, 38.8), (0.9, 0.817, 91.4), (0.85, 0.212, 142.0)],
)
def test_power_and_samples_at_the_scores_of_the_plan(rate: float, above: float, expected: float) -> None:
    power = sequential_power(rate, threshold=0.8, alpha=ALPHA, block=10, most=160)
    assert power.above == pytest.approx(above, abs=1e-3)
    assert power.expected_samples == pytest.approx(expected, abs=0.1)


@given(
    st.floats(min_value=0.05, max_value=0.97),
    st.floats(min_value=0.005, max_value=0.2),
    st.integers(min_value=1, max_value=20),
)
def test_the_fewest_perfect_samples_pass_and_one_block_less_does_not(
    threshold: float, alpha: float, block: int
) -> None:
    n = fewest_perfect(threshold, alpha=alpha, block=block)
    assert n is not None
    assert decide([[1.0] * block] * (n // block), threshold=threshold, alpha=alpha).kind == "above"
    assert decide([[1.0] * block] * (n // block - 1), threshold=threshold, alpha=alpha).kind == "open"


def test_the_fewest_perfect_samples_against_a_share_of_a_perfect_baseline() -> None:
    n = fewest_perfect_share(0.8, alpha=ALPHA, block=1)
    assert n == 19
    assert decide_share([[(1.0, 1.0)]] * n, share=0.8, alpha=ALPHA).kind == "above"
    assert decide_share([[(1.0, 1.0)]] * (n - 1), share=0.8, alpha=ALPHA).kind == "open"


def test_no_number_of_samples_shows_a_score_above_one() -> None:
    assert fewest_perfect(1.0, alpha=ALPHA, block=10) is None
    assert fewest_perfect_share(1.0, alpha=ALPHA, block=10) is None
    assert fewest_perfect(0.9999, alpha=ALPHA, block=10) is None


@pytest.mark.parametrize(("rate", "baseline"), [(0.9, 0.9), (0.85, 0.9), (0.3, 0.8)])
def test_decisions_on_simulated_pairs_agree(rate: float, baseline: float) -> None:
    runs, rng = 300, np.random.default_rng(30)
    power = share_power(rate, baseline, share=0.8, alpha=0.05, block=10, most=80)
    pairs = (rng.random((runs, 8, 10, 2)) < (rate, baseline)).astype(float)
    results = [decide_share(run.tolist(), share=0.8, alpha=0.05) for run in pairs]
    for kind, chance in (("above", power.above), ("below", power.below)):
        seen = sum(result.kind == kind for result in results)
        # Both sides are simulated, so the chance is known to four of its standard errors only.
        slack = 4.0 * np.sqrt(0.25 / RUNS)
        assert seen <= most_errors(runs, min(1.0, chance + slack))
        assert runs - seen <= most_errors(runs, min(1.0, 1.0 - chance + slack))
    samples = [result.samples for result in results]
    assert abs(np.mean(samples) - power.expected_samples) <= 4.0 * np.std(samples) * np.sqrt(1 / runs + 1 / RUNS)


def test_perfect_scores_pass_a_perfect_baseline_with_the_fewest_samples() -> None:
    power = share_power(1.0, 1.0, share=0.8, alpha=0.05, block=10, most=160)
    assert (power.above, power.below, power.open) == (1.0, 0.0, 0.0)
    assert power.expected_samples == pytest.approx(20.0)


@pytest.mark.parametrize("baseline", [0.3, 0.6, 0.95, 1.0])
def test_a_score_at_its_share_of_the_baseline_passes_in_at_most_alpha_of_runs(baseline: float) -> None:
    power = share_power(0.8 * baseline, baseline, share=0.8, alpha=0.05, block=10, most=160)
    assert power.above * RUNS <= most_errors(RUNS, 0.05)
    assert power.below * RUNS <= most_errors(RUNS, 0.05)
