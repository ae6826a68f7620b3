"""The joint test of a score against a share of the baseline."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from statsmodels.stats.proportion import test_proportions_2indep as score_test

from contextcliff.statistics.melding import binary_p_at_most_share, p_at_least_share, p_at_most_share

counts = st.integers(min_value=1, max_value=40).flatmap(
    lambda n: st.tuples(st.integers(min_value=0, max_value=n), st.just(n))
)


def zeros_and_ones(right: int, n: int) -> tuple[float, ...]:
    return (0.0,) * (n - right) + (1.0,) * right


@given(counts, counts)
def test_at_a_share_of_one_it_is_fishers_exact_test(here: tuple[int, int], base: tuple[int, int]) -> None:
    table = np.array([[here[0], here[1] - here[0]], [base[0], base[1] - base[0]]])
    expected = stats.fisher_exact(table, alternative="greater").pvalue
    assert binary_p_at_most_share(*here, *base, 1.0) == pytest.approx(expected, abs=1e-5)


@pytest.mark.parametrize("share", [0.8, 0.85, 0.9])
def test_against_a_perfect_baseline_it_is_the_exact_binomial_test(share: float) -> None:
    expected = stats.binomtest(18, 20, share, alternative="greater").pvalue
    assert binary_p_at_most_share(18, 20, 30, 30, share) == pytest.approx(expected)


def test_in_large_samples_it_agrees_with_the_score_test() -> None:
    expected = score_test(
        1_500, 2_000, 1_800, 2_000, value=0.8, compare="ratio", method="score", alternative="larger"
    ).pvalue
    assert binary_p_at_most_share(1_500, 2_000, 1_800, 2_000, 0.8) == pytest.approx(expected, rel=0.2)


def test_no_success_shows_nothing_whatever_the_baseline() -> None:
    assert binary_p_at_most_share(0, 20, 0, 20, 0.8) == 1.0
    assert binary_p_at_most_share(0, 20, 20, 20, 0.8) == 1.0


@given(counts, counts)
def test_both_forms_agree_on_right_and_wrong(here: tuple[int, int], base: tuple[int, int]) -> None:
    for test in (p_at_most_share, p_at_least_share):
        exact, general = (
            test(zeros_and_ones(*here), zeros_and_ones(*base), 0.8, binary=binary) for binary in (True, False)
        )
        assert general == pytest.approx(exact, abs=1e-3)


@given(counts, counts)
def test_one_more_wrong_answer_here_or_right_one_at_the_baseline_is_never_evidence(
    here: tuple[int, int], base: tuple[int, int]
) -> None:
    p = binary_p_at_most_share(*here, *base, 0.8)
    assert binary_p_at_most_share(here[0], here[1] + 1, *base, 0.8) >= p - 1e-9
    assert binary_p_at_most_share(*here, base[0] + 1, base[1] + 1, 0.8) >= p - 1e-9


@given(counts, counts)
def test_no_score_is_both_above_and_below(here: tuple[int, int], base: tuple[int, int]) -> None:
    scores, baseline = zeros_and_ones(*here), zeros_and_ones(*base)
    above = p_at_most_share(scores, baseline, 0.8, binary=True)
    below = p_at_least_share(scores, baseline, 0.8, binary=True)
    assert above + below >= 1.0 - 1e-6


@pytest.mark.parametrize("share", [0.8, 0.9])
@pytest.mark.parametrize(("n", "base_n"), [(10, 10), (20, 20), (40, 20)])
def test_the_error_rate_at_the_border_is_never_above_alpha(n: int, base_n: int, share: float) -> None:
    """Exact, by enumeration of every pair of counts, over baselines from 0.05 to 1."""
    shown = np.zeros((n + 1, base_n + 1))
    for right, base_right in itertools.product(range(n + 1), range(base_n + 1)):
        shown[right, base_right] = binary_p_at_most_share(right, n, base_right, base_n, share) <= 0.05
    for baseline in np.linspace(0.05, 1.0, 39):
        here = stats.binom.pmf(np.arange(n + 1), n, share * baseline)
        there = stats.binom.pmf(np.arange(base_n + 1), base_n, baseline)
        assert here @ shown @ there <= 0.05 + 1e-9
