"""Blocks of scores as gains, and the wealth of fixed bets."""

import math
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contextcliff.statistics.betting import Bets, Wealth, e_value_of
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


BETS = Bets(stakes=(0.2, 0.9), weights=(0.25, 0.75))
gains = st.lists(st.floats(min_value=-1.0, max_value=4.0), max_size=20)


@given(gains)
def test_the_e_value_is_the_weighted_sum_of_direct_products(block: list[float]) -> None:
    direct = 0.25 * math.prod(1 + 0.2 * g for g in block) + 0.75 * math.prod(1 + 0.9 * g for g in block)
    assert math.exp(Wealth.before_any_block(BETS).after(block).log_e_value) == pytest.approx(direct)


@given(gains, gains)
def test_two_blocks_multiply_as_one(first: list[float], second: list[float]) -> None:
    start = Wealth.before_any_block(BETS)
    assert start.after(first).after(second).log_e_value == pytest.approx(start.after(first + second).log_e_value)


@pytest.mark.parametrize("gain", [-1.0, 0.25])
def test_a_hundred_thousand_samples_neither_overflow_nor_vanish(gain: float) -> None:
    log_e = Wealth.before_any_block(BETS).after([gain] * 100_000).log_e_value
    expected = max(
        math.log(w) + 100_000 * math.log1p(stake * gain) for w, stake in zip(BETS.weights, BETS.stakes, strict=True)
    )
    assert log_e == pytest.approx(expected)


def test_an_e_value_beyond_the_floats_is_the_largest_float() -> None:
    assert math.isfinite(e_value_of(1e6))
    assert e_value_of(math.log(20.0)) == pytest.approx(20.0)
