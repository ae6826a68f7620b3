"""Blocks of scores as gains, the wealth of fixed bets, and the decision of a sequential test."""

import math
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from contextcliff.statistics.betting import Bets, Wealth, e_value_of
from contextcliff.statistics.sequential import (
    ABOVE,
    BELOW,
    Block,
    SequentialDecision,
    block_of,
    clustered_block,
    decide,
    paired_block,
)
from tests.statistics.simulated_walks import decide_share, log_e_values

scores = st.one_of(st.none(), st.sampled_from([0.0, 1.0]), st.floats(min_value=0.0, max_value=1.0))
blocks_of_scores = st.lists(st.lists(scores, min_size=1, max_size=8), max_size=8)
thresholds = st.floats(min_value=0.05, max_value=0.95)


def decision(blocks: Sequence[Sequence[float | None]], threshold: float = 0.8) -> SequentialDecision:
    return decide(blocks, threshold=threshold, alpha=0.05)


def test_against_point_eight_the_bets_are_on_these_scores() -> None:
    assert [0.8 + stake * 0.2 for stake in ABOVE.stakes] == pytest.approx([0.85, 0.9, 0.95, 0.985])
    assert [0.8 - stake * 0.8 for stake in BELOW.stakes] == pytest.approx([0.68, 0.52, 0.32, 0.08])


@given(st.lists(st.floats(min_value=0.0, max_value=1.0), min_size=1, max_size=12), thresholds)
def test_the_e_values_are_those_of_the_formula(block: list[float], threshold: float) -> None:
    """Σ w Π (1 + λ (x − θ)) with λ = (p − θ) / (θ (1 − θ)), p on the way from θ to 1, or to 0."""
    result = decide([block], threshold=threshold, alpha=1e-9, below_at=1e9)
    for bets, end, e_value in ((ABOVE, 1.0, result.e_above), (BELOW, 0.0, result.e_below)):
        targets = [threshold + stake * (end - threshold) for stake in bets.stakes]
        rates = [(p - threshold) / (threshold * (1.0 - threshold)) for p in targets]
        products = [math.prod(1.0 + rate * (x - threshold) for x in block) for rate in rates]
        assert e_value == pytest.approx(math.fsum(w * p for w, p in zip(bets.weights, products, strict=True)))


@given(st.lists(st.sampled_from([0.0, 1.0]), min_size=1, max_size=12), st.floats(min_value=0.05, max_value=0.95))
def test_on_right_and_wrong_it_is_a_mixture_of_likelihood_ratios(block: list[float], threshold: float) -> None:
    right, n = block.count(1.0), len(block)
    ratios = [
        (p / threshold) ** right * ((1.0 - p) / (1.0 - threshold)) ** (n - right)
        for p in (threshold + stake * (1.0 - threshold) for stake in ABOVE.stakes)
    ]
    result = decide([block], threshold=threshold, alpha=1e-9, below_at=1e9)
    assert result.e_above == pytest.approx(math.fsum(w * r for w, r in zip(ABOVE.weights, ratios, strict=True)))


@given(blocks_of_scores, thresholds)
def test_it_never_speaks_for_both_sides(blocks: list[list[float | None]], threshold: float) -> None:
    for look in decide(blocks, threshold=threshold, alpha=1e-9, below_at=1e9).looks:
        assert min(look.log_e_above, look.log_e_below) <= 1e-9


@given(blocks_of_scores, blocks_of_scores, thresholds)
def test_what_is_decided_stays_decided_and_what_is_open_goes_on(
    first: list[list[float | None]], more: list[list[float | None]], threshold: float
) -> None:
    before, after = decision(first, threshold), decision(first + more, threshold)
    assert after.looks[: before.blocks_used] == before.looks
    if before.kind != "open":
        assert after == before


def test_samples_without_a_score_neither_pass_a_length_nor_show_it_below() -> None:
    assert decision([[None] * 10] * 16).kind == "open"
    assert decision([[1.0] * 8 + [None] * 2] * 4).kind == "open"


def test_a_look_inside_a_block_shows_what_the_block_does_not() -> None:
    """Four fifths of the depths are perfect and come first; the others are hopeless: a mean at the threshold."""
    assert decision([[1.0] * 40 + [0.0] * 10] * 4).kind == "open"
    assert decision([[1.0] * 40, [0.0] * 10]).kind == "above"


def test_against_a_perfect_baseline_a_perfect_model_passes_as_against_the_threshold() -> None:
    result = decide_share([[(1.0, 1.0)] * 10] * 4, share=0.8, alpha=0.05)
    assert (result.kind, result.samples) == ("above", 20)
    # Both always wrong: nothing is shown.
    assert decide_share([[(0.0, 0.0)] * 10] * 16, share=0.8, alpha=0.05).kind == "open"


def test_simulated_runs_as_arrays_have_the_same_e_values() -> None:
    values = np.random.default_rng(3).random((5, 40))
    arrays = log_e_values(ABOVE, (values - 0.5) / 0.5, 10)
    for row, expected in zip(values, arrays, strict=True):
        looks = decide(row.reshape(4, 10).tolist(), threshold=0.5, alpha=1e-9, below_at=1e9).looks
        assert [look.log_e_above for look in looks] == pytest.approx(expected)


graded = st.floats(min_value=0.0, max_value=1.0)
bars = st.floats(min_value=0.05, max_value=0.95)
texts = st.lists(st.lists(graded, min_size=1, max_size=6), min_size=1, max_size=6)


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


@given(texts, bars)
def test_gains_of_texts_sum_to_a_multiple_of_the_difference_of_the_samples(
    block: list[list[float]], threshold: float
) -> None:
    """So that a block whose samples have a mean at the bar has an average gain of 0, whatever the sizes."""
    excess = math.fsum(x - threshold for text in block for x in text)
    largest = max(map(len, block))
    gains = clustered_block(block, threshold)
    assert math.fsum(gains.above) * threshold * largest == pytest.approx(excess, abs=1e-9)
    assert math.fsum(gains.below) * (1.0 - threshold) * largest == pytest.approx(-excess, abs=1e-9)


@given(texts, bars)
def test_no_text_loses_more_than_its_stake(block: list[list[float]], threshold: float) -> None:
    gains = clustered_block(block, threshold)
    assert min(*gains.above, *gains.below) >= -1.0 - 1e-12


@given(st.lists(st.tuples(graded, graded), min_size=1, max_size=9), st.floats(min_value=0.05, max_value=1.0))
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
