"""Answers that were asked for one rule and are judged by another: every length counts, and no claim errs more often."""

from __future__ import annotations

from dataclasses import replace

import another_rule
import pytest

from contextcliff.analysis.analysis_settings import AnalysisSettings
from contextcliff.analysis.search import blocks_used, follow, judged_again
from contextcliff.records.analysis import Analysis
from contextcliff.records.generation import ScoredSample
from contextcliff.records.search_record import PASSED, SearchPlan
from tests.analysis.test_calibration import SimulatedBlocks
from tests.make import ScoreAt, analysed_search, plan_of, searched
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


def shown(analysis: Analysis) -> list[tuple[int, int]]:
    return [(each.asked_tokens, each.n_samples) for each in analysis.bins]


PERFECT = [(length, 22) for length in LENGTHS]


def test_a_higher_threshold_shows_every_length_undecided_and_says_what_asks_on() -> None:
    analysis = by(0.9, asked(lambda *_: 1.0))
    assert shown(analysis) == PERFECT
    assert (analysis.safe_cap.tokens, analysis.safe_cap.evidence) == (None, "unsettled")
    assert str(analysis.safe_cap.reason) == (
        "no tested length is shown to clear 0.90 at 95% confidence; at 512 the score is 1.00 (95% CI 0.80–1.00), not "
        "decided by 22 samples, asked with analysis.threshold=0.8; the run's command with analysis.threshold=0.9 asks "
        "what is missing"
    )


def test_a_lower_threshold_keeps_every_sample_and_bound_and_says_where_the_answers_end() -> None:
    whole = by(0.7, asked(lambda *_: 1.0))
    assert (shown(whole), whole.safe_cap.tokens, whole.safe_cap.censored) == (PERFECT, 2_048, True)
    assert [each.tested_low for each in whole.bins] == [each.tested_low for each in by(0.8, asked(lambda *_: 1.0)).bins]
    # Ten of eleven depths are right from 600 on: not shown to clear 0.95, and above 0.8.
    ended = by(0.8, asked(lambda length, depth: float(length < 600 or depth != 0.5), AnalysisSettings(threshold=0.95)))
    assert (shown(ended)[-1][0], ended.safe_cap.tokens, ended.safe_cap.censored) == (1_024, 1_024, False)
    assert str(ended.safe_cap.reason).endswith(
        "; the answers end there, asked with analysis.threshold=0.95; the run's command with analysis.threshold=0.8 "
        "asks what is missing"
    )


def test_a_length_that_is_below_the_new_threshold_stops_the_walk_and_no_search_is_said_to_end_there() -> None:
    search = asked(lambda length, depth: float(length > 600 or depth != 0.5))  # 10 of 11 at the shortest
    analysis = by(0.99, search)
    assert [each.asked_tokens for each in analysis.bins] == [*LENGTHS]
    assert "the search ends there" not in str(analysis.safe_cap.reason)


def test_a_run_that_stopped_early_is_open_by_its_own_rule() -> None:
    analysis = by(0.8, asked(lambda *_: 1.0, most=3))
    assert shown(analysis) == [(512, 22), (1_024, 11)]
    assert str(analysis.safe_cap.reason).endswith(", and the run ended with 11 samples before it was decided")


def test_a_store_that_does_not_know_the_rule_is_taken_to_have_asked_for_the_usual_one_where_that_is_decided() -> None:
    plan, samples = asked(lambda *_: 1.0)
    old = replace(plan, rule=None)
    assert by(0.9, (old, samples)) == by(0.9, (plan, samples))
    assert shown(by(0.9, (old, samples[:33]))) == [(512, 22)]  # nor is it decided by the usual one
    strict = asked(lambda *_: 1.0, AnalysisSettings(threshold=0.9))
    assert by(0.9, (replace(strict[0], rule=None), strict[1])) == by(0.9, strict)


def test_every_key_of_the_rule_is_said_that_is_another_one() -> None:
    settings = AnalysisSettings(threshold=0.9, confidence=0.99, relative_to_baseline=True, every_depth=True)
    reason = str(analysed_search(*asked(lambda *_: 1.0), settings, finders=()).safe_cap.reason)
    assert (
        "asked with analysis.threshold=0.8, analysis.relative_to_baseline=false, analysis.confidence=0.95, " in reason
    )
    assert "analysis.confidence=0.99, analysis.every_depth=true asks what is missing" in reason


@pytest.mark.parametrize("refine", [False, True])
@pytest.mark.parametrize("name", ["threshold_between", "relative_95", "graded_threshold", "cliff_between"])
@pytest.mark.parametrize("threshold", [0.7, 0.85])
def test_the_simulation_judges_as_the_analysis_does(name: str, threshold: float, refine: bool) -> None:
    law, runs = another_rule.laws(threshold)[name], 8
    old, new = (another_rule.searches(law, each, refine=refine, runs=runs) for each in (another_rule.ASKED, threshold))
    for run in range(runs):
        blocks = SimulatedBlocks(old, run, {})
        found = follow(replace(old.plan, rule=old.rule), old.rule, blocks)
        stored = {key: blocks[key] for key in blocks_used(found.search, relative=law.relative)}
        tested = judged_again(found, new.rule, stored).search.tested
        assert another_rule.judged(old.path(run), run, new) == [
            (each.context_tokens, each.decision in PASSED, each.decision == "below") for each in tested
        ]


@pytest.mark.slow
def test_no_threshold_errs_more_often_than_stated_on_answers_that_were_asked_for_another() -> None:
    runs = simulated_runs(100)
    laws = ("flat_threshold", "step_to_threshold", "threshold_between", "last_at_threshold")
    at_binomial = 0
    for name in laws:
        for threshold in another_rule.JUDGED:
            counts = another_rule.simulate(another_rule.laws(threshold)[name], threshold, refine=True, runs=runs)
            for way in ("stored", "asked on", "rule not stored"):
                assert counts[way].wrong_cap <= most_errors(runs, 0.05), (name, threshold, way)
            assert counts["stored"].wrong_below <= most_errors(runs, 0.05), (name, threshold)
            at_binomial += counts["binomial"].wrong_cap if threshold == 0.85 else 0
    assert at_binomial > most_errors(len(laws) * runs, 0.05)  # so that the bounds can fail
