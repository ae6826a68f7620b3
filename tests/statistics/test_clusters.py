"""Samples that share a text: how many independent ones they are worth, and draws of their means."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from contextcliff.statistics.clusters import (
    ASSUMED_CORRELATION,
    Cluster,
    Evidence,
    LengthScores,
    are_clustered,
    assumed_design_effect,
    clusters_from,
    design_effect_of,
    drawn_means,
    effective_sample,
    p_at_least_share,
    p_at_most_share,
    pooled_design_effect,
    samples_worth,
    variance_of_mean,
)
from contextcliff.statistics.intervals import wilson_of_share
from contextcliff.statistics.melding import binary_p_at_least_share, binary_p_at_most_share
from tests.make import known


def clusters(*results: tuple[float, int]) -> tuple[Cluster, ...]:
    """Clusters of `(sum of the scores, scored samples)`."""
    return tuple(Cluster(total=float(total), scored=n) for total, n in results)


FOUR = clusters((2, 5), (4, 5), (5, 5), (5, 5))
"""16 of 20 right; squared distances from the mean 4 + 0 + 1 + 1."""
MANY = FOUR * 6
"""As many as tell how they differ: their means have nothing more to show."""


def evidence(result: tuple[Cluster, ...], *, binary: bool = True) -> Evidence:
    return Evidence(scores=(), binary=binary, clusters=result)


def test_the_design_effect_worked_by_hand() -> None:
    assert variance_of_mean(FOUR) == pytest.approx(4 / 3 * 6 / 20**2)
    assert design_effect_of(FOUR) == pytest.approx(0.02 / (0.8 * 0.2 / 20))


def test_the_effective_counts_worked_by_hand() -> None:
    by_t = (stats.t.ppf(0.95, 19) / stats.t.ppf(0.95, 3)) ** 2
    right, n = effective_sample(FOUR, 0.95)
    assert n == pytest.approx(20 / 2.5 * by_t)
    assert n == pytest.approx(4.319, abs=1e-3)
    assert right == pytest.approx(0.8 * n)


def test_the_bounds_are_clopper_and_pearsons_and_wilsons_on_the_effective_counts() -> None:
    (right, n), (_, shown) = effective_sample(MANY, 0.95), effective_sample(MANY, 0.975)
    result = evidence(MANY)
    assert result.lower(0.95) == pytest.approx(stats.beta.ppf(0.05, right, n - right + 1))
    assert result.upper(0.95) == pytest.approx(stats.beta.ppf(0.95, right + 1, n - right))
    assert result.shown(0.95) == wilson_of_share(0.8, shown, 0.95)


def test_texts_that_differ_no_more_than_chance_still_have_the_assumed_correlation() -> None:
    alike = clusters((4, 5), (4, 5), (4, 5), (4, 5))
    assert variance_of_mean(alike) == 0.0
    assert design_effect_of(alike) == pytest.approx(1 + ASSUMED_CORRELATION * 4)
    assert assumed_design_effect(clusters((1, 2), (6, 6))) == pytest.approx(1 + ASSUMED_CORRELATION * (40 / 8 - 1))


def test_texts_that_are_all_right_are_worth_as_many_independent_samples_as_there_are_texts() -> None:
    """By effective counts alone they would show 0.859."""
    perfect = evidence(clusters(*[(5, 5)] * 8))
    assert perfect.lower(0.95) == pytest.approx(0.05 ** (1 / 8))
    assert perfect.shown(0.95) == pytest.approx((0.025 ** (1 / 8), 1.0))
    assert perfect.upper(0.95) == 1.0
    assert evidence(clusters(*[(0, 5)] * 8)).upper(0.95) == pytest.approx(1 - perfect.lower(0.95))


def test_melding_takes_the_effective_counts_of_both_lengths() -> None:
    here, there = evidence(MANY), Evidence(scores=(0.0,) + (1.0,) * 9, binary=True)
    worth = effective_sample(MANY, 0.95)
    assert p_at_most_share(here, there, 0.8, 0.95) == binary_p_at_most_share(*worth, 9, 10, 0.8)
    assert p_at_least_share(there, here, 0.8, 0.95) == binary_p_at_least_share(9, 10, *worth, 0.8)


@pytest.mark.parametrize("k", [8, 13, 14, 20])
def test_against_a_perfect_baseline_it_is_the_test_against_its_share(k: int) -> None:
    right = evidence(clusters(*[(5, 5)] * k))
    assert p_at_most_share(right, right, 0.8, 0.95) == pytest.approx(0.8**k)


def test_the_melded_p_value_of_fractions_of_a_sample_lies_between_those_of_whole_numbers() -> None:
    fewer, between, more = (binary_p_at_most_share(0.9 * n, n, 18, 20, 0.8) for n in (10, 15.5, 20))
    assert fewer > between > more


def test_what_is_needed_in_texts_like_these_is_at_least_the_design_effect_more() -> None:
    result = known(samples_worth(100, FOUR, 0.95, most=20_000))
    assert result % 5 == 0
    assert 2.5 * 100 <= result <= 2.5 * 100 * 1.1
    enough, short = (
        n / 2.5 * (stats.t.ppf(0.95, n - 1) / stats.t.ppf(0.95, n // 5 - 1)) ** 2 for n in (result, result - 5)
    )
    assert short < 100 <= enough
    assert samples_worth(100, FOUR, 0.95, most=200) is None


@pytest.mark.parametrize(
    ("shared", "clustered"),
    [
        ([], False),
        ([[1.0, 0.0]], False),
        ([[1.0], [0.0]], False),
        ([[1.0, None], [0.0]], False),
        ([[1.0, 0.0], [None]], True),
        ([[1.0, 0.0], [1.0]], True),
    ],
)
def test_scores_are_clustered_from_two_texts_on_of_which_one_has_two(
    shared: list[list[float | None]], clustered: bool
) -> None:
    assert are_clustered(shared) is clustered


def test_clusters_do_not_depend_on_the_order_of_their_groups() -> None:
    groups: list[list[float | None]] = [[1.0, 0.0, None], [1.0], [0.0, 0.5]]
    assert (
        clusters_from(groups)
        == clusters_from(reversed(groups))
        == (Cluster(total=1.0, scored=1), Cluster(total=0.5, scored=2), Cluster(total=1.0, scored=2, unscored=1))
    )


def test_the_design_effect_of_several_lengths_weighs_them_by_what_they_show() -> None:
    """Variances between texts of 4/3 × 6 and 4/3 × 10 over the independent 20 × 0.16 and 20 × 0.25."""
    lengths = [FOUR, clusters((0, 5), (2, 5), (4, 5), (4, 5)), ()]
    squares = 2.5**2 + 0.5**2 + 1.5**2 + 1.5**2
    assert pooled_design_effect(lengths) == pytest.approx(4 / 3 * (6 + squares) / (3.2 + 5.0))


scores = st.lists(st.floats(min_value=0.0, max_value=1.0), min_size=1, max_size=12).map(tuple)


def drawn(*lengths: LengthScores, draws: int = 4_000) -> np.ndarray:
    return drawn_means(lengths, draws=draws, confidence=0.95, seed=1)


def of_texts(right: dict[str, int], size: int) -> LengthScores:
    return LengthScores(shared={name: Cluster(total=float(k), scored=size) for name, k in right.items()})


def test_independent_right_and_wrong_answers_are_drawn_from_jeffreys_posterior() -> None:
    means = drawn(LengthScores(alone=(1.0,) * 17 + (0.0,) * 3))[:, 0]
    assert stats.kstest(means, stats.beta(17.5, 3.5).cdf).pvalue > 0.01


def test_a_text_has_the_same_weight_at_every_length() -> None:
    """Easy texts lift both lengths at once; samples of different texts know nothing of each other."""
    here, there = (of_texts({f"{name}-{i}": 10 * (i % 2) for i in range(10)}, 10) for name in "ab")
    means = drawn(here, here)
    assert float(np.corrcoef(means.T)[0, 1]) > 0.8
    means = drawn(here, there)
    assert abs(float(np.corrcoef(means.T)[0, 1])) < 0.1


def test_samples_that_share_few_texts_spread_more_than_independent_ones() -> None:
    alone = drawn(LengthScores(alone=(1.0,) * 20 + (0.0,) * 20))[:, 0]
    texts = drawn(of_texts({f"text-{i}": (10 if i % 2 else 0) for i in range(4)}, 10))[:, 0]
    assert texts.std() > 2.0 * alone.std()


@given(st.lists(scores, min_size=1, max_size=4), st.randoms(use_true_random=False))
@settings(max_examples=30)
def test_draws_are_means_and_do_not_depend_on_the_order_of_samples(lengths: list[tuple[float, ...]], order) -> None:
    means = drawn(*(LengthScores(alone=each) for each in lengths), draws=50)
    assert means.shape == (50, len(lengths))
    assert ((means >= 0.0) & (means <= 1.0)).all()
    shuffled = [LengthScores(alone=tuple(order.sample(each, len(each)))) for each in lengths]
    assert drawn(*shuffled, draws=50) == pytest.approx(means)


def test_a_length_counts_what_is_alone_and_what_is_shared() -> None:
    length = LengthScores(alone=(0.5,), shared={"a": Cluster(total=3.0, scored=4)})
    assert (length.n, length.total) == (5, 3.5)
