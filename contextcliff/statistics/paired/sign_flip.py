"""Is the candidate worse? The exact test of the signs of paired differences.

If the two runs were alike, each unit's difference would be as likely with the other sign. All choices of signs are
equally likely then, and the p-value is the share of them with a sum as low as the observed one. On right or wrong
answers this is McNemar's exact test of the discordant pairs, and over several lengths its stratified form: a pair only
ever flips within its length. With graded scores or units of several pairs it is the permutation test for paired data.

Sources: Q. McNemar, Psychometrika 12 (1947) 153-157; R. A. Fisher, "The Design of Experiments" (1935), section 21.
The sums are counted exactly where the differences are multiples of one fraction, or few; they are drawn otherwise.
Own code: scipy's `permutation_test` enumerates or draws whole samples, and counts no sums.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from contextcliff.statistics.distributions import binomial_at_most
from contextcliff.statistics.paired.differences import Units

DRAWS = 20_000
_SEED = 20_261_123
_FRACTIONS = range(1, 61)
_MOST_STEPS = 2e8
_FEW = 14
"""Units of which every choice of signs is looked at."""
_ROUNDING = 1e-9


def p_worse(units: Units) -> float:
    """One-sided p-value of "the candidate does not score lower"; 1 where no unit differs."""
    totals = np.abs(np.array([unit.total for unit in units.units if unit.total != 0.0]))
    if not totals.size:
        return 1.0
    observed = math.fsum(unit.total for unit in units.units)
    for parts in _FRACTIONS:
        scaled = totals * parts
        if float(np.abs(scaled - np.rint(scaled)).max()) < _ROUNDING * parts:
            whole = np.rint(scaled).astype(np.int64)
            if whole.size * float(whole.sum()) > _MOST_STEPS:
                break
            return _counted(whole, round(observed * parts))
    return _drawn(totals, observed)


def p_better(units: Units) -> float:
    """The same toward better."""
    return p_worse(units.mirrored())


def _counted(totals: NDArray[np.int64], observed: int) -> float:
    """Of sums of whole numbers with random signs, the chance of one at most the observed one."""
    if (totals == 1).all():
        higher = (int(totals.size) + observed) // 2
        return binomial_at_most(higher, int(totals.size), 0.5)
    most = int(totals.sum())
    chances = np.zeros(2 * most + 1)
    chances[most] = 1.0  # the place of a sum s is most + s
    for total in map(int, totals):
        up, down = np.zeros_like(chances), np.zeros_like(chances)
        up[total:], down[:-total] = chances[:-total], chances[total:]
        chances = 0.5 * (up + down)
    return min(1.0, float(chances[: most + observed + 1].sum()))


def _drawn(totals: NDArray[np.float64], observed: float) -> float:
    """The share of all choices of signs where the units are few, else of drawn ones.

    (1 + x) / (1 + draws) is valid with any number of draws (B. Phipson and G. K. Smyth 2010).
    """
    if totals.size <= _FEW:
        every = (np.arange(2**totals.size)[:, None] >> np.arange(totals.size)) & 1
        return float(((2 * every - 1) @ totals <= observed + _ROUNDING).mean())
    random = np.random.default_rng(_SEED)
    low = 0
    for _ in range(DRAWS // 1_000):
        signs = random.integers(0, 2, size=(1_000, totals.size)) * 2 - 1
        low += int((signs @ totals <= observed + _ROUNDING).sum())
    return (1.0 + low) / (1.0 + DRAWS)
