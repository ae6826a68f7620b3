"""The clusters of a run: when samples are taken as independent, and how shared texts change the answer."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contextcliff.analysis.bins import group, summarise
from contextcliff.analysis.lengths import clusters_of, items_of, pooled_evidence
from contextcliff.analysis.shape import shape_of
from contextcliff.analysis.walk import AbsoluteThreshold
from contextcliff.findings.half_life import HalfLifeFits
from contextcliff.records.generation import ScoredSample
from contextcliff.statistics.clusters import Cluster, Evidence, variance_of_mean
from contextcliff.statistics.intervals import clopper_pearson_low, wilson
from tests.make import analysed, clusters, finding, known, of, right_of, scored_sample, texts, without_clusters

results = st.lists(
    st.tuples(st.integers(0, 6), st.integers(0, 6), st.integers(0, 2)).map(lambda t: (min(t[:2]), t[1], t[2])),
    min_size=2,
    max_size=8,
)


def evidence(result: tuple[Cluster, ...], *, binary: bool = True) -> Evidence:
    return Evidence(scores=(), binary=binary, clusters=result)


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
    assert known(level.bin.tested_low) < clopper_pearson_low(20, 22, 0.95)


def test_fractional_scores_of_shared_texts_are_judged_as_right_and_wrong_with_the_same_mean() -> None:
    samples = [s for i in range(4) for s in of(f"t{i}", [scored_sample(500, 0.5 + 0.1 * i) for _ in range(5)])]
    (result,) = analysed(samples).bins
    same = evidence(clusters((2.5, 5), (3, 5), (3.5, 5), (4, 5)), binary=False)
    assert result.tested_low == pytest.approx(same.lower(0.95))
    assert known(result.tested_low) < 0.5


def test_a_relative_bar_allows_for_shared_texts_at_either_length() -> None:
    first, second = texts(500, *[(5, 5)] * 5), texts(1_000, *[(5, 5)] * 5)
    independent = [without_clusters(result) for result in (first, second)]
    caps = [
        analysed([*a, *b], relative=True, threshold=0.88).safe_cap.tokens
        for a, b in (independent, (first, independent[1]), (independent[0], second))
    ]
    assert caps == [1_000, 1_000, None]
    here = right_of(1_000, 23, 25)
    shared, alone = (
        analysed([*base, *here], relative=True, threshold=0.9).safe_cap.tokens
        for base in (texts(500, *[(4, 5)] * 5), right_of(500, 20, 25))
    )
    assert (shared, alone) == (None, 1_000)


def test_how_many_would_do_if_all_were_right_is_in_samples_of_shared_texts() -> None:
    reason = str(analysed(texts(500, *[(5, 5)] * 4)).safe_cap.reason)
    assert reason.endswith("; at least 70 samples a length in 14 texts are needed")
    assert [analysed(texts(500, *[(5, 5)] * k)).safe_cap.tokens for k in (13, 14)] == [None, 500]


def test_a_fall_of_samples_that_share_texts_is_weighed_by_their_effective_counts() -> None:
    """35% against 15% in 80 samples is a fall if they are independent, and none if eight texts made it."""
    samples = [*texts(500, *[(6, 10), (1, 10)] * 4), *texts(1_000, *[(3, 10), (0, 10)] * 4)]
    threshold = AbsoluteThreshold(threshold=0.1, confidence=0.95)
    found = [
        shape_of(summarise(group(each, designed_lengths=True, bins=1), 0.95), threshold)
        for each in (samples, without_clusters(samples))
    ]
    assert [known(shape).name for shape in found] == ["flat", "slope"]


@given(results, st.sampled_from([0.8, 0.95]))
def test_shared_texts_never_show_more_than_independent_samples(result: list[tuple[int, int, int]], c: float) -> None:
    samples = texts(500, *result)
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


@pytest.mark.slow
@given(results, results, st.booleans(), st.integers())
def test_neither_the_order_of_the_samples_nor_the_names_of_the_texts_matter(
    here: list[tuple[int, int, int]], there: list[tuple[int, int, int]], relative: bool, seed: int
) -> None:
    samples = [*texts(500, *here), *texts(1_000, *there)]
    turned = [*texts(500, *reversed(here)), *texts(1_000, *reversed(there))]
    shuffled = random.Random(seed).sample(turned, len(turned))
    first, second = (analysed(result, relative=relative) for result in (samples, shuffled))
    assert (first.bins, first.safe_cap, finding(first, HalfLifeFits)) == (
        second.bins,
        second.safe_cap,
        finding(second, HalfLifeFits),
    )


def test_lengths_that_differ_are_no_variance_of_a_mean_over_lengths() -> None:
    """Two texts alike at each of two lengths, all right at the one and all wrong at the other."""
    lengths = [texts(500, (3, 3), (3, 3)), texts(1_000, (0, 3), (0, 3))]
    result = known(pooled_evidence(lengths, binary=True))
    assert [(c.total, c.scored) for c in result.clusters] == [(3.0, 6), (3.0, 6)]
    assert variance_of_mean(result.clusters) == 0.0


def test_a_mean_over_lengths_without_shared_texts_is_that_of_independent_scores() -> None:
    one_text_a_length = [of("a", right_of(500, 3, 5)), of("b", right_of(1_000, 1, 5))]
    result = pooled_evidence(one_text_a_length, binary=True)
    assert result == Evidence(scores=(0.0,) * 6 + (1.0,) * 4, binary=True)
    assert pooled_evidence([right_of(500, 0, 0, 3)], binary=True) is None
