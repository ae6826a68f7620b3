"""Samples that share a text: what they are worth, and when they are taken as independent."""

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from contextcliff.analysis.bins import group, summarise
from contextcliff.analysis.dispersion import design_effect
from contextcliff.analysis.half_life import HalfLifeFits
from contextcliff.analysis.items import items_of
from contextcliff.analysis.pooling import pooled
from contextcliff.records.generation import ScoredSample
from contextcliff.statistics.clusters import (
    ASSUMED_CORRELATION,
    Cluster,
    assumed_design_effect,
    clusters_of,
    design_effect_of,
    effective,
    samples_worth,
    variance_of_mean,
)
from contextcliff.statistics.evidence import Evidence, p_at_least_share, p_at_most_share
from contextcliff.statistics.intervals import clopper_pearson_low, wilson, wilson_of_share
from contextcliff.statistics.melding import binary_p_at_least_share, binary_p_at_most_share
from tests.analysis.analysis_samples import analysed, curve, finding, right_of, scored_sample
from tests.analysis.clustered_samples import clusters, of, texts, without_clusters

FOUR = clusters((2, 5), (4, 5), (5, 5), (5, 5))
"""16 of 20 right; squared distances from the mean 4 + 0 + 1 + 1."""

results = st.lists(
    st.tuples(st.integers(0, 6), st.integers(0, 6), st.integers(0, 2)).map(lambda t: (min(t[:2]), t[1], t[2])),
    min_size=2,
    max_size=8,
)


def evidence(found: tuple[Cluster, ...], *, binary: bool = True) -> Evidence:
    return Evidence(scores=(), binary=binary, clusters=found)


def test_the_design_effect_worked_by_hand() -> None:
    assert variance_of_mean(FOUR) == pytest.approx(4 / 3 * 6 / 20**2)
    assert design_effect_of(FOUR) == pytest.approx(0.02 / (0.8 * 0.2 / 20))


def test_the_effective_counts_worked_by_hand() -> None:
    by_t = (stats.t.ppf(0.95, 19) / stats.t.ppf(0.95, 3)) ** 2
    found = effective(FOUR, 0.95)
    assert found.n == pytest.approx(20 / 2.5 * by_t)
    assert found.n == pytest.approx(4.319, abs=1e-3)
    assert found.right == pytest.approx(0.8 * found.n)


def test_the_bounds_are_clopper_and_pearsons_and_wilsons_on_the_effective_counts() -> None:
    worth, shown = effective(FOUR, 0.95), effective(FOUR, 0.975)
    found = evidence(FOUR)
    assert found.lower(0.95) == pytest.approx(stats.beta.ppf(0.05, worth.right, worth.n - worth.right + 1))
    assert found.upper(0.95) == pytest.approx(stats.beta.ppf(0.95, worth.right + 1, worth.n - worth.right))
    assert found.shown(0.95) == wilson_of_share(0.8, shown.n, 0.95)


def test_texts_that_differ_no_more_than_chance_still_have_the_assumed_correlation() -> None:
    alike = clusters((4, 5), (4, 5), (4, 5), (4, 5))
    assert variance_of_mean(alike) == 0.0
    assert design_effect_of(alike) == pytest.approx(1 + ASSUMED_CORRELATION * 4)
    assert assumed_design_effect(clusters((1, 2), (6, 6))) == pytest.approx(1 + ASSUMED_CORRELATION * (40 / 8 - 1))


def test_all_right_is_worth_less_than_as_many_independent_samples() -> None:
    perfect = evidence(clusters(*[(5, 5)] * 8))
    assert perfect.lower(0.95) == pytest.approx(0.859, abs=1e-3)
    assert clopper_pearson_low(40, 40, 0.95) == pytest.approx(0.928, abs=1e-3)
    assert perfect.upper(0.95) == 1.0
    assert evidence(clusters(*[(0, 5)] * 8)).upper(0.95) == pytest.approx(1 - perfect.lower(0.95))


def test_wilson_on_whole_numbers_is_wilson() -> None:
    for right, n in ((0, 7), (11, 20), (40, 40)):
        assert wilson_of_share(right / n, n, 0.95) == pytest.approx(wilson(right, n, 0.95))


def test_melding_takes_the_effective_counts_of_both_lengths() -> None:
    here, there = evidence(FOUR), Evidence(scores=(0.0,) + (1.0,) * 9, binary=True)
    worth = effective(FOUR, 0.95)
    assert p_at_most_share(here, there, 0.8, 0.95) == binary_p_at_most_share(worth.right, worth.n, 9, 10, 0.8)
    assert p_at_least_share(there, here, 0.8, 0.95) == binary_p_at_least_share(9, 10, worth.right, worth.n, 0.8)


def test_the_melded_p_value_of_fractions_of_a_sample_lies_between_those_of_whole_numbers() -> None:
    fewer, between, more = (binary_p_at_most_share(0.9 * n, n, 18, 20, 0.8) for n in (10, 15.5, 20))
    assert fewer > between > more


def test_what_is_needed_in_texts_like_these_is_at_least_the_design_effect_more() -> None:
    found = samples_worth(100, FOUR, 0.95, most=20_000)
    assert found is not None
    assert found % 5 == 0
    assert 2.5 * 100 <= found <= 2.5 * 100 * 1.1
    enough, short = (
        n / 2.5 * (stats.t.ppf(0.95, n - 1) / stats.t.ppf(0.95, n // 5 - 1)) ** 2 for n in (found, found - 5)
    )
    assert short < 100 <= enough
    assert samples_worth(100, FOUR, 0.95, most=200) is None


@pytest.mark.parametrize(
    ("samples", "why"),
    [
        (right_of(500, 3, 5), "no text is named"),
        (of("a", right_of(500, 3, 5)), "a single text: the claim is about that text"),
        ([*of("a", right_of(500, 3, 5)), *right_of(500, 2, 2)], "one text, and samples that share nothing"),
        (texts(500, (1, 1), (0, 1), (1, 1)), "each text with one sample"),
        (texts(500, (1, 1, 2), (0, 1)), "no text with more than one scored sample"),
    ],
)
def test_what_is_not_clustered(samples: list[ScoredSample], why: str) -> None:
    assert clusters_of(items_of(samples)) == (), why
    assert analysed(samples).bins == analysed(without_clusters(samples)).bins, why
    assert analysed(samples).bins[0].n_clusters is None


def test_a_sample_that_shares_nothing_is_a_cluster_of_itself() -> None:
    samples = [*texts(500, (2, 3), (1, 1, 1)), *right_of(500, 1, 1)]
    assert clusters_of(items_of(samples)) == (
        Cluster(total=1.0, scored=1),
        Cluster(total=1.0, scored=1, unscored=1),
        Cluster(total=2.0, scored=3),
    )
    assert analysed(samples).bins[0].n_clusters == 3


def test_unscored_samples_count_in_the_text_that_they_are_of() -> None:
    (level,) = summarise(group(texts(500, (5, 5), (3, 3, 2), (4, 5), (5, 5)), designed_lengths=True, bins=1), 0.95)
    wrong = evidence(clusters((4, 5), (3, 5), (5, 5), (5, 5)))
    right = evidence(clusters((4, 5), (5, 5), (5, 5), (5, 5)))
    assert level.bin.tested_low == level.if_unscored_wrong.lower(0.95) == pytest.approx(wrong.lower(0.95))
    assert level.if_unscored_right.upper(0.95) == pytest.approx(right.upper(0.95))
    shown = evidence(clusters((3, 3), (4, 5), (5, 5), (5, 5))).shown(0.95)
    assert (level.bin.ci_low, level.bin.ci_high) == pytest.approx(shown)


def test_a_text_without_a_score_counts_in_the_worst_case_and_not_in_what_is_shown() -> None:
    (level,) = summarise(group(texts(500, (20, 20), (0, 0, 2)), designed_lengths=True, bins=1), 0.95)
    assert level.bin.n_clusters == 2
    assert (level.bin.ci_low, level.bin.ci_high) == wilson(20, 20, 0.95)
    assert level.bin.tested_low is not None
    assert level.bin.tested_low < clopper_pearson_low(20, 22, 0.95)


def test_fractional_scores_of_shared_texts_are_judged_as_right_and_wrong_with_the_same_mean() -> None:
    samples = [s for i in range(4) for s in of(f"t{i}", [scored_sample(500, 0.5 + 0.1 * i)] * 5)]
    (found,) = analysed(samples).bins
    same = evidence(clusters((2.5, 5), (3, 5), (3.5, 5), (4, 5)), binary=False)
    assert found.tested_low == pytest.approx(same.lower(0.95))
    assert found.tested_low is not None
    assert found.tested_low < 0.5


def test_sixteen_texts_clear_what_eight_do_not() -> None:
    """All right but one text in four of five; independent, both would clear 0.80."""
    eight, sixteen = (texts(500, (4, 5), *[(5, 5)] * (k - 1)) for k in (8, 16))
    assert [analysed(found, threshold=0.85).safe_cap.tokens for found in (eight, sixteen)] == [None, 500]
    assert analysed(without_clusters(eight), threshold=0.85).safe_cap.tokens == 500


def test_a_relative_bar_allows_for_shared_texts_at_either_length() -> None:
    first, second = texts(500, *[(5, 5)] * 5), texts(1_000, *[(5, 5)] * 5)
    independent = [without_clusters(found) for found in (first, second)]
    caps = [
        analysed([*a, *b], relative=True, threshold=0.88).safe_cap.tokens
        for a, b in (independent, (first, independent[1]), (independent[0], second))
    ]
    assert caps == [1_000, 1_000, 500]
    here = right_of(1_000, 23, 25)
    shared, alone = (
        analysed([*base, *here], relative=True, threshold=0.9).safe_cap.tokens
        for base in (texts(500, *[(4, 5)] * 5), right_of(500, 20, 25))
    )
    assert (shared, alone) == (500, 1_000)


def test_the_advice_is_in_samples_of_shared_texts() -> None:
    samples = texts(500, *[(5, 5)] * 12, *[(2, 5)] * 4)
    independent = analysed(without_clusters(samples)).safe_cap.reason
    assert independent.endswith("a new run with about 538 scored samples at that length is likely to settle it")
    assert "a new run with about 1,530 scored samples in 306 texts at that length" in analysed(samples).safe_cap.reason


def test_how_many_would_do_if_all_were_right_is_in_samples_of_shared_texts() -> None:
    reason = analysed(texts(500, *[(5, 5)] * 4)).safe_cap.reason
    assert reason.endswith(
        "but 20 samples in 4 texts cannot show 0.80 even if all are right; at least 35 samples a length in 7 texts "
        "are needed"
    )
    assert [analysed(texts(500, *[(5, 5)] * k)).safe_cap.tokens for k in (6, 7)] == [None, 500]


def test_the_shortest_and_the_longest_length_are_compared_by_their_effective_counts() -> None:
    """35% against 15% in 80 samples is a fall if they are independent, and none if eight texts made it."""
    samples = [*texts(500, *[(6, 10), (1, 10)] * 4), *texts(1_000, *[(3, 10), (0, 10)] * 4)]
    assert analysed(samples).safe_cap.verdict == "flat"
    assert analysed(without_clusters(samples)).safe_cap.verdict == "slope"


@settings(deadline=None)
@given(results, st.sampled_from([0.8, 0.95]))
def test_shared_texts_never_show_more_than_independent_samples(found: list[tuple[int, int, int]], c: float) -> None:
    samples = texts(500, *found)
    if not samples:
        return
    (shared,), (alone,) = (
        summarise(group(kind, designed_lengths=True, bins=1), c) for kind in (samples, without_clusters(samples))
    )
    if not shared.scores:
        return
    assert shared.if_unscored_wrong.lower(c) <= alone.if_unscored_wrong.lower(c) + 1e-9
    assert shared.if_unscored_right.upper(c) >= alone.if_unscored_right.upper(c) - 1e-9
    (low, high), (alone_low, alone_high) = shared.evidence.shown(c), alone.evidence.shown(c)
    assert 0.0 <= low <= alone_low + 1e-9
    assert alone_high - 1e-9 <= high <= 1.0


@settings(deadline=None, max_examples=50)
@given(results, results, st.booleans(), st.integers())
def test_neither_the_order_of_the_samples_nor_the_names_of_the_texts_matter(
    here: list[tuple[int, int, int]], there: list[tuple[int, int, int]], relative: bool, seed: int
) -> None:
    samples = [*texts(500, *here), *texts(1_000, *there)]
    turned = [*texts(500, *reversed(here)), *texts(1_000, *reversed(there))]
    shuffled = random.Random(seed).sample(turned, len(turned))
    first, second = (analysed(found, relative=relative) for found in (samples, shuffled))
    assert (first.bins, first.safe_cap, finding(first, HalfLifeFits)) == (
        second.bins,
        second.safe_cap,
        finding(second, HalfLifeFits),
    )


def test_a_run_without_shared_texts_has_a_design_effect_of_1() -> None:
    levels = summarise(group(curve({500: (30, 40), 1_000: (20, 40)}), designed_lengths=True, bins=1), 0.95)
    assert design_effect(levels) == 1.0


def test_the_design_effect_of_a_run_weighs_lengths_by_what_they_show() -> None:
    """Variances between texts of 4/3 × 6 and 4/3 × 10 over the independent 20 × 0.16 and 20 × 0.25."""
    samples = [
        *texts(500, (2, 5), (4, 5), (5, 5), (5, 5)),
        *texts(1_000, (0, 5), (2, 5), (4, 5), (4, 5)),
        *right_of(2_000, 3, 40),
    ]
    levels = summarise(group(samples, designed_lengths=True, bins=1), 0.95)
    squares = 2.5**2 + 0.5**2 + 1.5**2 + 1.5**2
    assert design_effect(levels) == pytest.approx(4 / 3 * (6 + squares) / (3.2 + 5.0))


def test_where_all_are_right_the_design_effect_of_a_run_is_the_assumed_one() -> None:
    levels = summarise(group(texts(500, (5, 5), (5, 5)), designed_lengths=True, bins=1), 0.95)
    assert design_effect(levels) == pytest.approx(1 + 4 * ASSUMED_CORRELATION)


def test_lengths_that_differ_are_no_variance_of_a_mean_over_lengths() -> None:
    """Two texts alike at each of two lengths, all right at the one and all wrong at the other."""
    lengths = [texts(500, (3, 3), (3, 3)), texts(1_000, (0, 3), (0, 3))]
    found = pooled(lengths, binary=True)
    assert found is not None
    assert [(c.total, c.scored) for c in found.clusters] == [(3.0, 6), (3.0, 6)]
    assert variance_of_mean(found.clusters) == 0.0


def test_a_mean_over_lengths_without_shared_texts_is_that_of_independent_scores() -> None:
    one_text_a_length = [of("a", right_of(500, 3, 5)), of("b", right_of(1_000, 1, 5))]
    found = pooled(one_text_a_length, binary=True)
    assert found == Evidence(scores=(0.0,) * 6 + (1.0,) * 4, binary=True)
    assert pooled([right_of(500, 0, 0, 3)], binary=True) is None
