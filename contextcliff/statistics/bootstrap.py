"""Percentile bootstrap intervals of many means at once.

B. Efron, "Bootstrap methods: another look at the jackknife", Ann. Statist. 7 (1979) 1-26. The same resampled rounds
serve every measure: as many intervals as there are columns cost one matrix product. In small samples the interval is
too short (of normal values, 84% of the intervals of five and 91% of those of ten hold the mean at a nominal 95%): it is
shown, and nothing is tested by it.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

RESAMPLES = 10_000

_Array = NDArray[np.float64]


def mean_intervals(columns: _Array, *, confidence: float, seed: int) -> list[tuple[float, float]]:
    """Two-sided intervals at `confidence` for the mean of each column; the rows are at least two draws.

    An interval never leaves the range of its column.
    """
    n = columns.shape[0]
    times = np.random.default_rng(seed).multinomial(n, np.full(n, 1.0 / n), size=RESAMPLES)
    means = (times / n) @ columns
    ends = np.quantile(means, [0.5 * (1.0 - confidence), 0.5 * (1.0 + confidence)], axis=0)
    low, high = np.clip(ends, columns.min(axis=0), columns.max(axis=0))
    return [(float(a), float(b)) for a, b in zip(low, high, strict=True)]
