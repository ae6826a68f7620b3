"""Bins of prompts that have lengths of their own: what a mean over a bin shows, and of which prompt."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray

from contextcliff.analysis.analyse import analyse, study_of
from contextcliff.analysis.analysis_settings import AnalysisSettings
from contextcliff.analysis.calibration.laws import TrueScore, cliff, slope
from contextcliff.analysis.study import Study, StudyFacts
from contextcliff.findings.finding import findings_with
from contextcliff.records.analysis import Analysis
from contextcliff.records.generation import ScoredSample
from tests.make import scored_sample
from tests.statistics.simulated_walks import most_errors


def studied(bins: list[list[tuple[int, float]]], *, window: int = 8_192, relative: bool = False) -> Study:
    """(tokens, score) in the bins that they were drawn for."""
    samples = [_sample(tokens, score, place) for place, members in enumerate(bins) for tokens, score in members]
    facts = StudyFacts(max_context_tokens=window, designed_lengths=False, relative_by_default=False)
    return study_of(samples, AnalysisSettings(relative_to_baseline=relative), facts)


def analysed(bins: list[list[tuple[int, float]]], *, window: int = 8_192, relative: bool = False) -> Analysis:
    return analyse(studied(bins, window=window, relative=relative), findings_with())


def _sample(tokens: int, score: float, place: int) -> ScoredSample:
    item = scored_sample(tokens, score)
    return replace(item, sample=replace(item.sample, bin=place))


def a_bin(low: int, high: int, *, right: int) -> list[tuple[int, float]]:
    """Lengths evenly from `low` to `high`, the shortest `right` of them answered rightly."""
    lengths = np.linspace(low, high, 40).round().astype(int)
    return [(int(tokens), float(number < right)) for number, tokens in enumerate(lengths)]


def test_the_cap_is_the_shortest_prompt_of_its_bin_and_the_ceiling_the_longest_of_the_first_below() -> None:
    found = analysed(
        [a_bin(100, 190, right=40), a_bin(200, 390, right=38), a_bin(400, 790, right=10), a_bin(800, 1_500, right=0)]
    )
    assert (found.safe_cap.tokens, found.safe_cap.ci_low, found.safe_cap.ci_high) == (200, 200, 790)
    assert (found.caps["walk_up"], found.caps["absolute"], found.caps["relative"]) == (200, 200, 200)
    assert str(found.safe_cap.reason).startswith(
        "every tested length up to 200 tokens clears 0.80 at 95% confidence; at 595 the score is"
    )
    assert [(zone.min_tokens, zone.max_tokens) for zone in found.zones] == [(0, 200), (201, 789), (790, 1_500)]


def test_the_ceiling_is_above_the_cap_though_measured_lengths_of_neighbouring_bins_overlap() -> None:
    found = analysed([a_bin(100, 223, right=40), a_bin(222, 400, right=0)])
    assert (found.safe_cap.tokens, found.safe_cap.ci_high) == (100, 400)


@pytest.mark.parametrize(("window", "is_said"), [(8_192, True), (1_800, False)])
def test_a_set_whose_longest_document_is_short_of_half_the_window_is_said_to_cover_little(
    window: int, is_said: bool
) -> None:
    notes = analysed([a_bin(100, 200, right=40), a_bin(300, 900, right=40)], window=window).notes
    said = "the longest document takes 900 tokens, 11% of the window of 8,192: nothing is known of longer ones"
    assert (said in map(str, notes)) == is_said


def test_over_a_baseline_that_admits_no_cap_no_number_of_samples_is_said_to_settle_it() -> None:
    scores = [[(tokens, 0.16 if tokens < 200 else 0.1) for tokens in range(low, low + 20)] for low in (100, 300, 900)]
    found = analysed(scores, relative=True).safe_cap
    assert (found.tokens, found.evidence, found.settling_samples) == (None, "unsettled", None)


LAWS: dict[str, TrueScore] = {"cliff": cliff(0.8, 3_700.0, high=0.95), "slope": slope(0.8, 3_700.0, high=0.95)}


@pytest.mark.slow
@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize(("bins", "a_bin_has"), [(5, 20), (10, 40)])
def test_the_crossing_lies_between_cap_and_ceiling(law: str, bins: int, a_bin_has: int) -> None:
    rng, runs, above, below = np.random.default_rng(0), 1_000, 0, 0
    for _ in range(runs):
        lengths = np.sort(2.0 ** rng.uniform(9.0, 14.0, bins * a_bin_has)).round().astype(int)
        rates = np.array([LAWS[law](float(tokens)) for tokens in lengths])
        right: NDArray[np.bool_] = rng.random(len(lengths)) < rates
        pairs = list(zip(lengths.tolist(), right.astype(float).tolist(), strict=True))
        cap = studied([pairs[i * a_bin_has : (i + 1) * a_bin_has] for i in range(bins)], window=32_768).safe_cap
        above += cap.tokens is not None and cap.tokens >= 3_700
        below += cap.ci_high is not None and cap.ci_high <= 3_700
    assert above <= most_errors(runs, 0.05)
    assert below <= most_errors(runs, 0.05)
