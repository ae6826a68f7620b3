"""What is said of the prose at each length, by hand-worked values."""

import dataclasses
import json
import math
import random
import time

import numpy as np
import pytest
from scipy import stats

from contextcliff.records.generation import ScoredSample
from contextcliff.statistics.intervals import mean_intervals
from contextcliff.writing.measures.measure import BY_NAME, MEASURES
from contextcliff.writing.prose_findings import MeasureLevel, WritingTier
from tests.writing.written_rounds import rounds_of, writing, written


def only_tier(scored: list[ScoredSample]) -> WritingTier:
    (found,) = writing(scored).tiers
    return found


def level(tier: WritingTier, name: str) -> MeasureLevel:
    return next(found for found in tier.measures if found.name == name)


def test_a_measure_by_hand() -> None:
    details = {
        "original.cloze_score": 30.0,
        "author_mean.cloze_score": 28.0,
        "author_std.cloze_score": 2.0,
        "composite": 40.0,
        "composite_classic": 50.0,
    }
    scored = [
        written(2_048, {**details, "cloze_score": value, "z.cloze_score": (value - 28) / 2}, trial=trial)
        for trial, value in enumerate([28.0, 32.0, 36.0])
    ]
    tier = only_tier(scored)
    found = level(tier, "cloze_score")
    assert (found.n, found.mean, found.std, found.original) == (3, 32.0, 4.0, 30.0)
    # The z-scores are 0, 2 and 4.
    assert (found.author_mean, found.author_std, found.z, found.z_std) == (28.0, 2.0, 2.0, 2.0)
    assert found.cv == pytest.approx(0.125)
    assert found.converged is True
    assert found.ci_low is not None
    assert found.ci_high is not None
    assert 28.0 <= found.ci_low < 32.0 < found.ci_high <= 36.0
    assert tier.reading_level == "9-10"
    assert (tier.composite.n, tier.composite.mean, tier.composite.std) == (3, 40.0, 0.0)
    assert (tier.composite_classic.mean, tier.composite_classic.ci_low) == (50.0, 50.0)


def test_just_over_a_tenth_away_has_not_converged() -> None:
    near, far = (
        level(only_tier([written(512, {"mtld": value, "original.mtld": 60.0})]), "mtld") for value in (66.0, 66.1)
    )
    assert (near.converged, far.converged) == (True, False)


def test_what_is_not_measured_is_none_and_never_zero() -> None:
    tier = only_tier([written(512, {"mtld": 70.0}), written(512, {"cloze_score": math.nan})])
    found = level(tier, "mtld")
    assert (found.n, found.mean) == (1, 70.0)
    assert {
        found.std,
        found.ci_low,
        found.ci_high,
        found.cv,
        found.original,
        found.z,
        found.z_std,
        found.converged,
    } == {None}
    assert [measure.name for measure in tier.measures] == ["mtld"]
    assert tier.reading_level is None
    assert (tier.composite.n, tier.composite.mean) == (0, None)


def test_measures_that_no_round_has_are_named() -> None:
    found = writing([written(512, {"mtld": 70.0}), written(1_024, {"cloze_score": 30.0})])
    assert {"mtld", "cloze_score"} | set(found.unmeasured) == set(BY_NAME)
    assert not {"mtld", "cloze_score"} & set(found.unmeasured)
    # A measure of any length has a row at every length.
    assert [level(tier, "mtld").n for tier in found.tiers] == [1, 0]


def test_a_mean_of_zero_has_no_coefficient_of_variation() -> None:
    assert level(only_tier(rounds_of(512, copied_share=[0.0, 0.0])), "copied_share").cv is None


def test_repeats_of_one_draw_count_once() -> None:
    scored = [written(512, {"mtld": value}, trial=trial, item="greedy") for trial, value in enumerate([60, 70, 80])]
    scored += [written(512, {"mtld": 90.0}, trial=3, item="other")]
    tier = only_tier(scored)
    assert (tier.n_rounds, tier.n_distinct) == (4, 2)
    # The mean of 70, itself a mean, and 90.
    assert (level(tier, "mtld").n, level(tier, "mtld").mean) == (2, 80.0)


def test_how_rounds_end_is_counted() -> None:
    scored = [
        written(512, {}, failure="empty", score=0.0, finish_reason="stop"),
        written(512, {"mtld": 70.0}),
        written(512, {"mtld": 71.0}),
        written(512, {}, score=None),
    ]
    tier = only_tier(scored)
    assert (tier.n_rounds, tier.n_unscored, tier.n_distinct) == (3, 1, 3)
    assert tier.outcomes == {"complete": 2, "empty": 1}
    assert tier.finish_reasons == {"length": 2, "stop": 1}


def test_controls_count_in_nothing() -> None:
    ordinary = written(512, {"mtld": 70.0})
    control = dataclasses.replace(
        ordinary, sample=dataclasses.replace(ordinary.sample, sample_id="control", control="floor")
    )
    assert only_tier([ordinary, control]).n_rounds == 1


def test_an_outlier_is_flagged_and_kept() -> None:
    values = [30.0, 31.0, 32.0, 33.0, 80.0]
    scored = rounds_of(512, cloze_score=values, vocabulary_diversity=[0.5] * 5)
    tier = only_tier(scored)
    (flagged,) = tier.outliers
    assert (flagged.trial, flagged.measures) == (4, ("cloze_score",))
    assert flagged.sample_id == scored[4].sample.sample_id
    assert level(tier, "cloze_score").mean == pytest.approx(sum(values) / 5)


def test_the_fences_are_one_and_a_half_interquartile_ranges_out() -> None:
    # Quartiles 2 and 4: the fences are at −1 and 7, and what is on one is inside.
    assert only_tier(rounds_of(512, cloze_score=[1.0, 2.0, 3.0, 4.0, 7.0])).outliers == ()
    assert len(only_tier(rounds_of(512, cloze_score=[1.0, 2.0, 3.0, 4.0, 7.01])).outliers) == 1


def test_below_four_rounds_nothing_is_an_outlier() -> None:
    assert only_tier(rounds_of(512, cloze_score=[30.0, 30.0, 90.0])).outliers == ()


def test_the_bootstrap_agrees_with_scipys_percentile_interval() -> None:
    values = np.random.default_rng(2).gamma(2.0, size=15)
    ((low, high),) = mean_intervals(values[:, None], confidence=0.95, seed=5)
    expected = stats.bootstrap(
        (values,), np.mean, method="percentile", n_resamples=10_000, rng=np.random.default_rng(6)
    ).confidence_interval
    assert (low, high) == pytest.approx((expected.low, expected.high), abs=0.03)
    assert mean_intervals(np.full((7, 1), 0.1), confidence=0.95, seed=1) == [(0.1, 0.1)]


def full_run(lengths: int = 10, rounds: int = 10) -> list[ScoredSample]:
    rng = random.Random(4)
    return [
        written(
            1_024 * (place + 1),
            {
                key: rng.gauss(0.0, 1.0)
                for measure in MEASURES
                for key in (
                    measure.name,
                    f"original.{measure.name}",
                    f"author_mean.{measure.name}",
                    f"z.{measure.name}",
                )
            },
            trial=trial,
        )
        for place in range(lengths)
        for trial in range(rounds)
    ]


def test_a_large_run_takes_seconds_and_holds_finite_numbers_only() -> None:
    scored = full_run()
    rng = random.Random(5)
    author = {measure.name: [rng.gauss(0.0, 1.0) for _ in range(40)] for measure in MEASURES}
    started = time.perf_counter()
    found = writing(scored, author=author)
    # Two seconds on an idle machine; a slow or busy one is no failure.
    assert time.perf_counter() - started < 15.0
    text = json.dumps(dataclasses.asdict(found), allow_nan=False)
    assert len(found.tests) == (9 + 10) * sum(measure.worse != 0 for measure in MEASURES)
    assert json.loads(text)["verdict"]


def test_the_order_of_the_samples_does_not_matter() -> None:
    scored = full_run(lengths=3, rounds=5)
    shuffled = random.Random(1).sample(scored, len(scored))
    assert writing(scored) == writing(shuffled)
