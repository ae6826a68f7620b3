"""The interval that is shown of a searched length holds though the search stopped when the length was decided."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
import pytest

from contextcliff.analysis.analysis_settings import AnalysisSettings
from contextcliff.analysis.safe_cap_search import SafeCapSearch
from contextcliff.analysis.search_path import SearchDesign
from contextcliff.findings.position import PositionFinding, PositionProfile
from contextcliff.records.analysis import Bin
from contextcliff.records.generation import NOT_SENT, ScoredSample
from contextcliff.records.search_record import SearchPlan
from contextcliff.statistics.confidence_sequence import confidence_sequence
from contextcliff.statistics.intervals import wilson
from tests.make import analysed_search, coin, known, plan_of, searched
from tests.statistics.simulated_walks import most_errors

LENGTHS = (512, 1_024, 2_048, 4_096)
Recorder = Callable[[str, object], None]


def bins_of(
    plan: SearchPlan, samples: Sequence[ScoredSample], settings: AnalysisSettings | None = None
) -> dict[int, Bin]:
    return {each.asked_tokens: each for each in analysed_search(plan, samples, settings, finders=()).bins}


def falling(at: int, *, seed: int, before: float = 0.95) -> Callable[[int, float], float | None]:
    return coin(lambda length, _: before if length <= at else 0.3, seed)


@pytest.mark.parametrize("refine", [False, True])
@pytest.mark.parametrize("seed", range(5))
def test_the_interval_never_leaves_out_a_score_that_the_test_did_not_reject(seed: int, refine: bool) -> None:
    plan = plan_of(*LENGTHS, refine=refine)
    analysis = analysed_search(plan, searched(plan, falling(1_500, seed=seed), AnalysisSettings()), finders=())
    for length in analysis.bins:
        assert known(length.ci_low) <= known(length.tested_low) <= known(length.mean) <= known(length.ci_high)


def test_without_refining_a_length_is_tested_at_5_percent_and_shown_at_half_of_that_on_each_side() -> None:
    plan = plan_of(*LENGTHS)
    for each in bins_of(plan, searched(plan, falling(9_000, seed=1), AnalysisSettings())).values():
        assert known(each.ci_low) < known(each.tested_low)


def test_an_unscored_sample_counts_as_wrong_at_the_lower_end_and_as_right_at_the_upper_one() -> None:
    plan = plan_of(*LENGTHS, refine=True)
    samples = searched(plan, lambda length, depth: None if depth == 0.5 else float(length < 1_000), AnalysisSettings())
    first, second = (bins_of(plan, samples)[length] for length in (512, 1_024))
    low, _ = confidence_sequence([1.0] * first.n_samples + [0.0] * first.n_unscored, 0.95)
    assert (first.ci_low, first.ci_high) == pytest.approx((low, 1.0))
    _, high = confidence_sequence([0.0] * second.n_samples + [1.0] * second.n_unscored, 0.95)
    assert (second.ci_low, second.ci_high) == pytest.approx((0.0, high))


def test_a_sample_that_was_not_sent_shows_nothing() -> None:
    plan = plan_of(*LENGTHS, refine=True)
    (only,) = searched(plan, falling(9_000, seed=1), AnalysisSettings(), most_asked=1)
    assert bins_of(plan, [replace(only, score=None, failure=NOT_SENT)]) == {}


def test_an_answer_that_comes_again_is_counted_once() -> None:
    plan = plan_of(*LENGTHS, refine=True)
    asked = searched(plan, lambda *_: 1.0, AnalysisSettings())
    copies = [replace(each, sample=replace(each.sample, item="the same", document_id="d")) for each in asked]
    first = bins_of(plan, copies)[512]
    assert first.n_samples > 10
    assert (first.ci_low, first.ci_high) == pytest.approx(confidence_sequence([1.0], 0.95))


def test_the_interval_of_a_baseline_is_that_of_all_its_samples_that_others_were_compared_with() -> None:
    plan, settings = plan_of(*LENGTHS, refine=True), AnalysisSettings(relative_to_baseline=True)
    bins = bins_of(plan, searched(plan, falling(9_000, seed=2, before=1.0), settings), settings)
    first = bins[512]
    assert first.n_samples > 11
    assert (first.ci_low, first.ci_high) == pytest.approx(confidence_sequence([1.0] * first.n_samples, 0.95))
    assert first.tested_low is None


@pytest.mark.slow
@pytest.mark.parametrize("rate", [0.98, 0.95, 0.9, 0.85, 0.8, 0.7, 0.5, 0.3, 0.05])
def test_the_interval_covers_where_wilsons_does_not(rate: float, record_property: Recorder) -> None:
    """Of 300 searches of one length: each stops where it is decided, which is when Wilson's interval is biased."""
    runs, before, after, rng = 300, 0, 0, np.random.default_rng(3)
    for _ in range(runs):
        search = SafeCapSearch(SearchDesign(lengths=(512,), threshold=0.8, alpha=0.05, most=160))
        scores: list[float] = []
        while search.needed():
            scores.append(float(rng.random() < rate))
            search.tell(512, scores[-1:])
        low, high = wilson(int(sum(scores)), len(scores), 0.95)
        before += low <= rate <= high
        low, high = confidence_sequence(scores, 0.95)
        after += low <= rate <= high
    record_property("wilson", before / runs)
    record_property("confidence_sequence", after / runs)
    assert runs - after <= most_errors(runs, 0.05)


@pytest.mark.slow
def test_a_search_that_stops_shows_a_pattern_over_depth_no_more_often_than_it_may(record_property: Recorder) -> None:
    """Where the score does not depend on depth."""
    runs, shown = 300, 0
    for seed in range(runs):
        plan = plan_of(512, 1_024, refine=True)
        samples = searched(plan, coin(lambda tokens, _: 0.9 if tokens < 600 else 0.8, seed), AnalysisSettings())
        analysis = analysed_search(plan, samples, finders=(PositionFinding(),))
        profile = analysis.finding(PositionProfile)
        shown += profile is not None and profile.position.pattern not in (None, "stable")
    record_property("shown", shown / runs)
    assert shown <= most_errors(runs, 0.05)
