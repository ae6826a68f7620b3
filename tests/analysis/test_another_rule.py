"""Answers that were asked for one rule and are judged by another: the search is followed anew, as far as they go."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import pytest

from contextcliff.analysis.analysis_settings import AnalysisSettings
from contextcliff.records.analysis import Analysis
from contextcliff.records.generation import ScoredSample
from contextcliff.records.search_record import SearchPlan
from tests.make import ScoreAt, analysed_search, coin, plan_of, searched
from tests.statistics.simulated_walks import most_errors, simulated_runs

LENGTHS = (512, 1_024, 2_048)
USUAL = AnalysisSettings()
Asked = tuple[SearchPlan, list[ScoredSample]]


def asked(score_at: ScoreAt, settings: AnalysisSettings = USUAL, *, most: int = 1_000) -> Asked:
    """A search for the rule of these settings: its plan, which knows the rule, and its samples."""
    plan = replace(plan_of(*LENGTHS, refine=True), rule=settings.search_rule(relative=False))
    return plan, searched(plan, score_at, settings, most_asked=most)


def by(threshold: float, search: Asked) -> Analysis:
    return analysed_search(*search, AnalysisSettings(threshold=threshold), finders=())


def test_a_higher_threshold_leaves_the_first_length_undecided_and_says_what_asks_on() -> None:
    cap = by(0.9, asked(lambda *_: 1.0)).safe_cap
    assert (cap.tokens, cap.evidence) == (None, "unsettled")
    assert str(cap.reason).endswith(
        "samples, asked with analysis.threshold=0.8; the run's command with analysis.threshold=0.9 asks what is missing"
    )


def test_a_lower_threshold_takes_what_it_needs() -> None:
    cap = by(0.7, asked(lambda *_: 1.0)).safe_cap
    assert (cap.tokens, cap.censored) == (2_048, True)


def test_a_run_that_stopped_early_is_open_by_its_own_rule() -> None:
    analysis = by(0.8, asked(lambda *_: 1.0, most=30))
    assert [each.asked_tokens for each in analysis.bins] == [512, 1_024]
    assert str(analysis.safe_cap.reason).endswith(" samples before it was decided")


def test_every_key_of_the_rule_is_said_that_is_another_one() -> None:
    settings = AnalysisSettings(threshold=0.9, confidence=0.99, relative_to_baseline=True)
    reason = str(analysed_search(*asked(lambda *_: 1.0), settings, finders=()).safe_cap.reason)
    keys = "analysis.threshold=0.8, analysis.relative_to_baseline=false, analysis.confidence=0.95"
    assert f"asked with {keys}" in reason
    assert "analysis.confidence=0.99 asks what is missing" in reason


def _true(first: float, later: float, tokens: int, _: float) -> float:
    return first if tokens < 600 else later


@pytest.mark.slow
@pytest.mark.parametrize("threshold", [0.7, 0.85])
def test_no_threshold_errs_more_often_than_stated_on_answers_that_were_asked_for_another(threshold: float) -> None:
    runs = simulated_runs(100)
    for first in (1.0, threshold):  # at the threshold from the second length on, or everywhere
        wrong = 0
        for seed in range(runs):
            found = asked(coin(partial(_true, first, threshold), seed))
            wrong += (by(threshold, found).safe_cap.tokens or 0) >= (600 if first == 1.0 else 1)
        assert wrong <= most_errors(runs, 0.05)
