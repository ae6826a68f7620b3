"""What is said of the prose at each length, which lengths are called degraded, and what rounds can't show."""

from __future__ import annotations

import math
import random

import pytest
from scipy import stats

from contextcliff.records.generation import ScoredSample
from contextcliff.writing.measures.measure import BY_NAME
from contextcliff.writing.prose_findings import MeasureLevel, Writing, WritingTier
from contextcliff.writing.tests import against_author, against_shortest, writing_trends
from tests.make import known
from tests.writing.made_writing import drawn, rounds_of, writing, written


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
    assert 28.0 <= known(found.ci_low) < 32.0 < known(found.ci_high) <= 36.0
    # 33.1 would be more than a tenth from the original's 30.
    assert level(only_tier([written(2_048, {**details, "cloze_score": 33.1})]), "cloze_score").converged is False
    assert tier.reading_level == "9-10"
    assert (tier.composite.n, tier.composite.mean, tier.composite.std) == (3, 40.0, 0.0)
    assert (tier.composite_classic.mean, tier.composite_classic.ci_low) == (50.0, 50.0)


def test_what_is_not_measured_is_none_and_never_zero() -> None:
    run = writing([written(512, {"mtld": 70.0}), written(1_024, {"cloze_score": 30.0})])
    assert set(run.unmeasured) == set(BY_NAME) - {"mtld", "cloze_score"}
    # A measure of any length has a row at every length.
    assert [level(tier, "mtld").n for tier in run.tiers] == [1, 0]
    tier = only_tier([written(512, {"mtld": 70.0}), written(512, {"cloze_score": math.nan})])
    found = level(tier, "mtld")
    assert (found.n, found.mean) == (1, 70.0)
    assert {found.std, found.ci_low, found.ci_high, found.cv} | {found.original, found.z, found.z_std} == {None}
    assert found.converged is None
    assert level(only_tier(rounds_of(512, copied_share=[0.0, 0.0])), "copied_share").cv is None
    assert [measure.name for measure in tier.measures] == ["mtld"]
    assert tier.reading_level is None
    assert (tier.composite.n, tier.composite.mean) == (0, None)


def test_the_fences_are_one_and_a_half_interquartile_ranges_out() -> None:
    # Quartiles 2 and 4: the fences are at −1 and 7, and what is on one is inside.
    assert only_tier(rounds_of(512, cloze_score=[1.0, 2.0, 3.0, 4.0, 7.0])).outliers == ()
    assert len(only_tier(rounds_of(512, cloze_score=[1.0, 2.0, 3.0, 4.0, 7.01])).outliers) == 1
    # Three rounds have no quartiles.
    assert only_tier(rounds_of(512, cloze_score=[30.0, 30.0, 90.0])).outliers == ()


LOW = [0.40, 0.41, 0.42, 0.43, 0.44, 0.45]
HIGH = [0.60, 0.61, 0.62, 0.63, 0.64, 0.65]


def test_a_collapse_of_diversity_is_a_degradation_by_hand() -> None:
    (test,) = against_shortest(
        [drawn(1_024, vocabulary_diversity=HIGH), drawn(2_048, vocabulary_diversity=LOW)], confidence=0.95
    )
    assert (test.context_tokens, test.measure, test.against) == (2_048, "vocabulary_diversity", "shortest")
    assert (test.n, test.n_baseline, test.effect, test.size, test.degraded) == (6, 6, 1.0, "large", True)
    # One of the 924 choices of six in twelve, and a single test.
    assert test.p_value == test.p_holm == pytest.approx(1 / 924)
    # Diversity is worse down: a fall by 0.2 is a shift of 0.2.
    assert test.scale == "raw"
    assert test.shift == pytest.approx(0.2)
    # An improvement is none, however clear.
    (better,) = against_shortest(
        [drawn(1_024, vocabulary_diversity=LOW), drawn(2_048, vocabulary_diversity=HIGH)], confidence=0.95
    )
    assert (better.degraded, better.effect, better.size, better.p_value) == (False, -1.0, "none", 1.0)


def test_lengths_are_compared_by_z_scores_where_every_round_has_one() -> None:
    """The texts at 2,048 are longer, and less diverse for that alone: by their z-scores nothing changes."""
    shorter = drawn(1_024, vocabulary_diversity=HIGH, z__vocabulary_diversity=[0.0, 0.1, 0.2, 0.3, 0.4, 0.5])
    longer = drawn(2_048, vocabulary_diversity=LOW, z__vocabulary_diversity=[0.0, 0.1, 0.2, 0.3, 0.4, 0.5])
    (matched,) = against_shortest([shorter, longer], confidence=0.95)
    assert (matched.effect, matched.degraded, matched.scale, matched.shift) == (0.0, False, "z", 0.0)
    (raw,) = against_shortest([shorter, drawn(2_048, vocabulary_diversity=LOW)], confidence=0.95)
    assert (raw.effect, raw.degraded, raw.scale) == (1.0, True, "raw")


def test_against_the_author_worse_is_worse_than_the_author() -> None:
    windows = {"cloze_score": [0.1 * place for place in range(-10, 10)]}
    tiers = [
        drawn(1_024, cloze_score=[30.0] * 5, z__cloze_score=[0.0] * 5, author_mean__cloze_score=[30.0] * 5),
        drawn(2_048, cloze_score=[60.0] * 5, z__cloze_score=[5.0] * 5, author_mean__cloze_score=[30.0] * 5),
    ]
    same, worse = against_author(tiers, windows, confidence=0.95)
    # The windows' z-scores are -1.0 to 0.9.
    assert (same.context_tokens, same.degraded, same.n_baseline) == (1_024, False, 20)
    assert (same.shift, worse.shift) == pytest.approx((0.05, 5.05))
    assert (worse.degraded, worse.scale) == (True, "z")
    assert (worse.effect, worse.against) == (1.0, "author")
    # One of the choices of five in twenty-five would be 2 in 53,130; a prediction from one place is less sure.
    assert 2 / 53_130 < worse.p_holm < 0.001


@pytest.mark.parametrize(("original", "degraded"), [(0.0, True), (3.0, False), (5.0, False), (9.0, False)])
def test_what_lies_no_further_out_than_the_next_words_allow_is_not_degraded(original: float, degraded: bool) -> None:
    """The passage may be an unusual one, where a perfect imitator goes on as unusually."""
    windows = {"cloze_score": [0.1 * place for place in range(-10, 10)]}
    tier = drawn(
        1_024,
        cloze_score=[58.0, 59.0, 60.0, 61.0, 62.0],
        z__cloze_score=[4.0, 4.5, 5.0, 5.5, 6.0],
        original_z__cloze_score=[original] * 5,
    )
    (found,) = against_author([tier], windows, confidence=0.99)
    # The mean of five against one original: 5 sd by √1.2 are 4.6 of a t distribution with 19 degrees of freedom.
    assert found.p_value == pytest.approx(float(stats.t.sf((5.0 - original) / 1.2**0.5, 19)), rel=1e-9)
    assert found.degraded is degraded


def test_a_trend_is_tested_toward_worse() -> None:
    tiers = [
        drawn(512 * (place + 1), vocabulary_diversity=[0.7 - 0.1 * place, 0.69 - 0.1 * place], comma_density=[1.0, 2.0])
        for place in range(3)
    ]
    falling, commas = writing_trends(tiers)
    assert (falling.measure, falling.exact) == ("vocabulary_diversity", True)
    assert (falling.start, falling.end) == pytest.approx((0.695, 0.495))
    # All 12 pairs fall: one of the 90 arrangements of two, two and two.
    assert falling.p_value == falling.p_holm == pytest.approx(1 / 90)
    assert (commas.measure, commas.p_holm, commas.exact) == ("comma_density", None, False)
    assert commas.p_value == pytest.approx(1.0, abs=1e-3)
    rising, _ = writing_trends([*reversed(tiers)])
    assert rising.p_value == pytest.approx(1.0)


MEASURED = ("vocabulary_diversity", "mtld", "cloze_score")


def warnings_of(found: Writing) -> tuple[str, ...]:
    """What the rounds can't show, as it is said."""
    return tuple(map(str, found.warnings))


def steady(lengths: list[int], rounds: int, *, score: float = 0.7, spread: float = 0.03) -> list[ScoredSample]:
    """A run in which nothing changes with length."""
    rng = random.Random(11)
    return [
        written(
            length,
            {name: rng.gauss(0.0, 1.0) for name in MEASURED},
            trial=trial,
            score=min(1.0, max(0.0, rng.gauss(score, spread))),
        )
        for length in lengths
        for trial in range(rounds)
    ]


def collapsed(length: int, rounds: int = 10) -> list[ScoredSample]:
    """Rounds that are worse by every measure."""
    return [
        written(length, {"vocabulary_diversity": -9.0 - k, "mtld": -9.0 - k, "cloze_score": 9.0 + k}, trial=k)
        for k in range(rounds)
    ]


def test_a_degradation_is_named_with_its_measures_and_lengths() -> None:
    found = writing([*steady([1_024, 2_048], 10), *collapsed(4_096), *collapsed(8_192)])
    # One of the 184,756 choices of ten in twenty, in nine tests.
    assert str(found.verdict) == (
        "by rank tests the writing is worse at 4,096 tokens than at the shortest length: cloze score (p = 4.9e-05 "
        "after Holm, effect 1.00), vocabulary diversity (p = 4.9e-05 after Holm, effect 1.00), MTLD (p = 4.9e-05 after "
        "Holm, effect 1.00); also at 8,192 tokens"
    )


def test_three_rounds_against_three_can_show_nothing_and_it_is_said() -> None:
    found = writing([*steady([1_024, 2_048], 3), *collapsed(4_096, 3)])
    assert not any(test.degraded for test in found.tests)
    # 20 choices, 6 tests; five against five have 252 choices, four against four 70: 6/70 is above 5%.
    assert warnings_of(found) == (
        "3 rounds against 3 can reach p = 0.05 at best, and 0.3 after Holm over 6 tests: no measure can be shown to be "
        "worse than at the shortest length; from 5 rounds on one can",
    )


def test_at_temperature_zero_or_a_fixed_seed_all_rounds_are_one_and_it_is_said() -> None:
    scored = [
        written(length, {"mtld": 70.0 - place}, trial=trial, item=f"greedy {length}")
        for place, length in enumerate((1_024, 2_048))
        for trial in range(3)
    ]
    found = writing(scored)
    same, reach = warnings_of(found)
    assert same == (
        "all rounds of a length are the same draw (temperature 0, or sampling.seed is set): they count as one round, "
        "and more of them show nothing more; a temperature above 0 without sampling.seed makes them rounds of their own"
    )
    assert reach.startswith("1 round against 1 can reach p = 0.5 at best, and 0.5 after Holm over 1 test")
    assert found.settling_rounds is None
    assert str(found.verdict) == (
        "the rounds are too few for a rank test to show any measure to be worse than at the shortest length"
    )
