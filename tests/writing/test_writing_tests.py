"""Which lengths are called degraded, and which are not."""

import pytest
from scipy import stats

from contextcliff.writing.measures.measure import MEASURES
from contextcliff.writing.tests import (
    against_author,
    against_shortest,
    neighbour_steps,
    size_of,
    writing_trends,
)
from tests.writing.written_rounds import drawn

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


def test_an_improvement_is_no_degradation_however_clear() -> None:
    (test,) = against_shortest(
        [drawn(1_024, vocabulary_diversity=LOW), drawn(2_048, vocabulary_diversity=HIGH)], confidence=0.95
    )
    assert (test.degraded, test.effect, test.size, test.p_value) == (False, -1.0, "none", 1.0)
    assert test.shift == pytest.approx(-0.2)


def test_a_measure_without_a_worse_direction_is_never_tested() -> None:
    found = against_shortest([drawn(1_024, comma_density=LOW), drawn(2_048, comma_density=HIGH)], confidence=0.95)
    assert found == ()


def test_every_length_and_measure_is_one_family() -> None:
    tiers = [
        drawn(1_024, vocabulary_diversity=HIGH, mtld=HIGH),
        drawn(2_048, vocabulary_diversity=LOW, mtld=HIGH),
        drawn(4_096, vocabulary_diversity=HIGH, mtld=HIGH),
    ]
    found = against_shortest(tiers, confidence=0.95)
    assert [(test.context_tokens, test.measure, test.degraded) for test in found] == [
        (2_048, "vocabulary_diversity", True),
        (2_048, "mtld", False),
        (4_096, "vocabulary_diversity", False),
        (4_096, "mtld", False),
    ]
    assert found[0].p_holm == pytest.approx(4 / 924)


def test_lengths_are_compared_by_z_scores_where_every_round_has_one() -> None:
    """The texts at 2,048 are longer, and less diverse for that alone: by their z-scores nothing changes."""
    shorter = drawn(1_024, vocabulary_diversity=HIGH, z__vocabulary_diversity=[0.0, 0.1, 0.2, 0.3, 0.4, 0.5])
    longer = drawn(2_048, vocabulary_diversity=LOW, z__vocabulary_diversity=[0.0, 0.1, 0.2, 0.3, 0.4, 0.5])
    (matched,) = against_shortest([shorter, longer], confidence=0.95)
    assert (matched.effect, matched.degraded, matched.scale, matched.shift) == (0.0, False, "z", 0.0)
    (raw,) = against_shortest([shorter, drawn(2_048, vocabulary_diversity=LOW)], confidence=0.95)
    assert (raw.effect, raw.degraded, raw.scale) == (1.0, True, "raw")


def test_a_shift_is_on_the_scale_that_was_tested() -> None:
    """The texts at 2,048 are shorter: more diverse for that alone, and less than the author's of that length."""
    longer = drawn(1_024, vocabulary_diversity=LOW, z__vocabulary_diversity=[0.0, 0.1, 0.2, 0.3, 0.4, 0.5])
    shorter = drawn(2_048, vocabulary_diversity=HIGH, z__vocabulary_diversity=[-2.0, -1.9, -1.8, -1.7, -1.6, -1.5])
    (found,) = against_shortest([longer, shorter], confidence=0.95)
    assert (found.degraded, found.scale) == (True, "z")
    assert found.shift == pytest.approx(2.0)
    (trend,) = writing_trends([longer, shorter])
    assert trend.scale == "z"
    assert (trend.start, trend.end) == pytest.approx((0.425, 0.625))
    assert trend.p_value == pytest.approx(1 / 924)


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


def test_down_is_worse_than_the_next_words_too_where_it_is_worse() -> None:
    rounds = {"mtld": [40.0] * 5, "z__mtld": [-5.0] * 5}
    windows = {"mtld": [0.1 * place for place in range(-10, 10)]}
    for original, degraded in ((0.0, True), (-5.0, False)):
        (found,) = against_author([drawn(1_024, original_z__mtld=[original] * 5, **rounds)], windows, confidence=0.95)
        assert found.degraded is degraded


@pytest.mark.parametrize("windows", [{}, {"cloze_score": [0.0] * 7}])
def test_fewer_than_eight_windows_are_no_author(windows: dict[str, list[float]]) -> None:
    tier = drawn(1_024, cloze_score=[60.0] * 5, z__cloze_score=[5.0] * 5, author_mean__cloze_score=[30.0] * 5)
    assert against_author([tier], windows, confidence=0.95) == ()


def test_without_z_scores_there_is_nothing_to_hold_against_the_author() -> None:
    tier = drawn(1_024, cloze_score=[60.0] * 5, author_mean__cloze_score=[30.0] * 5)
    assert against_author([tier], {"cloze_score": [0.0] * 20}, confidence=0.95) == ()


@pytest.mark.parametrize(
    ("effect", "size"),
    [
        (-1.0, "none"),
        (0.09, "none"),
        (0.1, "small"),
        (0.3, "small"),
        (0.31, "medium"),
        (0.5, "medium"),
        (0.51, "large"),
    ],
)
def test_sizes_are_context_testers_bands(effect: float, size: str) -> None:
    assert size_of(effect) == size


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


def test_only_trends_that_can_get_worse_are_corrected_for() -> None:
    tiers = [
        drawn(512 * (place + 1), **{m.name: [0.1 * place, 0.1 * place + 0.01] for m in MEASURES}) for place in range(3)
    ]
    found = {trend.measure: trend for trend in writing_trends(tiers)}
    family = sum(measure.worse != 0 for measure in MEASURES)
    assert found["cloze_score"].p_holm == pytest.approx(min(1.0, family / 90))
    assert {found[m.name].p_holm for m in MEASURES if m.worse == 0} == {None}


def test_a_constant_measure_has_a_trend_without_a_test() -> None:
    (found,) = writing_trends([drawn(512, copied_share=[0.0, 0.0]), drawn(1_024, copied_share=[0.0, 0.0])])
    assert (found.start, found.end, found.p_value, found.p_holm, found.exact) == (0.0, 0.0, None, None, False)


def test_one_length_has_no_trend() -> None:
    assert writing_trends([drawn(512, mtld=[1.0, 2.0]), drawn(1_024)]) == ()


def test_context_testers_steps_are_between_neighbours_and_toward_worse() -> None:
    tiers = [
        drawn(1_024, cloze_score=[30.0], vocabulary_diversity=[0.50], sentence_length_variance=[50.0]),
        drawn(2_048, cloze_score=[33.0], vocabulary_diversity=[0.44], sentence_length_variance=[60.0]),
        drawn(4_096, cloze_score=[36.5], vocabulary_diversity=[0.60], sentence_length_variance=[54.0]),
    ]
    found = [(step.context_tokens, step.measure, round(step.change, 6)) for step in neighbour_steps(tiers)]
    assert found == [
        (2_048, "vocabulary_diversity", -0.06),
        (4_096, "cloze_score", 3.5),
        (4_096, "sentence_length_variance", -6.0),
    ]
