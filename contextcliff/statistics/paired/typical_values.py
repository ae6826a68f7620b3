"""How large is a paired difference that has no bounds? The interval that the test of signs leaves.

A shift belongs to the interval where the exact test of signs (`sign_flip.py`) does not reject that the units'
differences are symmetric around it. Its ends are order statistics of the means of subsets of the units: J. A.
Hartigan, "Using subsample values as typical values", JASA 64 (1969) 1303-1317. It takes no law of the differences but
their symmetry around the shift. Own code: scipy's `permutation_test` gives no interval.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from contextcliff.statistics.paired.differences import Units

DRAWS = 20_000
_MOST_COUNTED = 14
"""Units of which all subsets are looked at; of more they are drawn."""
_SEED = 20_261_124


def shift_interval(units: Units, confidence: float) -> tuple[float | None, float | None]:
    """Both ends for the mean difference of a pair, each by itself at `confidence`.

    None where so few units can rule out nothing, and where no unit differs.
    """
    totals = np.array([unit.total for unit in units.units])
    pairs = np.array([unit.pairs for unit in units.units], dtype=float)
    if not totals.any():
        return None, None
    chosen, n_subsets = _subsets(totals.size)
    means = np.sort((chosen @ totals) / (chosen @ pairs))
    # The empty subset, and any drawn twice, stand on the side of every shift.
    n_empty = n_subsets - means.size
    place = int(np.floor((1.0 - confidence) * n_subsets + 1e-9)) - n_empty
    if place < 0:
        return None, None
    return float(means[place]), float(means[means.size - 1 - place])


def _subsets(n: int) -> tuple[NDArray[np.float64], int]:
    """Subsets of units as rows of 0 and 1, the empty ones left out, and how many there are with them."""
    if n <= _MOST_COUNTED:
        numbers = np.arange(1, 2**n)
        return ((numbers[:, None] >> np.arange(n)) & 1).astype(float), 2**n
    drawn = np.random.default_rng(_SEED).integers(0, 2, size=(DRAWS, n)).astype(float)
    return drawn[drawn.any(axis=1)], DRAWS + 1
