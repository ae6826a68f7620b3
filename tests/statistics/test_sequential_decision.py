"""The decision of a sequential test."""

import math
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from contextcliff.statistics.sequential import ABOVE, BELOW, SequentialDecision, decide
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


def test_against_a_baseline_that_is_always_wrong_a_model_that_is_always_wrong_stays_open() -> None:
    assert decide_share([[(0.0, 0.0)] * 10] * 16, share=0.8, alpha=0.05).kind == "open"


def test_simulated_runs_as_arrays_have_the_same_e_values() -> None:
    values = np.random.default_rng(3).random((5, 40))
    arrays = log_e_values(ABOVE, (values - 0.5) / 0.5, 10)
    for row, expected in zip(values, arrays, strict=True):
        looks = decide(row.reshape(4, 10).tolist(), threshold=0.5, alpha=1e-9, below_at=1e9).looks
        assert [look.log_e_above for look in looks] == pytest.approx(expected)
