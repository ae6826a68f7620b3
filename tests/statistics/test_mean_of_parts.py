"""The interval of a mean over fixed parts: what it is by hand, and what it covers in simulation."""

from __future__ import annotations

import os

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from contextcliff.statistics.intervals import mean_of_parts, wilson

RUNS = int(os.environ.get("SIMULATED_RUNS", "2000"))
LAWS = {
    "all at the threshold": (0.856,) * 13,
    "like RULER's at 32K": (*(1.0,) * 5, 0.99, 0.97, 0.95, 0.9, 0.85, 0.7, 0.6, 0.17),
    "one task at a half": (*(1.0,) * 12, 0.5),
    "nearly right": (0.98,) * 13,
    "four": (0.9, 0.8, 0.85, 0.87),
    "four, one of them lost": (1.0, 1.0, 0.9, 0.524),
    "two": (1.0, 0.712),
    "all at a half": (0.5,) * 13,
}


def missed(law: tuple[float, ...], n: int) -> tuple[float, float]:
    """How often the interval lies above the true mean, and below it."""
    ends = [wilson(right, n, 0.95) for right in range(n + 1)]
    drawn = np.random.default_rng(18).binomial(n, law, size=(RUNS, len(law)))
    found = [mean_of_parts([(right / n, *ends[right]) for right in row]) for row in drawn.tolist()]
    true = float(np.mean(law))
    return sum(low > true for _, low, _ in found) / RUNS, sum(high < true for *_, high in found) / RUNS


def test_half_widths_add_up_as_squares() -> None:
    mean, low, high = mean_of_parts([(0.9, 0.8, 0.92), (0.5, 0.42, 0.58)])
    assert mean == pytest.approx(0.7)
    assert high - mean == pytest.approx((0.06**2 + 0.08**2) ** 0.5 / 2) == pytest.approx(0.05)
    assert mean - low == pytest.approx(0.05)


def test_one_part_keeps_its_interval() -> None:
    assert mean_of_parts([(0.9, 0.7, 0.95)]) == (0.9, 0.7, 0.95)


@given(st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1), st.floats(0, 1)).map(sorted), min_size=1, max_size=20))
def test_it_lies_round_its_mean_and_within_0_and_1(parts: list[list[float]]) -> None:
    mean, least, most = mean_of_parts([(middle, low, high) for low, middle, high in parts])
    assert 0.0 <= least <= mean + 1e-12
    assert mean - 1e-12 <= most <= 1.0


@pytest.mark.slow
@pytest.mark.parametrize("n", [11, 22, 50])
@pytest.mark.parametrize("law", LAWS)
def test_over_many_runs(law: str, n: int) -> None:
    above, below = missed(LAWS[law], n)
    assert above < 0.07
    assert above + below < 0.13
