"""Intervals and bounds of shares and means, and the distributions behind them."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from typing import Literal, overload

import numpy as np
from numpy.typing import NDArray
from scipy import special

# Where a function crosses zero, by Brent's method. `scipy.optimize` takes a third of a second to import: a run whose
# scores need no root goes without it.


def root_of(function: Callable[[float], float], low: float, high: float, *, tolerance: float) -> float:
    """The place between `low` and `high`, where the function has different signs, to within `tolerance`."""
    from scipy.optimize import brentq

    return float(brentq(function, low, high, xtol=tolerance))


# Distribution functions and quantiles, by scipy's special functions.
#
# `scipy.stats` gives the same numbers, but it takes a second to import and a tenth of a millisecond a call; what needs
# more of it imports it where it is used.

Floats = NDArray[np.float64]
_SLACK = 1e-12
"""A chance that is the given one but for rounding does not exceed it."""


def normal_quantile(p: float) -> float:
    """z with a share `p` of the normal distribution below it."""
    return float(special.ndtri(p))


def normal_below(z: float) -> float:
    """Share of the normal distribution below `z`."""
    return float(special.ndtr(z))


def normal_above(z: float) -> float:
    """Share of the normal distribution above `z`."""
    return float(special.ndtr(-z))


def t_quantile(p: float, df: float) -> float:
    """t with a share `p` of Student's distribution below it; of infinitely many degrees of freedom, the normal's."""
    return normal_quantile(p) if math.isinf(df) else float(special.stdtrit(df, p))


def t_above(t: float, df: float) -> float:
    """Share of Student's distribution above `t`."""
    return normal_above(t) if math.isinf(df) else float(special.stdtr(df, -t))


def binomial_at_most(k: float, n: int, p: float) -> float:
    """Chance of at most `k` successes of `n`."""
    return 0.0 if k < 0 else 1.0 if k >= n else float(special.bdtr(k, n, p))


def binomial_above(k: float, n: int, p: float) -> float:
    """Chance of more than `k` successes of `n`."""
    return 1.0 if k < 0 else 0.0 if k >= n else float(special.bdtrc(k, n, p))


def binomial_chances(n: int, p: float) -> Floats:
    """Chance of each number of successes of `n`, from none to all; `p` strictly between 0 and 1."""
    k = np.arange(n + 1)
    return np.asarray(np.exp(log_choose(n, k) + k * math.log(p) + (n - k) * math.log1p(-p)))


def binomials_above(k: Floats, n: NDArray[np.int64], p: float) -> Floats:
    """Chance of more than `k` successes, which are fewer than `n` or all of them, for each `n`."""
    inside = np.clip(k, 0, n - 1)
    chances = np.asarray(special.bdtrc(inside, n, p), dtype=np.float64)
    return np.where(k < 0, 1.0, np.where(k >= n, 0.0, chances))


def binomials_exceeded(q: float, n: NDArray[np.int64], p: float) -> Floats:
    """The least number of successes that is exceeded with a chance of at most `q`, for each `n`."""
    # From the normal approximation on, a step at a time: few are needed.
    found = np.clip(np.ceil(n * p + normal_quantile(1.0 - q) * np.sqrt(n * p * (1.0 - p))), 0.0, n)
    while (short := binomials_above(found, n, p) > q + _SLACK).any():
        found = np.where(short, found + 1.0, found)
    while (beyond := (found > 0) & (binomials_above(found - 1.0, n, p) <= q + _SLACK)).any():
        found = np.where(beyond, found - 1.0, found)
    return np.asarray(found)


def log_choose(n: int, k: NDArray[np.int64]) -> Floats:
    """Logarithm of the number of ways to choose each `k` of `n`."""
    return np.asarray(special.gammaln(n + 1.0) - special.gammaln(k + 1.0) - special.gammaln(n - k + 1.0))


@overload
def beta_quantile(p: float, a: float, b: float) -> float: ...
@overload
def beta_quantile(p: Floats, a: float, b: float) -> Floats: ...
def beta_quantile(p: float | Floats, a: float, b: float) -> float | Floats:
    """x with a share `p` of the beta distribution below it."""
    quantile: Floats = np.asarray(special.betaincinv(a, b, p), dtype=np.float64)
    return quantile if isinstance(p, np.ndarray) else float(quantile)


@overload
def beta_below(x: float, a: float, b: float) -> float: ...
@overload
def beta_below(x: Floats, a: float, b: float) -> Floats: ...
def beta_below(x: float | Floats, a: float, b: float) -> float | Floats:
    """Share of the beta distribution below `x`, which may lie beyond 0 and 1."""
    share: Floats = np.asarray(special.betainc(a, b, np.clip(x, 0.0, 1.0)), dtype=np.float64)
    return share if isinstance(x, np.ndarray) else float(share)


def beta_above(x: Floats, a: float, b: float) -> Floats:
    """Share of the beta distribution above each `x`."""
    return np.asarray(special.betaincc(a, b, np.clip(x, 0.0, 1.0)))


# A confidence bound for the mean of scores between 0 and 1, valid in small samples.
#
# Gaffke's bound: give the n scores, and one more score at the worst possible value (0 for a lower bound), random
# weights that are uniform on the simplex, and take the quantile of the weighted mean. On 0/1 scores this is exactly the
# bound of Clopper and Pearson, so that fractional scores and right or wrong answers are tested alike. It is higher
# where scores vary less than right and wrong answers with the same mean, and it never equals the mean, since the worst
# value stays possible.
#
# Sources: N. Gaffke, "Three test statistics for a nonparametric one-sided hypothesis on the mean of a nonnegative
# variable", Math. Methods Statist. 14 (2005) 451-467; E. Learned-Miller and P. Thomas, "A new confidence interval for
# the mean of a bounded random variable" (arXiv 1905.06208, 2019). That the coverage is guaranteed for every bounded
# distribution is conjectured there and is proved for 0/1 scores; no counter-example is known, and
# `tests/analysis/test_analysis_simulations.py` looks for one. The alternatives with a general proof (Hoeffding 1963,
# Anderson 1969, betting) need several times the samples. Own code: no Python library has the bound.
#
# The distribution of the weighted mean is computed, not simulated. With weights E_i / ΣE for independent exponential
# E_i, it lies below t where Σ E_i (x_i − t) does below 0, and the latter has the characteristic function Π 1 / (1 − i s
# (x_i − t)), which is inverted after Gil-Pelaez (1951) and Imhof (1961).

_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(256)
_TOLERANCE = 1e-10


def weighted_mean_cdf(scores: tuple[float, ...], at: NDArray[np.float64]) -> NDArray[np.float64]:
    """Probability that the mean of `scores` under uniform random weights is at most each of `at`: shape (values,)."""
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


# Intervals and bounds of a mean score, by how the scores were made.
#
# There are two kinds. The interval that is *shown* beside a mean is two-sided, with a coverage as near its nominal one
# as possible: Wilson's for 0/1 scores, a bootstrap for fractional ones. The bound that a cap is *tested* with is
# one-sided and conservative at every n: Clopper and Pearson's for 0/1 scores, Gaffke's (below) for fractional
# ones. Scores that come in clusters are first turned into the fractional counts of `clusters.py`.
#
# Sources: E. B. Wilson, JASA 22 (1927) 209-212; C. J. Clopper and E. S. Pearson, Biometrika 26 (1934) 404-413.

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
    conservative bounds of Gaffke at (1 + confidence) / 2 stand in."""
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
    """Gaffke's bound of the mean of at least one sorted score in [0, 1]; of 0/1 scores it is Clopper and Pearson's."""
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
    p-value of at most 1 − `confidence`: the bound that is drawn is the test that is made."""
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
    column; an end of a BCa interval is not finite where the acceleration has no value."""
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


# The interval of a mean over parts that are fixed and estimated independently, from the interval of each.
#
# Half the width of a part's interval stands for its error, and independent errors add up as squares. Wilson's interval
# has a width also where every answer is right, where a sample's variance is 0. Each part's interval is put round its
# mean first: Wilson's leans toward a half, and leanings would add up faster than errors do. (Distances to each end that
# are added apart, as by G. Y. Zou and A. Donner, Statistics in Medicine 27 (2008) 1693-1702, leave a true mean above
# the interval in up to 11% of runs over thirteen tasks.) `tests/statistics/test_mean_of_parts.py` has what it covers.


Estimate = tuple[float, float, float]
"""A mean of scores from 0 to 1, and the ends of its interval."""


def mean_of_parts(parts: Sequence[Estimate]) -> Estimate:
    """The mean of at least one part, each counted alike, at the confidence of the parts' intervals. The parts are all
    there are: it tells nothing of others of their kind. One part keeps its own interval."""
    if len(parts) == 1:
        return parts[0]
    count = len(parts)
    mean = math.fsum(mean for mean, _, _ in parts) / count
    half = math.sqrt(math.fsum((0.5 * (high - low)) ** 2 for _, low, high in parts)) / count
    return mean, max(0.0, mean - half), min(1.0, mean + half)
