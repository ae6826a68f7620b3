"""The wealth of fixed bets."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contextcliff.statistics.betting import Bets, Wealth, e_value_of

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
