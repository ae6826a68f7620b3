"""A calibration: laws with a known crossing, and what the methods make of them in many simulated runs."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from contextcliff.analysis.calibration.calibrating import (
    FIXED,
    SEARCHES,
    DesignName,
    calibrate_law,
    calibrated,
    simulate,
)
from contextcliff.analysis.calibration.laws import FEWEST_PLACES, HIGHEST, LOWEST, Law, laws_of
from contextcliff.statistics.power import sequential_power
from tests.analysis.calibration_plans import LAWS, LENGTHS, plan_of
from tests.statistics.simulated_walks import most_errors

DESIGNS: tuple[DesignName, ...] = (*SEARCHES, *FIXED)
NAMES = list(LAWS)


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


@pytest.mark.parametrize("law", LAWS.values(), ids=NAMES)
@pytest.mark.parametrize("places", [FEWEST_PLACES, 11])
def test_scores_are_drawn_about_their_true_mean(law: Law, places: int) -> None:
    mean = law.true_score(LENGTHS[1])
    drawn = law.draw(np.random.default_rng(0), mean, (2_000, 5, places)) / law.parts
    of_blocks = drawn.mean(axis=(1, 2))
    assert abs(of_blocks.mean() - mean) <= 4.5 * of_blocks.std() / np.sqrt(len(of_blocks)) + 1e-12


def test_what_is_lost_is_the_median_over_all_runs_with_those_without_a_cap() -> None:
    def lost(name: str, *caps: int) -> float | None:
        return calibrated(LAWS[name], "walk", (np.array(caps), np.ones(len(caps))), longest=65_536).octaves_lost

    assert lost("flat_95", 65_536, 32_768, 0) == 1.0
    assert lost("flat_95", 0, 0, 65_536) is None
    assert lost("cliff_at_length", 8192, 4096, 2048) == 1.0
    assert lost("cliff_at_length", 16_384, 32_768, 2048) == 0.0
    assert lost("flat_threshold", 512, 512) is None


@pytest.mark.parametrize("law", LAWS.values(), ids=NAMES)
def test_every_law_is_calibrated_by_every_design_and_the_same_seed_gives_the_same_figures(law: Law) -> None:
    first, again = (calibrate_law(plan_of(100), law, DESIGNS) for _ in range(2))
    assert first == again
    assert tuple(result.design for result in first) == DESIGNS
    for result in first:
        assert result.runs == 100
        assert result.can_err or result.errors == 0
        assert result.error_low <= result.error <= result.error_high
        assert result.with_whole_range <= result.with_cap
        assert result.tokens > 0
        assert result.errors <= most_errors(100, 0.05)


def test_more_runs_change_none_of_the_runs_before() -> None:
    for name, design in (("slope_between", "refine"), ("graded_90", "walk"), ("relative_70", "fixed_40")):
        (few, _), (many, _) = (simulate(plan_of(runs), LAWS[name], design) for runs in (20, 60))  # type: ignore[arg-type]
        assert many[:20].tolist() == few.tolist()


@pytest.mark.parametrize("name", ["flat_98", "flat_95", "flat_90", "flat_85", "flat_threshold"])
@pytest.mark.parametrize("refine", [False, True])
def test_flat_laws_have_caps_as_often_as_the_exact_power_says(name: str, refine: bool) -> None:
    law, plan = LAWS[name], plan_of(2_000)
    caps, _ = simulate(plan, law, "refine" if refine else "walk")
    exact = sequential_power(law.true_score(512), threshold=0.8, alpha=0.025 if refine else 0.05, block=11, most=160)
    with_cap = int((caps > 0).sum())
    assert 2_000 - most_errors(2_000, 1.0 - exact.above) <= with_cap <= most_errors(2_000, exact.above)


@pytest.mark.slow
@pytest.mark.parametrize("law", LAWS.values(), ids=NAMES)
def test_a_cap_is_above_the_crossing_in_at_most_alpha_of_2000_runs(law: Law) -> None:
    """More errors than the bound come with a chance of at most 1 in 10,000 where the error is exactly alpha."""
    plan = plan_of(2_000)
    errors = {result.design: result.errors for result in calibrate_law(plan, law, DESIGNS)}
    assert max(errors.values()) <= most_errors(2_000, plan.alpha), errors
