"""Whether the time to the first token follows a prefill curve, and by how much it leaves it.

A prompt of n tokens of which the cache saved c takes a + b·(n − c) + d·(n² − c²) / 2 to read: a fixed part, a part for
each token that is computed, and attention, which looks back from each of them at all tokens before; no part is
negative. Per computed token that is a / (n − c) + b + d·(n + c) / 2, a rate that is linear in the three.

The typical rate of a length is the Hodges-Lehmann estimate of the logarithms, the median of all their pairwise means,
with the interval of Wilcoxon's signed-rank test (M. Hollander, D. A. Wolfe and E. Chicken, "Nonparametric Statistical
Methods", 3rd ed. 2014, sections 3.2 and 3.3): a few requests that take ten times as long hardly move it. If the
intervals hold together and no curve goes through all of them, the times follow no prefill curve. That is a linear
program. The curve that is drawn is the least-squares one (relative errors, no negative part). Own code: scipy has the
test, and neither its estimate nor its interval."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from contextcliff.statistics.intervals import normal_quantile

_SLACK = 1e-6
"""Of the mean rate: a curve that misses an interval by less goes through it, but for rounding."""
_PAIRED_UP_TO = 500
"""Values of which every pair is looked at."""
_COUNTED_UP_TO = 60
"""Values up to which the chances of the signed-rank test are counted; beyond, the normal approximation."""

_Array = NDArray[np.float64]


@dataclass(frozen=True, kw_only=True, slots=True)
class Typical:
    """A typical value of positive ones, with its two-sided interval."""

    value: float
    low: float
    high: float


@dataclass(frozen=True, kw_only=True, slots=True)
class PrefillRate:
    """Time per computed token at one length, in any unit: a typical one with its interval."""

    inverse: float
    """Of the tokens that are computed, 1 / (n − c)."""
    back: float
    """Tokens before a computed one on average, (n + c) / 2."""
    typical: Typical


def typical(values: Sequence[float], confidence: float) -> Typical:
    """The Hodges-Lehmann estimate of at least one positive value, on the scale of logarithms.

    The interval is (0, ∞) where there are too few values for that confidence, as with 5 at 95%. Of more than 500 values
    every second, third … in order stands for all, since the pairs are too many; the interval is then too wide."""
    logs = np.sort(np.log(np.asarray(values)))[:: -(-len(values) // _PAIRED_UP_TO)]
    n = len(logs)
    first, second = np.triu_indices(n)
    means = np.sort(0.5 * (logs[first] + logs[second]))
    centre = math.exp(float(np.median(means)))
    # So many of the sums at either end are left out as the signed-rank sum is that small, with half of the error.
    dropped = _rank_sum_below(n, 0.5 * (1.0 - confidence))
    if not dropped:
        return Typical(value=centre, low=0.0, high=math.inf)
    return Typical(
        value=centre, low=math.exp(float(means[dropped - 1])), high=math.exp(float(means[len(means) - dropped]))
    )


@lru_cache(maxsize=512)
def _rank_sum_below(n: int, tail: float) -> int:
    """The number of the smallest sums of the signed-rank test of `n` values whose chance is at most `tail` together."""
    if n > _COUNTED_UP_TO:
        mean, deviation = n * (n + 1) / 4.0, math.sqrt(n * (n + 1) * (2 * n + 1) / 24.0)
        return max(0, math.floor(mean + deviation * normal_quantile(tail) - 0.5))
    ways = np.ones(1)
    for rank in range(1, n + 1):
        more = np.zeros(len(ways) + rank)
        more[: len(ways)] += ways
        more[rank:] += ways
        ways = more
    return int(np.searchsorted(np.cumsum(ways) * 0.5**n, tail * (1.0 + _SLACK), side="right"))


def follows_a_curve(rates: Sequence[PrefillRate]) -> bool:
    """Whether some prefill curve goes through the intervals of all lengths; at least one length."""
    from scipy import optimize

    scale = float(np.mean([rate.typical.value for rate in rates]))
    design, _ = _design(rates)
    finite = np.asarray([math.isfinite(rate.typical.high) for rate in rates])
    low = np.asarray([rate.typical.low for rate in rates]) / scale
    high = np.asarray([rate.typical.high for rate in rates])[finite] / scale
    # The least amount by which a curve has to miss: always a solution, so that no status of the solver decides.
    miss = np.ones((len(rates), 1))
    result = optimize.linprog(
        [0.0, 0.0, 0.0, 1.0],
        A_ub=np.vstack([np.hstack([-design, -miss]), np.hstack([design[finite], -miss[finite]])]),
        b_ub=np.concatenate([-low, high]),
        bounds=[(0.0, None)] * 4,
    )
    if result.fun is None:
        raise ArithmeticError(f"no prefill curve was found for {len(rates)} lengths: {result.message}")
    return float(result.fun) <= _SLACK


@dataclass(frozen=True, kw_only=True, slots=True)
class PrefillCurve:
    """The parts of a curve, none negative: time per prompt, per computed token, and per token that it looks back at."""

    fixed: float
    token: float
    attention: float

    def rate(self, *, inverse: float, back: float) -> float:
        """Time per computed token."""
        return self.fixed * inverse + self.token + self.attention * back


def fitted_curve(rates: Sequence[PrefillRate]) -> PrefillCurve:
    """The curve through the typical rates of at least one length. One length gives a constant rate. Two give a fixed
    part too where the rate falls, and attention where it rises."""
    from scipy import optimize

    columns: Sequence[Sequence[int]] = ((0, 1, 2),)
    if len(rates) == 1:
        columns = ((1,),)
    elif len(rates) == 2:
        columns = ((1,), (0, 1), (1, 2))
    values = np.asarray([rate.typical.value for rate in rates])
    design, scales = _design(rates)
    best, least = np.zeros(3), math.inf
    for chosen in columns:
        parts, error = optimize.nnls(design[:, chosen] / values[:, None], np.ones(len(rates)))
        if error < least - _SLACK:
            best, least = np.zeros(3), float(error)
            best[list(chosen)] = parts
    fixed, token, attention = best / scales
    return PrefillCurve(fixed=float(fixed), token=float(token), attention=float(attention))


def predicted(shorter: Sequence[PrefillRate], at: PrefillRate) -> float:
    """The typical rate that the curve of at least one shorter length predicts at another one."""
    return fitted_curve(shorter).rate(inverse=at.inverse, back=at.back)


def _design(rates: Sequence[PrefillRate]) -> tuple[_Array, _Array]:
    """A row a length, in columns of like size: the fixed part, the part for each token, attention; and their sizes."""
    inverse = np.asarray([rate.inverse for rate in rates])
    back = np.asarray([rate.back for rate in rates])
    scales = np.asarray([inverse.max(), 1.0, max(back.max(), 1e-12)])
    return np.column_stack([inverse, np.ones(len(rates)), back]) / scales, scales
