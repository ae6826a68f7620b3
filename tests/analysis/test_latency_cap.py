"""Up to which length requests are answered within a limit on latency."""

from __future__ import annotations

from dataclasses import replace

from contextcliff.analysis.analyse import analyse, study_of
from contextcliff.analysis.analysis_settings import AnalysisSettings
from contextcliff.analysis.limits import LatencyCap
from contextcliff.analysis.study import StudyFacts
from contextcliff.findings.finding import findings_with
from contextcliff.findings.warnings import EarlyWarnings
from contextcliff.records.analysis import Analysis
from contextcliff.records.generation import ScoredSample
from tests.make import finding, known, scored_sample

FACTS = StudyFacts(max_context_tokens=8_192, designed_lengths=True, relative_by_default=False)


def taking(length: int, *times: float) -> list[ScoredSample]:
    return [scored_sample(length, 1.0, ttft_ms=0.5 * time, latency_ms=time) for time in times]


def analysis_of(samples: list[ScoredSample], facts: StudyFacts = FACTS, **settings: float) -> Analysis:
    return analyse(study_of(samples, AnalysisSettings(**settings), facts), findings_with())  # type: ignore[arg-type]  # keys of the settings


def cap_of(analysis: Analysis) -> LatencyCap:
    return known(finding(analysis, EarlyWarnings).latency_slo)


def test_of_documents_with_their_own_length_the_cap_is_the_shortest_prompt_of_the_bin() -> None:
    samples = [item for length in range(500, 580) for item in taking(length, 10.0)]
    facts = replace(FACTS, designed_lengths=False)
    analysis = analyse(study_of(samples, AnalysisSettings(latency_slo_ms=100.0, bins=2), facts), findings_with())
    assert analysis.caps["latency"] == analysis.bins[1].min_tokens == 540


def test_how_many_requests_in_time_show_a_share() -> None:
    expected = {(13, 0.8): False, (14, 0.8): True, (58, 0.95): False, (59, 0.95): True}
    found = {
        (n, share): analysis_of(taking(500, *[10.0] * n), latency_slo_ms=100.0, latency_slo_share=share)
        for n, share in expected
    }
    assert {key: analysis.caps["latency"] == 500 for key, analysis in found.items()} == expected


def test_a_sample_without_an_answer_is_late() -> None:
    samples = [*taking(500, *[10.0] * 20), *[scored_sample(500, None) for _ in range(10)]]
    (length,) = cap_of(analysis_of(samples, latency_slo_ms=100.0)).lengths
    assert (length.n_within, length.n_requests, length.clears) == (20, 30, False)


def test_a_length_after_one_that_does_not_clear_is_not_counted() -> None:
    samples = [*taking(500, *[10.0] * 20), *taking(1_000, *[300.0] * 20), *taking(2_000, *[10.0] * 20)]
    assert analysis_of(samples, latency_slo_ms=100.0).caps["latency"] == 500


def test_prompts_out_of_the_cache_do_not_make_a_limit_hold() -> None:
    cached = [
        replace(item, generation=replace(item.generation, cached_tokens=490))
        for item in taking(500, *[10.0] * 40)
        if item.generation is not None
    ]
    assert analysis_of([*cached, *taking(500, *[300.0] * 20)], latency_slo_ms=100.0).caps["latency"] is None
