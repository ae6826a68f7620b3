"""Blocks of scores as gains."""

import math
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contextcliff.statistics.sequential import Block, block_of, clustered_block, paired_block

scores = st.floats(min_value=0.0, max_value=1.0)
thresholds = st.floats(min_value=0.05, max_value=0.95)
texts = st.lists(st.lists(scores, min_size=1, max_size=6), min_size=1, max_size=6)


@pytest.mark.parametrize(
    ("block", "above", "below"),
    [
        (block_of([1.0, 0.5, 0.0], 0.8), (0.25, -0.375, -1.0), (-1.0, 1.5, 4.0)),
        # A sample or a pair without a score counts for neither side.
        (block_of([None], 0.8), (-1.0,), (-1.0,)),
        (paired_block([(1.0, 1.0), (0.0, 1.0), (1.0, 0.0), (0.0, 0.0)], 0.8), (0.25, -1.0, 1.25, 0.0),
         (-0.2, 0.8, -1.0, 0.0)),
        (paired_block([(None, 1.0), (1.0, None), (None, None)], 0.8), (-1.0, 0.25, -1.0), (-0.2, -1.0, -1.0)),
    ],
)  # fmt: skip
def test_gains_worked_by_hand(block: Block, above: tuple[float, ...], below: tuple[float, ...]) -> None:
    assert block.above == pytest.approx(above)
    assert block.below == pytest.approx(below)
    assert block.samples == len(above)


def test_the_gain_of_a_text_is_that_of_its_mean_where_all_have_one_size() -> None:
    block = clustered_block([[1.0, 0.0], [1.0, 1.0]], 0.8)
    means = block_of([0.5, 1.0], 0.8)
    assert block.above == pytest.approx(means.above)
    assert block.below == pytest.approx(means.below)
    assert block.samples == 4


@given(texts, thresholds)
def test_gains_of_texts_sum_to_a_multiple_of_the_difference_of_the_samples(
    block: list[list[float]], threshold: float
) -> None:
    """So that a block whose samples have a mean at the bar has an average gain of 0, whatever the sizes."""
    excess = math.fsum(x - threshold for text in block for x in text)
    largest = max(map(len, block))
    gains = clustered_block(block, threshold)
    assert math.fsum(gains.above) * threshold * largest == pytest.approx(excess, abs=1e-9)
    assert math.fsum(gains.below) * (1.0 - threshold) * largest == pytest.approx(-excess, abs=1e-9)


@given(texts, thresholds)
def test_no_text_loses_more_than_its_stake(block: list[list[float]], threshold: float) -> None:
    gains = clustered_block(block, threshold)
    assert min(*gains.above, *gains.below) >= -1.0 - 1e-12


@given(st.lists(st.tuples(scores, scores), min_size=1, max_size=9), st.floats(min_value=0.05, max_value=1.0))
def test_no_pair_loses_more_than_its_stake(pairs: Sequence[tuple[float, float]], share: float) -> None:
    gains = paired_block(pairs, share)
    assert min(*gains.above, *gains.below) >= -1.0 - 1e-12
