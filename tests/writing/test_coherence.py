"""Coherence: cosines between sentence vectors."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from contextcliff.writing.measures.measured import coherence, reference_similarity

HALF = np.sqrt(0.5)


def test_cosines_are_worked_by_hand() -> None:
    """Right, up-right, up: neighbours at 45°, the ends at 90°; the centroid points up-right."""
    found = coherence(np.array([[2.0, 0.0], [3.0, 3.0], [0.0, 2.0]]))
    assert found["adjacent_coherence"] == pytest.approx(HALF)
    assert found["global_coherence"] == pytest.approx((1 + 2 * HALF) / 3)
    assert found["local_coherence_3sent"] == pytest.approx(2 * HALF / 3)
    assert found["coherence_variance"] == pytest.approx(0.0)


def test_variance_is_the_samples() -> None:
    """Neighbours at 0° and 90°: cosines 1 and 0."""
    found = coherence(np.array([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0]]))
    assert found["coherence_variance"] == pytest.approx(0.5)


def test_too_few_sentences_are_not_measured() -> None:
    assert coherence(np.empty((0, 4))) == {}
    assert coherence(np.ones((1, 4))) == {}
    assert set(coherence(np.ones((2, 4)))) == {"adjacent_coherence", "global_coherence"}


@pytest.mark.parametrize("bad", [0.0, np.nan, np.inf])
def test_a_sentence_without_direction_leaves_nothing_measured(bad: float) -> None:
    vectors = np.ones((4, 3))
    vectors[2] = bad
    assert coherence(vectors) == {}


def test_opposite_sentences_have_no_centroid() -> None:
    found = coherence(np.array([[1.0, 0.0], [-1.0, 0.0]]))
    assert found == {"adjacent_coherence": -1.0}


@given(arrays(np.float64, (5, 3), elements=st.floats(-1e200, 1e200)))
def test_every_cosine_is_finite_and_in_range(vectors: np.ndarray) -> None:
    found = coherence(vectors)
    assert all(np.isfinite(value) and -1 - 1e-9 <= value <= 2 + 1e-9 for value in found.values())


def test_similarity_is_the_cosine_of_the_means() -> None:
    assert reference_similarity(np.array([[1.0, 0.0], [0.0, 1.0]]), np.array([[2.0, 0.0]])) == pytest.approx(HALF)
    assert reference_similarity(np.empty((0, 2)), np.ones((1, 2))) is None
    assert reference_similarity(np.array([[1.0, 0.0], [-1.0, 0.0]]), np.ones((1, 2))) is None
