"""A confidence bound for the mean of scores between 0 and 1, valid in small samples.

Gaffke's bound: give the n scores, and one more score at the worst possible value (0 for a lower bound), random weights
that are uniform on the simplex, and take the quantile of the weighted mean. On 0/1 scores this is exactly the bound of
Clopper and Pearson, so that fractional scores and right or wrong answers are tested alike. It is higher where scores
vary less than right and wrong answers with the same mean, and it never equals the mean, since the worst value stays
possible.

Sources: N. Gaffke, "Three test statistics for a nonparametric one-sided hypothesis on the mean of a
nonnegative variable", Math. Methods Statist. 14 (2005) 451-467; E. Learned-Miller and P. Thomas,
"A new confidence interval for the mean of a bounded random variable" (arXiv 1905.06208, 2019). That
the coverage is guaranteed for every bounded distribution is conjectured there and is proved for 0/1
scores; no counter-example is known, and `tests/analysis/test_analysis_simulations.py` looks for one. The
alternatives with a general proof (Hoeffding 1963, Anderson 1969, betting) need several times the samples. Own code:
no Python library has the bound.

The distribution of the weighted mean is computed, not simulated. With weights E_i / ΣE for
independent exponential E_i, it lies below t where Σ E_i (x_i − t) does below 0, and the latter has the
characteristic function Π 1 / (1 − i s (x_i − t)), which is inverted after Gil-Pelaez (1951) and
Imhof (1961).
"""

from __future__ import annotations

from collections import Counter
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from contextcliff.statistics.roots import root_of

_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(256)
_TOLERANCE = 1e-10


def weighted_mean_cdf(scores: tuple[float, ...], at: NDArray[np.float64]) -> NDArray[np.float64]:
    """Probability that the mean of `scores` under uniform random weights is at most each value of `at`.

    `at` and the result have shape (values,).
    """
    counts = Counter(scores)
    values = np.array(sorted(counts))
    times = np.array([counts[value] for value in values], dtype=float)
    low, high = values[0], values[-1]
    result = np.where(at >= high, 1.0, 0.0)
    inside = (at > low) & (at < high)
    if inside.any():
        offsets = values[None, :] - at[inside][:, None]
        # Shapes: (values inside, distinct scores), then with the nodes between. The integrand is about as wide as the
        # inverse of the sum's standard deviation.
        scale = 1.0 / np.sqrt((times * offsets**2).sum(axis=1))
        half_line = 0.5 * (_NODES + 1.0)
        frequency = scale[:, None] * (half_line / (1.0 - half_line))
        products = frequency[:, :, None] * offsets[:, None, :]
        phase = np.arctan(products) @ times
        log_modulus = 0.5 * (np.log1p(products**2) @ times)
        integrand = np.sin(phase) * np.exp(-log_modulus) / (half_line * (1.0 - half_line))
        result[inside] = np.clip(0.5 - (integrand @ (0.5 * _WEIGHTS)) / np.pi, 0.0, 1.0)
    return result


@lru_cache(maxsize=4096)
def mean_lower_bound(scores: tuple[float, ...], confidence: float) -> float:
    """One-sided lower bound at `confidence` of the mean behind independent `scores` in [0, 1]."""
    with_worst = (0.0, *scores)
    highest = max(scores)
    if highest < _TOLERANCE:
        return 0.0
    alpha = 1.0 - confidence

    def excess(candidate: float) -> float:
        return float(weighted_mean_cdf(with_worst, np.array([candidate]))[0]) - alpha

    return root_of(excess, 0.0, highest, tolerance=_TOLERANCE)


def mean_upper_bound(scores: tuple[float, ...], confidence: float) -> float:
    """One-sided upper bound at `confidence`: 1 minus the lower bound of 1 − score."""
    return 1.0 - mean_lower_bound(tuple(sorted(1.0 - score for score in scores)), confidence)
