"""The composites."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contextcliff.writing.measures.measure import BY_NAME
from contextcliff.writing.passage import author_distance, calibrated, classic

Z = st.dictionaries(st.sampled_from(sorted(BY_NAME)), st.floats(-1e6, 1e6), max_size=20)


def test_a_family_is_the_mean_of_its_measures_and_families_are_squared() -> None:
    """Repetition: (1 + 0.5) / 2; readability: 0; rhythm, where down is worse: 0.4."""
    z = {
        "bigram_repetition_rate": 9.0,
        "trigram_repetition_rate": 3.5,
        "cloze_score": -8.0,
        "sentence_length_variance": -3.0,
    }
    assert calibrated(z) == pytest.approx(100 * math.sqrt((0.75**2 + 0 + 0.4**2) / 3))


def test_a_standard_deviation_costs_nothing_and_six_cost_all() -> None:
    assert calibrated({"cloze_score": 1.0}) == 0.0
    assert calibrated({"cloze_score": 6.0}) == 100.0
    assert calibrated({"word_entropy": -6.0}) == 100.0
    assert calibrated({"word_entropy": 6.0}) == 0.0


def test_one_collapsed_family_is_seen_among_six() -> None:
    fine = {
        "cloze_score": 0.0,
        "mtld": 0.0,
        "sentence_length_variance": 0.0,
        "copied_share": 0.0,
        "language_drift": 0.0,
    }
    assert calibrated({**fine, "bigram_repetition_rate": 50.0}) == pytest.approx(100 / math.sqrt(6))


def test_measures_without_a_family_count_for_nothing() -> None:
    assert calibrated({"comma_density": 9.0, "avg_sentence_length": -9.0}) is None
    assert calibrated({}) is None


@given(Z)
def test_the_composite_lies_between_0_and_100(z: dict[str, float]) -> None:
    found = calibrated(z)
    assert found is None or 0.0 <= found <= 100.0


@given(Z, st.floats(0, 100))
def test_a_worse_measure_never_mends_the_composite(z: dict[str, float], step: float) -> None:
    worse = {name: score + BY_NAME[name].worse * step for name, score in z.items()}
    before, after = calibrated(z), calibrated(worse)
    assert (before is None) == (after is None)
    if before is not None and after is not None:
        assert after >= before - 1e-9


def test_context_testers_composite() -> None:
    values = {
        "vocabulary_diversity": 0.45,  # 0.5
        "cloze_score": 20.0,  # 0.2
        "adjacent_coherence": 0.6,  # 0.25
        "bigram_repetition_rate": 0.06,  # 0.2
    }
    assert classic(values) == pytest.approx(25 * (0.5 + 0.2 + 0.25 + 0.2))
    assert classic({**values, "mtld": 1.0}) == classic(values)


def test_what_is_not_measured_is_never_counted_as_zero() -> None:
    assert classic({"vocabulary_diversity": 0.45, "bigram_repetition_rate": 0.06}) == pytest.approx(50 * 0.7)
    assert classic({"mtld": 80.0}) is None


def test_context_testers_parts_end_at_0_and_25() -> None:
    best = {"vocabulary_diversity": 0.9, "cloze_score": -5.0, "adjacent_coherence": 0.9, "bigram_repetition_rate": 0.0}
    worst = {"vocabulary_diversity": 0.1, "cloze_score": 60.0, "adjacent_coherence": 0.0, "bigram_repetition_rate": 0.9}
    assert (classic(best), classic(worst)) == (0.0, 100.0)


def test_the_distance_goes_both_ways_and_each_measure_counts_ten_at_most() -> None:
    assert author_distance({"cloze_score": -3.0, "comma_density": 4.0}) == pytest.approx(math.sqrt(12.5))
    assert author_distance({"cloze_score": -500.0, "mtld": 0.0}) == pytest.approx(math.sqrt(50))
    assert author_distance({}) is None
