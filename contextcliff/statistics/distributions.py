"""Distribution functions and quantiles, by scipy's special functions.

`scipy.stats` gives the same numbers, but it takes a second to import and a tenth of a millisecond a call; what needs
more of it imports it where it is used.
"""

from __future__ import annotations

import math
from typing import overload

import numpy as np
from numpy.typing import NDArray
from scipy import special

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


def f_quantile(p: float, df: float, df_below: float) -> float:
    """F with a share `p` of Fisher's distribution below it; `df` of the numerator and `df_below` of the denominator."""
    return float(special.fdtri(df, df_below, p))


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
