"""A cap that holds at each third of the depths, beside the one for the mean over them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contextcliff.analysis.analyse import study_of
from contextcliff.analysis.analysis_settings import AnalysisSettings
from contextcliff.analysis.study import StudyFacts
from contextcliff.errors import ConfigError
from contextcliff.findings.every_depth import EveryDepth, EveryDepthFinding
from contextcliff.records.analysis import Analysis
from contextcliff.records.search_record import depth_thirds, third_sizes
from tests.make import DEPTHS, analysed, analysed_search, coin, finding, plan_of, scored_sample, searched

EVERY = AnalysisSettings(every_depth=True)
ONLY = (EveryDepthFinding(),)
FIXED = StudyFacts(max_context_tokens=8_192, designed_lengths=True, relative_by_default=False)


def fixed(trials: int, bad: Mapping[tuple[int, float], int] | None = None) -> Analysis:
    """All right at 500 and 1,000 tokens, but for so many of the trials at a length and depth."""
    wrong = bad or {}
    samples = [
        scored_sample(length, float(trial >= wrong.get((length, depth), 0)), depth=depth)
        for length in (500, 1_000)
        for depth in DEPTHS
        for trial in range(trials)
    ]
    return analysed(samples, finders=ONLY)


@given(st.sets(st.floats(0.0, 1.0), min_size=3, max_size=40))
def test_thirds_are_even_in_order_and_have_every_depth(depths: set[float]) -> None:
    thirds = depth_thirds(depths)
    sizes = tuple(len(third) for third in thirds)
    assert sizes == third_sizes(len(depths)) == sizes[::-1]
    assert max(sizes) - min(sizes) <= 1
    assert max(thirds[0]) < min(thirds[1])
    assert max(thirds[1]) < min(thirds[2])
    assert frozenset().union(*thirds) == depths


def test_a_third_that_is_shown_below_ends_it_and_is_named() -> None:
    # At 1,000 tokens 200 of 220 are right, and 40 of the 60 in the middle third.
    analysis = fixed(20, {(1_000, 0.4): 10, (1_000, 0.5): 10})
    assert (analysis.safe_cap.tokens, analysis.caps["any_depth"]) == (1_000, 500)
    assert str(finding(analysis, EveryDepth).reason) == (
        "at 1,000 tokens the middle third (0.67, n = 60) of the depths is below the threshold"
    )


def test_a_search_stops_when_the_mean_is_decided_and_says_how_to_go_on() -> None:
    plan = plan_of(500, 1_000)
    analysis = analysed_search(plan, searched(plan, lambda *_: 1.0, AnalysisSettings()))
    assert analysis.safe_cap.tokens == 1_000
    assert analysis.caps["any_depth"] is None
    assert "analysis.every_depth=true goes on until each third is" in str(finding(analysis, EveryDepth).reason)


def test_a_bad_third_stops_a_search_at_every_depth_though_the_mean_is_good() -> None:
    plan = plan_of(500, 1_000, most_blocks=40)

    def score_at(length: int, depth: float) -> float:
        return float(length == 500 or depth not in (0.4, 0.5))

    analysis = analysed_search(plan, searched(plan, score_at, EVERY), EVERY)
    assert (analysis.safe_cap.tokens, analysis.caps["any_depth"]) == (500, 500)
    reason = str(analysis.safe_cap.reason)
    assert "; at 1,000 the score is 0.82 (" in reason
    assert reason.endswith("), and the middle third of the depths is below")


def test_a_relative_search_compares_each_third_with_the_same_third_of_the_baseline() -> None:
    settings = replace(EVERY, relative_to_baseline=True)
    plan = plan_of(500, 1_000, most_blocks=40)
    analysis = analysed_search(plan, searched(plan, lambda _, depth: 1.0 if depth < 0.7 else 0.9, settings), settings)
    assert (analysis.safe_cap.tokens, analysis.caps["any_depth"]) == (1_000, 1_000)


def test_an_unscored_sample_counts_against_its_third() -> None:
    plan = plan_of(500)

    def score_at(_: int, depth: float) -> float | None:
        return None if depth == 0.5 else 1.0

    analysis = analysed_search(plan, searched(plan, score_at, EVERY), EVERY)
    assert analysis.safe_cap.tokens is None


def test_a_fixed_number_of_samples_refuses_to_ask_on() -> None:
    with pytest.raises(ConfigError) as refused:
        study_of([scored_sample(500, 1.0)], EVERY, FIXED)
    assert str(refused.value) == (
        "analysis.every_depth=true: asks until each third of the depths is decided, which a fixed number of samples "
        "can't; give task.trials=auto, or leave it out (caps.any_depth has what the samples show)"
    )


RUNS = 300


def passing(settings: AnalysisSettings, *, bad: float, rule: str) -> int:
    """Runs with a cap by this rule, of a model that is right at every depth but one, where it scores 0.4."""
    plan, count = plan_of(500), 0
    for seed in range(RUNS):
        score_at = coin(lambda _, depth: 0.4 if depth == bad else 1.0, seed)
        analysis = analysed_search(plan, searched(plan, score_at, settings), settings, finders=ONLY)
        count += analysis.caps[rule] is not None
    return count


@pytest.mark.slow
@pytest.mark.parametrize("bad", [0.5, 0.6], ids=["in the middle", "at the edge of the middle"])
def test_one_bad_depth_passes_on_the_mean_and_not_at_every_depth(bad: float) -> None:
    """Its third has a mean of 0.8: at the threshold, the best that must not pass."""
    assert passing(AnalysisSettings(), bad=bad, rule="walk_up") >= 0.85 * RUNS
    assert passing(AnalysisSettings(), bad=bad, rule="any_depth") <= 0.02 * RUNS
    assert passing(EVERY, bad=bad, rule="walk_up") <= 0.08 * RUNS
