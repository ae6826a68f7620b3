"""The smallest drop between two lengths that a number of samples detects."""

from __future__ import annotations

import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from contextcliff.statistics.sample_size import detectable_drop


def test_hand_worked_small_numbers() -> None:
    # 3 of 3 against 0 of 3 has p = 1/20: it just reaches 95%; so it takes a fall to almost nothing.
    assert detectable_drop(2, confidence=0.95) is None
    assert detectable_drop(0, confidence=0.95) is None
    detected = detectable_drop(5, confidence=0.95)
    assert detected is not None
    assert detected > 0.8


@settings(max_examples=12, deadline=None)
@given(st.integers(min_value=6, max_value=60))
def test_more_samples_detect_no_larger_drop(samples: int) -> None:
    fewer, more = (detectable_drop(n, confidence=0.95) for n in (samples, 2 * samples))
    assert fewer is not None
    assert more is not None
    assert more <= fewer


@pytest.mark.slow
def test_the_approximation_takes_over_where_it_is_close() -> None:
    exact, approximate = (detectable_drop(n, confidence=0.95) for n in (250, 251))
    assert exact is not None
    assert approximate is not None
    assert abs(exact - approximate) < 0.01


@pytest.mark.parametrize("samples", [20, 60])
def test_a_drop_that_is_called_detectable_is_found_four_times_in_five(samples: int) -> None:
    drop = detectable_drop(samples, confidence=0.95)
    assert drop is not None
    rng, detected, runs = random.Random(samples), 0, 1_000
    for _ in range(runs):
        before = sum(rng.random() < 0.95 for _ in range(samples))
        after = sum(rng.random() < 0.95 - drop for _ in range(samples))
        table = np.array([[after, samples - after], [before, samples - before]])
        detected += bool(stats.fisher_exact(table, alternative="less").pvalue <= 0.05)
    # Four standard deviations of a thousand draws at .8.
    assert detected / runs > 0.8 - 4 * (0.8 * 0.2 / runs) ** 0.5
