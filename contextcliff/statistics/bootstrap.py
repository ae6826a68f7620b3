"""Bootstrap intervals of many means at once.

B. Efron, "Bootstrap methods: another look at the jackknife", Ann. Statist. 7 (1979) 1-26 (percentile intervals), and
"Better bootstrap confidence intervals", JASA 82 (1987) 171-185 (bias-corrected and accelerated ones, BCa). In small
samples both are too short: of normal values, 84% of the percentile intervals of five and 91% of those of ten hold the
mean at a nominal 95%. They are shown, and nothing is tested by them.
"""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy import stats

RESAMPLES = 10_000

_Array = NDArray[np.float64]


def mean_intervals(
    columns: _Array,
    *,
    confidence: float,
    seed: int,
    method: Literal["percentile", "BCa"] = "percentile",
    resamples: int = RESAMPLES,
) -> list[tuple[float, float]]:
    """Two-sided intervals at `confidence` for the mean of each column; `columns` has shape (draws, measures).

    At least two draws. The same resampled rows serve every column. A percentile interval never leaves the range of its
    column; an end of a BCa interval is not finite where the acceleration has no value.
    """
    rng = np.random.default_rng(seed)
    low, high = (_percentile if method == "percentile" else _accelerated)(columns, confidence, rng, resamples)
    return [(float(a), float(b)) for a, b in zip(low, high, strict=True)]


def _percentile(columns: _Array, confidence: float, rng: np.random.Generator, resamples: int) -> tuple[_Array, _Array]:
    """Lower and upper ends, each of shape (measures,). One matrix product, which scipy's resampling by index is not."""
    n = columns.shape[0]
    times = rng.multinomial(n, np.full(n, 1.0 / n), size=resamples)
    means = (times / n) @ columns
    ends = np.quantile(means, [0.5 * (1.0 - confidence), 0.5 * (1.0 + confidence)], axis=0)
    low, high = np.clip(ends, columns.min(axis=0), columns.max(axis=0))
    return low, high


def _accelerated(columns: _Array, confidence: float, rng: np.random.Generator, resamples: int) -> tuple[_Array, _Array]:
    """Lower and upper ends, each of shape (measures,)."""
    interval = stats.bootstrap(
        (columns,), np.mean, axis=0, confidence_level=confidence, n_resamples=resamples, method="BCa", rng=rng
    ).confidence_interval
    return np.asarray(interval.low), np.asarray(interval.high)
