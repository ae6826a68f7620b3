"""The interval that the test of signs leaves: it says what the test says, moves with the differences, and covers."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from contextcliff.statistics.pairs import Unit, Units, p_better, p_worse, shift_interval

steps = st.lists(st.integers(-8, 8), min_size=1, max_size=10)


@given(steps, st.sampled_from([0.8, 0.9, 0.95]))
@settings(deadline=None)
def test_zero_lies_outside_where_the_test_of_signs_rejects_and_inside_where_it_does_not(
    differences: list[int], confidence: float
) -> None:
    units = Units.single(each / 8 for each in differences)
    low, high = shift_interval(units, confidence)
    assert (low is not None and low > 0.0) == (p_better(units) <= 1.0 - confidence + 1e-9)
    assert (high is not None and high < 0.0) == (p_worse(units) <= 1.0 - confidence + 1e-9)


def test_five_units_are_the_fewest_that_rule_something_out_at_95_percent() -> None:
    assert shift_interval(Units.single([0.1, 0.2, 0.3, 0.4]), 0.95) == (None, None)
    assert shift_interval(Units.single([0.1, 0.2, 0.3, 0.4, 0.5]), 0.95) == pytest.approx((0.1, 0.5))


def test_a_unit_of_several_pairs_counts_by_its_pairs() -> None:
    single = Units.single([0.1, 0.2, 0.3, 0.4, 0.5])
    several = Units.of(Unit(total=3.0 * unit.total, pairs=3) for unit in single.units)
    assert shift_interval(several, 0.95) == pytest.approx(shift_interval(single, 0.95))


@pytest.mark.parametrize("n", [8, 14, 15, 42])
def test_swapped_runs_have_the_mirrored_interval(n: int) -> None:
    units = Units.single(np.random.default_rng(n).uniform(-0.6, 1.0, size=n))
    low, high = shift_interval(units, 0.95)
    # Drawn subsets are others where the units are sorted the other way round.
    mirrored = shift_interval(units.mirrored(), 0.95)
    assert low is not None
    assert high is not None
    assert mirrored == pytest.approx((-high, -low), abs=1e-12 if n <= 14 else 0.01)


@pytest.mark.parametrize("n", [9, 12])
def test_each_end_covers_the_shift_of_symmetric_differences(n: int) -> None:
    rng = np.random.default_rng(7)
    missed = np.zeros(2)
    for _ in range(200):
        low, high = shift_interval(Units.single(np.clip(rng.normal(0.2, 0.1, size=n), -0.6, 1.0)), 0.95)
        assert low is not None
        assert high is not None
        missed += [low > 0.2, high < 0.2]
    assert (missed / 200 <= 0.05 + 3 * (0.05 * 0.95 / 200) ** 0.5).all()
