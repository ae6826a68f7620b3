"""A cap that holds at each third of the depths, beside the one for the mean over them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contextcliff.analysis.analysis_settings import AnalysisSettings
from contextcliff.findings.every_depth import EveryDepth, EveryDepthFinding
from contextcliff.records.analysis import Analysis
from contextcliff.records.search_record import depth_thirds
from tests.make import DEPTHS, analysed, analysed_search, coin, finding, plan_of, scored_sample, searched

ONLY = (EveryDepthFinding(),)


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
    assert sizes == sizes[::-1]
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


def test_a_search_stops_when_the_mean_is_decided_and_says_so() -> None:
    plan = plan_of(500, 1_000)
    analysis = analysed_search(plan, searched(plan, lambda *_: 1.0, AnalysisSettings()))
    assert analysis.safe_cap.tokens == 1_000
    assert analysis.caps["any_depth"] is None
    assert "the search stops when the mean is decided" in str(finding(analysis, EveryDepth).reason)


RUNS = 300


@pytest.mark.slow
def test_one_bad_depth_passes_on_the_mean_and_not_at_every_depth() -> None:
    """Its third has a mean of 0.8: at the threshold, the best that must not pass."""
    plan, caps = plan_of(500), Counter[str]()
    for seed in range(RUNS):
        score_at = coin(lambda _, depth: 0.4 if depth == 0.5 else 1.0, seed)
        analysis = analysed_search(plan, searched(plan, score_at, AnalysisSettings()), finders=ONLY)
        caps.update(rule for rule, cap in analysis.caps.items() if cap is not None)
    assert caps["walk_up"] >= 0.8 * RUNS
    assert caps["any_depth"] <= 0.02 * RUNS
