"""A calibration: laws with a known crossing, and what the methods make of them."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from contextcliff.analysis.analyse import study_of
from contextcliff.analysis.analysis_settings import AnalysisSettings
from contextcliff.analysis.calibration.calibrating import (
    FIXED,
    SEARCHES,
    DesignName,
    calibrate_law,
    calibrated,
    fixed_outcomes,
    fixed_scores,
    simulate,
)
from contextcliff.analysis.calibration.laws import FEWEST_PLACES, HIGHEST, LOWEST, Law, laws_of
from contextcliff.analysis.study import StudyFacts
from contextcliff.records.generation import ScoredSample
from tests.analysis.calibration_plans import LAWS, LENGTHS, plan_of
from tests.make import known, scored_sample
from tests.statistics.simulated_walks import most_errors, simulated_runs

DESIGNS: tuple[DesignName, ...] = (*SEARCHES, *FIXED)
NAMES = list(LAWS)
RUNS, SOME = 3, ("slope_between", "graded_90", "relative_70")
"""A slow test has more of both."""


@given(threshold=st.floats(LOWEST, HIGHEST), name=st.sampled_from(NAMES))
def test_a_true_score_never_rises_and_is_at_the_threshold_at_its_crossing(threshold: float, name: str) -> None:
    (law,) = (law for law in laws_of(LENGTHS, threshold) if law.name == name)
    lengths = sorted({*range(512, 65_537, 997), *LENGTHS})
    scores = [law.true_score(tokens) for tokens in lengths]
    assert all(longer <= shorter + 1e-12 for shorter, longer in pairwise(scores))
    bar = threshold * (scores[0] if law.relative else 1.0)
    crossing = law.crossing
    for tokens, score in zip(lengths, scores, strict=True):
        assert law.is_error(tokens) is (crossing is not None and tokens >= crossing)
        assert (score <= bar + 1e-9) if law.is_error(tokens) else (score > bar - 1e-9)


@pytest.mark.parametrize("places", [FEWEST_PLACES, 11])
def test_scores_are_drawn_about_their_true_mean(places: int) -> None:
    for name, law in LAWS.items():
        mean = law.true_score(LENGTHS[1])
        drawn = law.draw(np.random.default_rng(0), mean, (2_000, 5, places)) / law.parts
        of_blocks = drawn.mean(axis=(1, 2))
        assert abs(of_blocks.mean() - mean) <= 4.5 * of_blocks.std() / np.sqrt(len(of_blocks)) + 1e-12, name


def test_what_is_lost_is_the_median_over_all_runs_with_those_without_a_cap() -> None:
    def lost(name: str, *caps: int) -> float | None:
        return calibrated(LAWS[name], "walk", (np.array(caps), np.ones(len(caps))), longest=65_536).octaves_lost

    assert lost("flat_95", 65_536, 32_768, 0) == 1.0
    assert lost("flat_95", 0, 0, 65_536) is None
    assert lost("cliff_at_length", 8192, 4096, 2048) == 1.0
    assert lost("cliff_at_length", 16_384, 32_768, 2048) == 0.0
    assert lost("flat_threshold", 512, 512) is None


def test_a_law_is_calibrated_by_every_design_and_the_same_seed_gives_the_same_figures() -> None:
    found = {name: calibrate_law(plan_of(RUNS), LAWS[name], DESIGNS) for name in SOME}
    assert {tuple(result.design for result in results) for results in found.values()} == {DESIGNS}
    for name, results in found.items():
        for result in results:
            assert result.runs == RUNS
            assert result.can_err or result.errors == 0, name
            assert result.error_low <= result.error <= result.error_high, name
            assert result.with_whole_range <= result.with_cap, name
            assert result.tokens > 0, name
            assert result.errors <= most_errors(RUNS, 0.05), name
    assert calibrate_law(plan_of(RUNS), LAWS[SOME[0]], DESIGNS) == found[SOME[0]]


def test_more_runs_change_none_of_the_runs_before() -> None:
    for name, design in (("slope_between", "refine"), ("graded_90", "walk"), ("relative_70", "fixed_40")):
        (few, _), (many, _) = (simulate(plan_of(runs), LAWS[name], design) for runs in (2, 4))  # type: ignore[arg-type]
        assert many[:2].tolist() == few.tolist()


@pytest.mark.slow
@pytest.mark.parametrize("law", LAWS.values(), ids=NAMES)
def test_a_cap_is_above_the_crossing_in_at_most_alpha_of_the_runs(law: Law) -> None:
    """More errors than the bound come with a chance of at most 1 in 10,000 where the error is exactly alpha."""
    designs: tuple[tuple[int, Sequence[DesignName]], ...] = ((100, (*SEARCHES, "fixed_500")), (1_000, ("fixed_40",)))
    for runs, some in designs:
        plan = plan_of(simulated_runs(runs))
        errors = {result.design: result.errors for result in calibrate_law(plan, law, some)}
        assert max(errors.values()) <= most_errors(plan.runs, plan.alpha), errors


def _analysed_cap(samples: Sequence[ScoredSample], *, relative: bool) -> int:
    """The cap that the analysis of a run gives; 0 where no length beyond a baseline clears."""
    settings = AnalysisSettings(relative_to_baseline=relative)
    facts = StudyFacts(max_context_tokens=131_072, designed_lengths=True, relative_by_default=False)
    sequence = known(study_of(samples, settings, facts).sequence)
    return (sequence.cap_tokens or 0) if sequence.cleared > int(relative) else 0


FIXED_RUNS = [
    pytest.param("fixed_40", 2, id="fixed_40"),
    pytest.param("fixed_40", 40, id="fixed_40-record", marks=pytest.mark.slow),
    pytest.param("fixed_500", 4, id="fixed_500-record", marks=pytest.mark.slow),
]


@pytest.mark.parametrize(("design", "runs"), FIXED_RUNS)
@pytest.mark.parametrize("law", LAWS.values(), ids=list(LAWS))
def test_a_simulated_fixed_design_has_the_cap_that_its_analysis_gives(law: Law, design: DesignName, runs: int) -> None:
    plan, samples = plan_of(runs), FIXED[design]
    drawn = {tokens: (fixed_scores(plan, law, samples, tokens) / law.parts).reshape(runs, -1) for tokens in LENGTHS}
    analysed = [
        _analysed_cap(
            [scored_sample(tokens, float(score)) for tokens in LENGTHS for score in drawn[tokens][run]],
            relative=law.relative,
        )
        for run in range(runs)
    ]
    caps, _ = fixed_outcomes(plan, law, samples)
    assert caps.tolist() == analysed
