"""Intervals and bounds of a mean score, by how the scores were made.

There are two kinds. The interval that is *shown* beside a mean is two-sided, with a coverage as near its nominal one as
possible: Wilson's for 0/1 scores, a bootstrap for fractional ones. The bound that a cap is *tested*
with is one-sided and conservative at every n: Clopper and Pearson's for 0/1 scores, Gaffke's (`gaffke.py`) for
fractional ones. Scores that come in clusters are first turned into the fractional counts of `clusters.py`.

Sources: E. B. Wilson, JASA 22 (1927) 209-212; C. J. Clopper and E. S. Pearson, Biometrika 26 (1934) 404-413.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from functools import lru_cache
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from contextcliff.statistics.distributions import beta_quantile, normal_quantile
from contextcliff.statistics.gaffke import mean_lower_bound, mean_upper_bound

_BOOTSTRAP_SEED = 20_261_101
_BOOTSTRAP_RESAMPLES = 4_000
_BOOTSTRAP_FROM = 10
"""Below this many scores a bootstrap has too little to resample and its interval is too short."""


def is_binary(scores: Iterable[float]) -> bool:
    """Whether every score is 0 or 1."""
    return all(score in (0.0, 1.0) for score in scores)


def shown_interval(scores: tuple[float, ...], confidence: float, *, binary: bool) -> tuple[float, float]:
    """Two-sided interval at `confidence` for the mean of at least one score, sorted, in [0, 1].

    0/1 scores: Wilson. Fractional scores: bias-corrected accelerated bootstrap from a fixed seed;
    where there are fewer than ten of them, or all are equal, a bootstrap knows no spread, and the two
    conservative bounds of `gaffke.py` at (1 + confidence) / 2 stand in.
    """
    if binary:
        return wilson(_successes(scores), len(scores), confidence)
    if len(scores) >= _BOOTSTRAP_FROM and scores[0] < scores[-1]:
        low, high = _bootstrap(scores, confidence)
        if math.isfinite(low) and math.isfinite(high):
            # Where one score of many differs, the acceleration can carry an end past the mean.
            mean = math.fsum(scores) / len(scores)
            return min(low, mean), max(high, mean)
    each_side = 0.5 * (1.0 + confidence)
    return mean_lower_bound(scores, each_side), mean_upper_bound(scores, each_side)


def lower_bound(scores: tuple[float, ...], confidence: float) -> float:
    """One-sided lower bound at `confidence` for the mean of at least one sorted score in [0, 1].

    Gaffke's, whatever the scores are: where all are 0 or 1 that is Clopper and Pearson's, which has a closed form.
    """
    if is_binary(scores):
        return clopper_pearson_low(_successes(scores), len(scores), confidence)
    return mean_lower_bound(scores, confidence)


def upper_bound(scores: tuple[float, ...], confidence: float) -> float:
    """One-sided upper bound at `confidence` for the mean of at least one sorted score in [0, 1], likewise."""
    if is_binary(scores):
        return 1.0 - clopper_pearson_low(len(scores) - _successes(scores), len(scores), confidence)
    return mean_upper_bound(scores, confidence)


def wilson(successes: int, n: int, confidence: float) -> tuple[float, float]:
    """Wilson's two-sided score interval for `successes` of `n`."""
    return wilson_of_share(successes / n, n, confidence)


def wilson_of_share(mean: float, n: float, confidence: float) -> tuple[float, float]:
    """Wilson's two-sided score interval for a share of `n` scores, which need not be a whole number."""
    z = normal_quantile(0.5 * (1.0 + confidence))
    centre = mean + z**2 / (2.0 * n)
    half = z * math.sqrt(mean * (1.0 - mean) / n + z**2 / (4.0 * n**2))
    low, high = ((centre + side * half) / (1.0 + z**2 / n) for side in (-1.0, 1.0))
    # At a mean of 0 or 1 that end is the mean itself, but for rounding.
    return max(0.0, min(low, mean)), min(1.0, max(high, mean))


@lru_cache(maxsize=4096)
def clopper_pearson_low(successes: float, n: float, confidence: float) -> float:
    """One-sided exact lower bound for `successes` of `n`; both may be fractions of an effective sample.

    It is at least p exactly where the exact one-sided binomial test of "the rate is p or less" has a
    p-value of at most 1 − `confidence`: the bound that is drawn is the test that is made.
    """
    if successes == 0:
        return 0.0
    return beta_quantile(1.0 - confidence, successes, n - successes + 1)


@lru_cache(maxsize=4096)
def _bootstrap(scores: tuple[float, ...], confidence: float) -> tuple[float, float]:
    (interval,) = mean_intervals(
        np.asarray(scores)[:, None],
        confidence=confidence,
        seed=_BOOTSTRAP_SEED,
        method="BCa",
        resamples=_BOOTSTRAP_RESAMPLES,
    )
    return interval


def _successes(scores: tuple[float, ...]) -> int:
    return sum(score == 1.0 for score in scores)


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
    from scipy import stats

    interval = stats.bootstrap(
        (columns,), np.mean, axis=0, confidence_level=confidence, n_resamples=resamples, method="BCa", rng=rng
    ).confidence_interval
    return np.asarray(interval.low), np.asarray(interval.high)
