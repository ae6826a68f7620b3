"""How many pairs settle a comparison?

A non-inferiority test takes ((z_α + z_β)² ψ) / (margin + d)² pairs, with ψ the variance of a pair's difference (of
right or wrong answers the share of discordant pairs) and d the true difference: five points take some 250 pairs where a
tenth differ and the runs are equal. A test of "worse" takes the same with |d| in the place of margin + d. Source:
J. M. Nam, "Establishing equivalence of two treatments and sample size requirements in matched-pairs design",
Biometrics 53 (1997) 1422-1430, without its corrections of a few pairs.
"""

from __future__ import annotations

import math

from contextcliff.statistics.distributions import normal_quantile

POWER = 0.8
SEQUENTIAL = 2.0
"""What bets that may be looked at any time take more, about, by simulation."""


def pairs_for_non_inferiority(
    *, variance: float, margin: float, difference: float, confidence: float, power: float = POWER
) -> int | None:
    """Pairs that show with this chance that the candidate is worse by less than `margin`; None where it is not."""
    distance = margin + difference
    return None if distance <= 0.0 else _pairs(variance, distance, 1.0 - confidence, power)


def pairs_for_worse(*, variance: float, difference: float, confidence: float, power: float = POWER) -> int | None:
    """Pairs that show that a candidate with this true difference is worse, at half of α; None where it is not."""
    return None if difference >= 0.0 else _pairs(variance, -difference, 0.5 * (1.0 - confidence), power)


def _pairs(variance: float, distance: float, alpha: float, power: float) -> int:
    z = normal_quantile(1.0 - alpha) + normal_quantile(power)
    return math.ceil(z * z * max(0.0, variance) / distance**2)
