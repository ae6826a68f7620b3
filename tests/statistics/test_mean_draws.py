"""Draws of the mean scores of several lengths."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from contextcliff.statistics.clusters import Cluster, LengthScores, drawn_means

scores = st.lists(st.floats(min_value=0.0, max_value=1.0), min_size=1, max_size=12).map(tuple)


def drawn(*lengths: LengthScores, draws: int = 4_000) -> np.ndarray:
    return drawn_means(lengths, draws=draws, confidence=0.95, seed=1)


def of_texts(right: dict[str, int], size: int) -> LengthScores:
    return LengthScores(shared={name: Cluster(total=float(k), scored=size) for name, k in right.items()})


def test_independent_right_and_wrong_answers_are_drawn_from_jeffreys_posterior() -> None:
    means = drawn(LengthScores(alone=(1.0,) * 17 + (0.0,) * 3))[:, 0]
    assert stats.kstest(means, stats.beta(17.5, 3.5).cdf).pvalue > 0.01


def test_a_text_has_the_same_weight_at_every_length() -> None:
    """Easy texts lift both lengths at once; samples of different texts know nothing of each other."""
    here, there = (of_texts({f"{name}-{i}": 10 * (i % 2) for i in range(10)}, 10) for name in "ab")
    means = drawn(here, here)
    assert float(np.corrcoef(means.T)[0, 1]) > 0.8
    means = drawn(here, there)
    assert abs(float(np.corrcoef(means.T)[0, 1])) < 0.1


def test_samples_that_share_few_texts_spread_more_than_independent_ones() -> None:
    alone = drawn(LengthScores(alone=(1.0,) * 20 + (0.0,) * 20))[:, 0]
    texts = drawn(of_texts({f"text-{i}": (10 if i % 2 else 0) for i in range(4)}, 10))[:, 0]
    assert texts.std() > 2.0 * alone.std()


@given(st.lists(scores, min_size=1, max_size=4), st.randoms(use_true_random=False))
@settings(max_examples=30)
def test_draws_are_means_and_do_not_depend_on_the_order_of_samples(lengths: list[tuple[float, ...]], order) -> None:
    means = drawn(*(LengthScores(alone=each) for each in lengths), draws=50)
    assert means.shape == (50, len(lengths))
    assert ((means >= 0.0) & (means <= 1.0)).all()
    shuffled = [LengthScores(alone=tuple(order.sample(each, len(each)))) for each in lengths]
    assert drawn(*shuffled, draws=50) == pytest.approx(means)


def test_a_length_counts_what_is_alone_and_what_is_shared() -> None:
    length = LengthScores(alone=(0.5,), shared={"a": Cluster(total=3.0, scored=4)})
    assert (length.n, length.total) == (5, 3.5)
