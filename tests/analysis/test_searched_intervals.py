"""The interval that is shown of a searched length holds though the search stopped when the length was decided."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import lru_cache

import numpy as np
import pytest

from contextcliff.analysis.analysis_settings import AnalysisSettings
from contextcliff.findings.finding import findings_with
from contextcliff.findings.position import PositionProfile
from contextcliff.records.analysis import Bin
from contextcliff.records.generation import NOT_SENT, ScoredSample
from contextcliff.records.search_record import SearchPlan
from contextcliff.statistics.confidence_sequence import confidence_sequence, sequential_bounds
from contextcliff.statistics.intervals import wilson
from contextcliff.statistics.ranks import permutation_test, varying_strata
from contextcliff.statistics.sequential import ABOVE, BELOW
from tests.make import DEPTHS, analysed_search, coin, finding, known, plan_of, searched
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
    n = first.n_samples + first.n_unscored
    assert (first.mean, first.n_unscored * 11) == (1.0, n)
    low, _ = confidence_sequence([1.0] * first.n_samples + [0.0] * first.n_unscored, 0.95)
    assert (first.ci_low, first.ci_high) == pytest.approx((low, 1.0))
    _, high = confidence_sequence([0.0] * second.n_samples + [1.0] * second.n_unscored, 0.95)
    assert (second.ci_low, second.ci_high) == pytest.approx((0.0, high))


def test_samples_of_a_block_that_is_not_complete_show_nothing_yet() -> None:
    plan = plan_of(*LENGTHS, refine=True)
    samples = searched(plan, falling(9_000, seed=1), AnalysisSettings(), most_asked=1)
    cut = [*samples[:-1], replace(samples[-1], score=None, failure=NOT_SENT)]
    only = bins_of(plan, cut)[512]
    assert (only.n_samples, only.ci_low, only.ci_high, only.tested_low) == (10, 0.0, 1.0, None)


def test_the_interval_of_a_baseline_is_that_of_all_its_blocks_that_others_were_compared_with() -> None:
    plan, settings = plan_of(*LENGTHS, refine=True), AnalysisSettings(relative_to_baseline=True)
    bins = bins_of(plan, searched(plan, falling(9_000, seed=2, before=1.0), settings), settings)
    first = bins[512]
    assert first.n_samples > 11
    assert (first.ci_low, first.ci_high) == pytest.approx(confidence_sequence([1.0] * first.n_samples, 0.95))
    assert first.tested_low is None


def test_position_is_tested_within_blocks_so_that_when_a_search_stopped_does_not_matter() -> None:
    """Blocks that are all right or all wrong tell nothing of depth, whatever is exchanged between them."""
    plan = plan_of(*LENGTHS, most_blocks=4)
    blocks = iter([0.0, 1.0, 1.0, 0.0, *[1.0] * 40])
    now: dict[str, float] = {}

    def score_at(_: int, depth: float) -> float:
        if depth == 0.0:
            now["score"] = next(blocks)
        return now["score"]

    samples = searched(plan, score_at, AnalysisSettings())
    position = finding(analysed_search(plan, samples, finders=findings_with()), PositionProfile).position
    assert (position.pattern, position.p_value) == ("stable", None)


BLOCK, MOST, ALPHA, THRESHOLD = 11, 14, 0.025, 0.8
"""The shipped search: 11 depths, at most 154 samples, above at 1/.025 and below at 20."""


def stopped(rate: float, runs: int, rng: np.random.Generator) -> list[tuple[int, int]]:
    """Right answers and samples at which each run was decided, or had asked the most."""
    return [(sum(blocks), BLOCK * len(blocks)) for blocks in blocks_asked(rate, runs, rng)]


def blocks_asked(rate: float, runs: int, rng: np.random.Generator) -> list[list[int]]:
    """Right answers in each block of each run, up to the block that decides."""
    n = BLOCK * np.arange(1, MOST + 1)
    by_block = rng.binomial(BLOCK, rate, size=(runs, MOST))
    right = by_block.cumsum(axis=1)

    def log_e(stakes: Sequence[float], weights: Sequence[float], won: float, lost: float) -> np.ndarray:
        """With the gain of a right answer and of a wrong one."""
        f = np.asarray(stakes)
        logs = right[..., None] * np.log1p(f * won) + (n - right)[..., None] * np.log1p(f * lost)
        return np.asarray(np.logaddexp.reduce(np.log(weights) + logs, axis=-1))

    above = log_e(ABOVE.stakes, ABOVE.weights, (1.0 - THRESHOLD) / THRESHOLD, -1.0) >= -math.log(ALPHA)
    below = log_e(BELOW.stakes, BELOW.weights, -1.0, THRESHOLD / (1.0 - THRESHOLD)) >= math.log(20.0)
    ends = above | below
    last = np.where(ends.any(axis=1), ends.argmax(axis=1), MOST - 1)
    return [row[: at + 1].tolist() for row, at in zip(by_block, last, strict=True)]


@lru_cache(maxsize=4096)
def shown(right: int, n: int) -> tuple[float, float]:
    return confidence_sequence([1.0] * right + [0.0] * (n - right), 0.95)


@pytest.mark.parametrize("rate", [0.98, 0.95, 0.9, 0.85, 0.8, 0.7, 0.5, 0.3, 0.05])
def test_the_interval_covers_where_wilsons_does_not(rate: float, record_property: Recorder) -> None:
    """Of 2,000 runs a law. Wilson's interval, which was shown before, covers .90 at a true score of .7."""
    runs = 2_000
    results = stopped(rate, runs, np.random.default_rng(3))
    before = sum(low <= rate <= high for low, high in (wilson(k, n, 0.95) for k, n in results)) / runs
    after = sum(low <= rate <= high for low, high in (shown(k, n) for k, n in results)) / runs
    record_property("wilson", before)
    record_property("confidence_sequence", after)
    record_property("bias", float(np.mean([k / n for k, n in results])) - rate)
    record_property("width", float(np.mean([high - low for low, high in (shown(k, n) for k, n in results)])))
    assert after >= 0.95
    assert before < 0.93 or rate not in (0.85, 0.8, 0.7, 0.05)


def test_the_stopped_runs_are_those_of_the_bound_that_is_tested() -> None:
    """A run that stopped because it was shown above has the threshold below its bound."""
    for right, n in set(stopped(0.95, 200, np.random.default_rng(4))):
        low, high = sequential_bounds([1.0] * right + [0.0] * (n - right), alpha=ALPHA)
        assert low >= THRESHOLD or high <= THRESHOLD or n == BLOCK * MOST


@pytest.mark.slow
@pytest.mark.parametrize("rates", [(0.9,), (0.95, 0.8), (0.98, 0.9, 0.5)])
def test_a_search_that_stops_shows_a_pattern_over_depth_no_more_often_than_it_may(
    rates: tuple[float, ...], record_property: Recorder
) -> None:
    """Where the score does not depend on depth. `rates` are the true scores at the lengths that were asked."""
    runs, rng, shown_patterns = 2_000, np.random.default_rng(9), 0
    for _ in range(runs):
        blocks = [right for rate in rates for (run,) in [blocks_asked(rate, 1, rng)] for right in run]
        strata = [
            list(zip(DEPTHS, rng.permutation(np.arange(BLOCK) < right).astype(float), strict=True)) for right in blocks
        ]
        varying = varying_strata(strata)
        shown_patterns += bool(varying) and permutation_test(varying)[2] <= 0.05
    record_property("shown", shown_patterns / runs)
    assert shown_patterns <= most_errors(runs, 0.05)
