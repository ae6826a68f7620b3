"""The shape of the scores over length, and whether the tests show it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from contextcliff.analysis.analysis_settings import AnalysisSettings
from contextcliff.analysis.shape import name_of
from contextcliff.records.analysis import SafeCap
from tests.make import analysed, analysed_search, curve, fractional, plan_of, searched

LENGTHS = (500, 1_000, 2_000, 4_000, 8_000, 16_000)
Results = Mapping[int, tuple[int, ...]]
counts = st.tuples(st.integers(0, 30), st.integers(1, 30), st.integers(0, 5)).map(
    lambda found: (min(found[:2]), found[1], found[2])
)


def cap(results: Results, **kwargs: Any) -> SafeCap:
    return analysed(curve(results), finders=(), **kwargs).safe_cap


def by_length(*right: int, n: int = 40) -> Results:
    return {length: (k, n) for length, k in zip(LENGTHS, right, strict=False)}


def test_shape_and_evidence_make_the_verdict() -> None:
    expected = {
        (40, 40, 39, 40, 40, 39): ("flat", "settled", "flat"),
        (40, 39, 40, 40, 9, 11): ("cliff", "settled", "cliff"),
        (40, 37, 30, 24, 15, 8): ("slope", "settled", "slope"),
        (20, 19, 21, 20, 18, 19): ("below", "settled", "insufficient_evidence"),
        (30, 26, 20, 16, 12, 8): ("below", "unsettled", "insufficient_evidence"),
        (20, 26, 30, 33, 37, 39): ("rising", "unsettled", "insufficient_evidence"),
        (36, 36, 37, 36, 35, 36): ("flat", "unsettled", "insufficient_evidence"),
    }
    found = {right: cap(by_length(*right)) for right in expected}
    assert {key: (found.shape, found.evidence, found.verdict) for key, found in found.items()} == expected


def test_the_shape_has_a_name_from_six_lengths_with_twenty_scores_each_on() -> None:
    whole = by_length(40, 40, 40, 40, 9, 8)
    found = [cap(each) for each in (whole, by_length(40, 40, 40, 40, 9), {**whole, 16_000: (3, 19)})]
    assert [(each.shape, each.verdict) for each in found] == [("cliff", "cliff"), (None, "cliff"), (None, "cliff")]
    assert [each.shape_step for each in found] == [(4_000, 8_000), None, None]


def test_a_step_through_the_threshold_is_called_a_cliff_where_the_tests_show_it() -> None:
    found = cap(by_length(40, 40, 40, 40, 29, 30))
    assert (found.shape, found.evidence, found.verdict) == (None, "unsettled", "insufficient_evidence")


def test_wrong_answers_among_timeouts_are_no_cliff() -> None:
    """40 of 40, then 10 wrong answers and 90 timeouts: the 90 might have been right."""
    found = cap({1_000: (40, 40), 2_000: (0, 10, 90)})
    assert (found.evidence, found.verdict) == ("unsettled", "insufficient_evidence")
    zones = analysed(curve({1_000: (40, 40), 2_000: (0, 10, 90)}), finders=()).zones
    assert [zone.name for zone in zones] == ["stable", "transition"]


def test_a_first_length_that_came_out_a_little_low_makes_no_slope_of_a_cliff() -> None:
    found = cap(by_length(36, 40, 40, 40, 40, 2))
    assert (found.shape, found.verdict, found.shape_step) == ("cliff", "cliff", (8_000, 16_000))


def test_a_search_whose_first_length_is_shown_below_is_below() -> None:
    plan = plan_of(512, 1_024, 2_048)
    found = analysed_search(plan, searched(plan, lambda *_: 0.0, AnalysisSettings())).safe_cap
    assert (found.outcome, found.shape, found.evidence) == ("below", None, "settled")


def test_a_dip_between_good_lengths_is_flat_and_not_settled() -> None:
    found = cap(by_length(40, 39, 18, 40, 39, 40))
    assert (found.shape, found.dip_tokens, found.evidence) == ("flat", 2_000, "unsettled")
    assert (found.tokens, found.verdict) == (1_000, "insufficient_evidence")


def test_without_scores_there_is_no_shape() -> None:
    for results in ({}, {500: (0, 0, 5)}):
        found = cap(results)
        assert (found.shape, found.evidence, found.verdict) == (None, None, "insufficient_evidence")


def test_graded_scores_that_spread_little_show_a_small_fall() -> None:
    """A fall of 0.08 among scores that spread by 0.02 is one; among right and wrong answers it would be none."""
    means = dict(zip(LENGTHS, (0.96, 0.96, 0.95, 0.93, 0.9, 0.88), strict=True))
    even = {length: [mean - 0.02, mean, mean + 0.02] * 7 for length, mean in means.items()}
    assert analysed(fractional(even), finders=()).safe_cap.shape == "slope"
    right = {length: (round(sum(scores)), len(scores)) for length, scores in even.items()}
    assert cap(right).shape == "flat"


def test_the_name_of_a_curve() -> None:
    expected = {
        (0.9, 0.9): "flat",
        (0.8, 0.8): "flat",
        (0.79, 0.79): "below",
        (0.7, 0.2): "below",
        (0.2, 0.7): "below",
        (0.7, 0.9): "rising",
        (0.95, 0.85): "slope",
        (0.95, 0.5): "cliff",
        (0.95, 0.9, 0.6, 0.3): "slope",
        (0.95, 0.9, 0.3, 0.2): "cliff",
    }
    assert {fitted: name_of(fitted, 0.8) for fitted in expected} == expected


@settings(max_examples=60)
@given(st.lists(counts, min_size=1, max_size=6), st.booleans())
def test_where_there_are_scores_there_is_evidence_that_agrees_with_the_cap(
    results: list[tuple[int, int, int]], relative: bool
) -> None:
    found = cap(dict(zip(LENGTHS, results, strict=False)), relative=relative)
    assert found.evidence is not None
    assert found.shape is None or sum(n >= 20 for _, n, _ in results) == 6
    if found.verdict == "flat":
        assert found.censored
    if found.evidence == "settled" and found.shape in ("cliff", "slope"):
        assert found.censored or found.ci_high is not None
    if found.shape == "below" and found.evidence == "settled":
        assert found.tokens is None
