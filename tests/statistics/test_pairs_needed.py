"""How many pairs settle a comparison, and the bets on pairs."""

from __future__ import annotations

import numpy as np
import pytest

from contextcliff.statistics.paired.bets_on_pairs import p_better_of_blocks, p_worse_of_blocks, sequential_difference
from contextcliff.statistics.paired.differences import Unit, Units
from contextcliff.statistics.paired.interval import tango
from contextcliff.statistics.paired.pairs_needed import pairs_for_non_inferiority, pairs_for_worse


def test_five_points_take_some_250_pairs_where_a_tenth_differ() -> None:
    needed = pairs_for_non_inferiority(variance=0.1, margin=0.05, difference=0.0, confidence=0.95)
    assert needed == 248


def test_the_planned_pairs_show_it_as_often_as_planned() -> None:
    n = 248
    drawn = np.random.default_rng(1).multinomial(n, [0.05, 0.05, 0.9], size=2_000)
    shown = sum(tango(better=int(b), worse=int(w), n=n, confidence=0.95)[0] > -0.05 for b, w, _ in drawn)
    assert 0.76 <= shown / 2_000 <= 0.86


def test_a_candidate_beyond_the_margin_is_never_shown_to_be_within_it() -> None:
    assert pairs_for_non_inferiority(variance=0.1, margin=0.05, difference=-0.05, confidence=0.95) is None
    assert pairs_for_worse(variance=0.1, difference=0.0, confidence=0.95) is None
    assert pairs_for_worse(variance=0.1, difference=-0.1, confidence=0.95) == 79


def test_bets_on_pairs_see_a_block_in_which_everything_is_worse() -> None:
    worse = [Units.single([-1.0] * 11)]
    assert p_worse_of_blocks(worse) < 0.005
    assert p_better_of_blocks(worse) == 1.0


def test_pairs_that_do_not_differ_neither_win_nor_lose() -> None:
    some = [Units.single([-1.0, 0.0, -1.0, 1.0])]
    assert p_worse_of_blocks([*some, Units.single([0.0] * 11)]) == pytest.approx(p_worse_of_blocks(some))


def test_the_confidence_sequence_holds_the_mean_and_is_wider_than_an_interval_for_a_fixed_number() -> None:
    blocks = [Units.single([-1.0, 1.0, *[0.0] * 9]), Units.single([-1.0, *[0.0] * 10])] * 4
    found = sequential_difference(blocks, 0.95)
    low, high = tango(better=4, worse=8, n=88, confidence=0.95)
    assert found.low < low < found.mean < high < found.high


def test_texts_count_once_in_bets_on_them() -> None:
    texts = [Units.of(Unit(total=-5.0, pairs=5) for _ in range(4))]
    assert p_worse_of_blocks(texts) == p_worse_of_blocks([Units.single([-1.0] * 4)])
