"""Rhythm: sentence lengths and punctuation."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from contextcliff.writing.measures.words import prose_of, punctuation, sentence_lengths


def test_lengths_are_measured_by_hand() -> None:
    found = sentence_lengths((2, 4, 9))
    assert found["avg_sentence_length"] == 5.0
    assert found["sentence_length_variance"] == pytest.approx((9 + 1 + 16) / 2)
    assert "sentence_length_kurtosis" not in found


@given(st.lists(st.integers(1, 60), min_size=4, max_size=50).filter(lambda lengths: len(set(lengths)) > 1))
def test_shapes_are_scipys_unbiased_ones(lengths: list[int]) -> None:
    found = sentence_lengths(lengths)
    assert found["sentence_length_skewness"] == pytest.approx(stats.skew(lengths, bias=False), abs=1e-9)
    assert found["sentence_length_kurtosis"] == pytest.approx(stats.kurtosis(lengths, bias=False), abs=1e-9)


@pytest.mark.parametrize(
    ("lengths", "names"),
    [
        ((), set()),
        ((5,), {"avg_sentence_length"}),
        ((5, 7), {"avg_sentence_length", "sentence_length_variance"}),
        ((5, 5, 5, 5, 5), {"avg_sentence_length", "sentence_length_variance"}),
    ],
)
def test_what_needs_more_sentences_or_a_spread_is_not_measured(lengths: tuple[int, ...], names: set[str]) -> None:
    assert set(sentence_lengths(lengths)) == names


def test_signs_are_counted_a_sentence() -> None:
    found = punctuation(prose_of("Well, well, well; who is it? Go!"))
    assert found == {
        "comma_density": 1.0,
        "semicolon_density": 0.5,
        "question_density": 0.5,
        "exclamation_density": 0.5,
    }


def test_full_width_signs_count() -> None:
    found = punctuation(prose_of("はい、そう，です。本当？", language="ja"))
    assert found["comma_density"] == 1.0
    assert found["question_density"] == 0.5
    assert punctuation(prose_of("...")) == {}
