"""Tests of whether one mean is at least a share of another, where both are estimates.

Melding (M. P. Fay, M. A. Proschan and E. Brittain, "Combining one-sample confidence procedures for
inference in the two-sample case", Biometrics 71 (2015) 146-156): draw the better mean from its lower
confidence distribution and the other from its upper one, and ask how often the claim fails. On 0/1
scores these are the beta distributions of Clopper and Pearson, and at a share of 1 the answer is
Fisher's exact p-value; on fractional scores they are Gaffke's (below). Own code: melding is in the R packages
of its authors (`exact2x2`), and in no Python library.

The score test for a ratio (Miettinen and Nurminen 1985) is not used: with 12 right of 12 at both lengths it shows "at
least 0.8 of the baseline" at 95%, although a model with a perfect baseline and a true score of 0.8 has such a result in
7% of runs. Melding needs 14 of 14, as the test against a fixed threshold does."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from contextcliff.statistics.intervals import beta_above, beta_below, beta_quantile, weighted_mean_cdf

_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(200)
_GRID = 257
_REACH = 9.0
"""Standard deviations on either side of the second mean that the grid spans; the mass beyond is below 1e-12."""


def p_at_most_share(scores: tuple[float, ...], baseline: tuple[float, ...], share: float, *, binary: bool) -> float:
    """One-sided p-value of "the mean behind `scores` is at most `share` × that behind `baseline`"."""
    if binary:
        right, base_right = sum(s == 1.0 for s in scores), sum(s == 1.0 for s in baseline)
        return binary_p_at_most_share(right, len(scores), base_right, len(baseline), share)
    return _bounded_p_at_most_share(scores, baseline, share)


@lru_cache(maxsize=4096)
def binary_p_at_most_share(successes: float, n: float, base_successes: float, base_n: float, share: float) -> float:
    """The same p-value for `successes` of `n` against `base_successes` of `base_n`, whole numbers or effective ones.

    With no success the p-value is 1, whatever the baseline; a baseline of successes only has the upper
    confidence distribution 1, and the test is then the exact binomial one against `share`."""
    if successes == 0:
        return 1.0
    if base_successes == base_n:
        return beta_below(share, successes, n - successes + 1)
    quantiles = beta_quantile(0.5 * (_NODES + 1.0), base_successes + 1, base_n - base_successes)
    return float(beta_below(share * quantiles, successes, n - successes + 1) @ (0.5 * _WEIGHTS))


@lru_cache(maxsize=1024)
def _bounded_p_at_most_share(scores: tuple[float, ...], baseline: tuple[float, ...], share: float) -> float:
    return _p_below((0.0, *scores), (*baseline, 1.0), share)


def p_at_least_share(scores: tuple[float, ...], baseline: tuple[float, ...], share: float, *, binary: bool) -> float:
    """One-sided p-value of "the mean behind `scores` is at least `share` × that behind `baseline`"."""
    if binary:
        right, base_right = sum(s == 1.0 for s in scores), sum(s == 1.0 for s in baseline)
        return binary_p_at_least_share(right, len(scores), base_right, len(baseline), share)
    return 1.0 - _p_below((*scores, 1.0), (0.0, *baseline), share)


def binary_p_at_least_share(successes: float, n: float, base_successes: float, base_n: float, share: float) -> float:
    """The same p-value for `successes` of `n` against `base_successes` of `base_n`, whole numbers or effective ones."""
    if successes == n:
        return 1.0
    # The upper distribution of the score against the lower one of the baseline, both as quantiles.
    at = 0.5 * (_NODES + 1.0)
    base = np.zeros_like(at)
    if base_successes > 0:
        base = beta_quantile(at, base_successes, base_n - base_successes + 1)
    above = beta_above(share * base, successes + 1, n - successes)
    return float(above @ (0.5 * _WEIGHTS))


def _p_below(first: tuple[float, ...], second: tuple[float, ...], share: float) -> float:
    """Probability that the randomly weighted mean of `first` is at most `share` × that of `second`."""
    if min(second) == max(second):
        return float(weighted_mean_cdf(first, np.array([share * second[0]]))[0])
    spread = float(np.std(second)) / np.sqrt(len(second) + 1.0)
    centre = float(np.mean(second))
    grid = np.linspace(max(min(second), centre - _REACH * spread), min(max(second), centre + _REACH * spread), _GRID)
    mass = np.diff(weighted_mean_cdf(second, grid))
    below = weighted_mean_cdf(first, share * grid)
    return float(np.clip((0.5 * (below[1:] + below[:-1])) @ mass, 0.0, 1.0))
