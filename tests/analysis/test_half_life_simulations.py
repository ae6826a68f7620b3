"""Does the half-life's interval cover a planted one as often as it says? Simulated decays, from fixed seeds.

An end that is missing counts as 0 or as infinity. A run without an estimate counts as covered where the planted
half-life is at or above its lower bound; one with neither (recall is shown to rise) counts as missed.
"""

import math

import numpy as np
import pytest

from contextcliff.findings.half_life import HalfLife, half_life
from tests.make import counted

pytestmark = pytest.mark.slow

LENGTHS = (1_000, 2_000, 4_000, 8_000, 16_000, 32_000)
RUNS = 1_000
CONFIDENCE = 0.95


def chances(planted: int, initial: float) -> list[float]:
    return [initial * 0.5 ** (length / planted) for length in LENGTHS]


def drawn(planted: int, initial: float, n: int, *, seed: int) -> list[HalfLife]:
    """The half-lives of many runs of a model whose recall halves every `planted` tokens."""
    rng = np.random.default_rng(seed)
    right = rng.binomial(n, chances(planted, initial), size=(RUNS, len(LENGTHS)))
    return [
        half_life(counted({length: (int(k), n) for length, k in zip(LENGTHS, row, strict=True)}), CONFIDENCE)
        for row in right
    ]


def covers(found: HalfLife, planted: float) -> bool:
    if found.tokens is None and found.ci_low is None:
        return False
    return (found.ci_low or 0) <= planted <= (math.inf if found.ci_high is None else found.ci_high)


def coverage(found: list[HalfLife], planted: int) -> float:
    return sum(covers(one, planted) for one in found) / RUNS


@pytest.mark.parametrize(("n", "initial"), [(20, 1.0), (50, 0.95)])
@pytest.mark.parametrize("planted", [2_000, 4_000, 16_000, 32_000, 64_000])
def test_the_interval_covers_the_planted_half_life_as_often_as_it_says(planted: int, n: int, initial: float) -> None:
    share = coverage(drawn(planted, initial, n, seed=planted + n), planted)
    assert share == pytest.approx(CONFIDENCE, abs=0.02)


@pytest.mark.parametrize("n", [10, 20])
@pytest.mark.parametrize("planted", [120_000, 192_000, 384_000])
def test_where_only_a_handful_is_wrong_it_covers_more_often_and_never_less(planted: int, n: int) -> None:
    """With R₀ = 1 and a half-life far beyond the longest test, one to seven answers are wrong: counts so small
    leave no interval that covers evenly. At 192,000 tokens and ten samples the deviance against χ² covers 87%."""
    share = coverage(drawn(planted, 1.0, n, seed=planted + n), planted)
    assert share >= CONFIDENCE - 0.02


def test_the_estimate_is_near_the_planted_one() -> None:
    found = [one.tokens for one in drawn(16_000, 0.95, 50, seed=16) if one.tokens is not None]
    assert float(np.median(found)) == pytest.approx(16_000, rel=0.05)


def test_dispersion_makes_up_for_shared_texts() -> None:
    """Answers that come five and five alike have five times the variance of independent ones."""
    rng = np.random.default_rng(78)
    plain, allowed = [], []
    for _ in range(RUNS):
        right = 5 * rng.binomial(10, chances(16_000, 0.95))
        levels = counted({length: (int(k), 50) for length, k in zip(LENGTHS, right, strict=True)})
        plain.append(half_life(levels, CONFIDENCE))
        allowed.append(half_life(levels, CONFIDENCE, dispersion=5.0))
    assert coverage(plain, 16_000) < 0.75
    assert coverage(allowed, 16_000) == pytest.approx(CONFIDENCE, abs=0.02)
