"""Scores by what else was varied."""

from contextcliff.analysis.analysis_settings import AnalysisSettings
from contextcliff.findings.facets import FacetRow, Facets
from contextcliff.records.generation import ScoredSample
from tests.make import (
    analysed,
    analysed_search,
    curve,
    finding,
    having,
    plan_of,
    right_of,
    searched,
    texts,
    without_clusters,
)


def rows(samples: list[ScoredSample], **kwargs: float | bool) -> list[FacetRow]:
    return list(finding(analysed(samples, **kwargs), Facets).facets)  # type: ignore[arg-type]


def labels(samples: list[ScoredSample]) -> list[tuple[str, str, int]]:
    return [(row.facet, row.value, row.n_samples) for row in rows(samples)]


def test_a_relative_threshold_takes_the_baseline_of_the_same_samples() -> None:
    samples = [
        *having(curve({500: (100, 100), 1_000: (60, 100)}), topic="easy"),
        *having(curve({500: (60, 100), 1_000: (60, 100)}), topic="hard"),
    ]
    found = rows(samples, relative=True, threshold=0.7)
    assert [(row.value, row.cap_tokens) for row in found] == [("easy", None), ("hard", 1_000)]


def test_a_search_gives_no_caps_of_facets() -> None:
    plan = plan_of(500)
    samples = searched(plan, lambda *_: 1.0, AnalysisSettings())
    made = [*having(samples[::2], hops=1), *having(samples[1::2], hops=2)]
    assert analysed_search(plan, made).safe_cap.tokens == 500
    assert [row.cap_tokens for row in finding(analysed_search(plan, made), Facets).facets] == [None, None]


def test_unscored_samples_count_in_no_mean_but_against_the_cap() -> None:
    samples = [*having(right_of(500, 20, 20, unscored=8), hops=1), *having(right_of(500, 0, 0, unscored=2), hops=2)]
    (found,) = rows(samples)
    assert (found.value, found.n_samples, found.mean, found.cap_tokens) == ("1", 20, 1.0, None)


def test_more_numbers_are_cut_at_their_quartiles() -> None:
    samples = [s for i in range(1, 21) for s in having(right_of(500, 1, 1), evidence_distance_tokens=64 * i)]
    assert labels(samples) == [
        ("evidence_distance_tokens", "64–320", 5),
        ("evidence_distance_tokens", "384–640", 5),
        ("evidence_distance_tokens", "704–960", 5),
        ("evidence_distance_tokens", "1,024–1,280", 5),
    ]


def test_beyond_twelve_words_the_rarest_are_other() -> None:
    samples = [s for i in range(12) for s in having(right_of(500, 3, 3), needle=f"n{i:02d}")]
    assert len(labels(samples)) == 12
    samples += [s for name in ("a", "b") for s in having(right_of(500, 1, 1), needle=name)]
    assert [value for _, value, _ in labels(samples)] == [*(f"n{i:02d}" for i in range(12)), "other"]
    assert labels(samples)[-1] == ("needle", "other", 2)


def test_the_interval_and_the_cap_of_a_facet_allow_for_shared_texts() -> None:
    samples = [*having(texts(500, *[(5, 5)] * 4), hops=1), *having(texts(500, (0, 5), (5, 5), (2, 5), (5, 5)), hops=2)]
    shared, alone = rows(samples), rows(without_clusters(samples))
    assert [row.cap_tokens for row in (shared[0], alone[0])] == [None, 500]
    for row, independent in zip(shared, alone, strict=True):
        assert row.mean == independent.mean
        assert row.ci_low < independent.ci_low
    assert shared[1].ci_high > alone[1].ci_high
