"""Paired differences: tests, intervals, and the pairs that they take."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property, partial

import numpy as np
from numpy.typing import NDArray

from contextcliff.statistics.betting import Bets, Wealth
from contextcliff.statistics.confidence_sequence import sequential_bounds
from contextcliff.statistics.intervals import (
    binomial_at_most,
    mean_lower_bound,
    mean_upper_bound,
    normal_quantile,
    root_of,
)

# Is the candidate worse, where a search chose how many samples a length gets?
#
# A search stops after answers that settled it: a baseline that passed a length has just been right more often than it
# is. Its pairs are then too good on the baseline's side, and a test for a fixed number of pairs finds equal candidates
# worse. Here bets decide (`betting.py`): each stakes a fraction f on "the candidate scores lower" and multiplies its
# wealth by 1 − f·d for a difference d in −1 to 1. Pairs come in whole steps in the order of the search. Whether a
# step was asked depends on earlier steps alone, so that while the candidate is not worse on average over the pairs
# asked so far, the wealth reaches 1/α with a chance of at most α, whenever either run stopped. 1/e is a valid p-value
# at that place.

BETS = Bets(stakes=(0.1, 0.25, 0.5, 0.85), weights=(0.25, 0.25, 0.25, 0.25))
"""Equal runs that differ in a tenth of their pairs call for low stakes, a cliff that moved for high ones."""


def p_worse_of_steps(steps: Sequence[Units]) -> float:
    """The smallest level at which the bets show that the candidate is worse; 1 where they show nothing."""
    wealth = Wealth.before_any(BETS)
    for step in steps:
        wealth = wealth.after(_gains(step))
    return min(1.0, math.exp(-max(0.0, wealth.log_e_value)))


def p_better_of_steps(steps: Sequence[Units]) -> float:
    """The same toward better."""
    return p_worse_of_steps([step.mirrored() for step in steps])


def sequential_difference(steps: Sequence[Units], confidence: float) -> MeanDifference:
    """The mean difference over at least one step, units alike; each end of its confidence sequence by itself."""
    differences = [-gain for step in steps for gain in _gains(step)]
    mean = math.fsum(differences) / len(differences)
    return MeanDifference(
        mean=mean,
        low=min(_low(differences, confidence), mean),
        high=max(-_low([-each for each in differences], confidence), mean),
        method="confidence sequence",
    )


def _low(differences: Sequence[float], confidence: float) -> float:
    low, _ = sequential_bounds([0.5 * (1.0 + each) for each in differences], alpha=1.0 - confidence)
    return 2.0 * low - 1.0


def _gains(step: Units) -> tuple[float, ...]:
    """What a bet on "worse" wins by each unit, per unit staked: units of a step by the size of its largest."""
    largest = max(unit.pairs for unit in step.units)
    return tuple(-unit.total / largest for unit in step.units)


# Differences of paired scores, in the units that are independent of each other.
#
# A pair is one question that two runs answered; its difference is the candidate's score minus the baseline's, −1 to 1.
# Pairs that share a text or repeat a question are one *unit*: only units are independent.


@dataclass(frozen=True, kw_only=True, slots=True, order=True)
class Unit:
    """Pairs that depend on each other, or a single one."""

    total: float
    """Sum of the differences."""
    pairs: float = 1
    """How many; where pairs have weights, the sum of these, and the total is weighted too."""

    def __post_init__(self) -> None:
        if self.pairs <= 0 or not abs(self.total) <= self.pairs * (1.0 + 1e-9):
            raise ValueError(f"{self.pairs} differences between -1 and 1 can't have the sum {self.total}")


@dataclass(frozen=True, kw_only=True)
class Units:
    """The units of one length, or of all lengths together. They are sorted: their order means nothing."""

    units: tuple[Unit, ...]

    @classmethod
    def of(cls, units: Iterable[Unit]) -> Units:
        return cls(units=tuple(sorted(units)))

    @classmethod
    def single(cls, differences: Iterable[float]) -> Units:
        """Independent pairs."""
        return cls.of(Unit(total=difference) for difference in differences)

    @cached_property
    def n_pairs(self) -> float:
        return sum(unit.pairs for unit in self.units)

    @cached_property
    def mean(self) -> float:
        """Mean difference of all pairs; it takes at least one."""
        return math.fsum(unit.total for unit in self.units) / self.n_pairs

    @cached_property
    def is_right_or_wrong(self) -> bool:
        """Whether every unit is one pair of right or wrong answers."""
        return all(unit.pairs == 1 and unit.total in (-1.0, 0.0, 1.0) for unit in self.units)

    @cached_property
    def worse(self) -> int:
        """Units in which the candidate scored lower."""
        return sum(unit.total < 0.0 for unit in self.units)

    @cached_property
    def better(self) -> int:
        """Units in which the candidate scored higher."""
        return sum(unit.total > 0.0 for unit in self.units)

    def mirrored(self) -> Units:
        """With the two runs in each other's place."""
        return Units.of(Unit(total=-unit.total, pairs=unit.pairs) for unit in self.units)


# How large is the difference? Intervals for the mean difference of paired scores.
#
# Each end holds by itself at the confidence that is asked for: the lower end is what non-inferiority is tested by.
#
# - Right or wrong answers, every pair by itself: the score interval of T. Tango, "Equivalence test and confidence
#   interval for the difference in proportions for the paired-sample design", Statistics in Medicine 17 (1998) 891-908.
#   It does not collapse where no pair differs.
#
# - Graded scores, and units of several pairs: Gaffke's bound for bounded scores (below), on the units'
#   differences.
#
# A weighted sum of such intervals (the mean over lengths, the area under the score) is combined by MOVER: G. Y. Zou and
# A. Donner, "Construction of confidence limits about effect measures", Statistics in Medicine 27 (2008) 1693-1702.

_EDGE = 1e-12
_TOLERANCE = 1e-10


@dataclass(frozen=True, kw_only=True, slots=True)
class MeanDifference:
    """A mean difference and its interval."""

    mean: float
    low: float
    high: float
    method: str


def mean_difference(units: Units, confidence: float) -> MeanDifference:
    """Of at least one unit; each end holds at `confidence`."""
    if units.is_right_or_wrong:
        low, high = tango(better=units.better, worse=units.worse, n=units.n_pairs, confidence=confidence)
        return MeanDifference(mean=units.mean, low=low, high=high, method="tango")
    # A unit counts by its pairs: its total is a share of that of the largest unit.
    largest = max(unit.pairs for unit in units.units)
    scale = 2.0 * largest * len(units.units) / units.n_pairs
    shares = tuple(sorted(min(1.0, max(0.0, 0.5 * (1.0 + unit.total / largest))) for unit in units.units))
    low = scale * (mean_lower_bound(shares, confidence) - 0.5)
    high = scale * (mean_upper_bound(shares, confidence) - 0.5)
    return MeanDifference(
        mean=units.mean, low=max(-1.0, min(low, units.mean)), high=min(1.0, max(high, units.mean)), method="gaffke"
    )


def tango(*, better: int, worse: int, n: float, confidence: float) -> tuple[float, float]:
    """Score interval for the share of better minus that of worse pairs; each end holds at `confidence`."""
    z = normal_quantile(confidence)
    estimate = (better - worse) / n

    def excess(difference: float, limit: float) -> float:
        return _score(better, worse, n, difference) - limit

    low = (
        -1.0
        if better - worse == -n
        else root_of(partial(excess, limit=z), -1.0 + _EDGE, estimate, tolerance=_TOLERANCE)
    )
    high = (
        1.0 if better - worse == n else root_of(partial(excess, limit=-z), estimate, 1.0 - _EDGE, tolerance=_TOLERANCE)
    )
    return low, high


def _score(better: int, worse: int, n: float, difference: float) -> float:
    """Tango's statistic: how far the observed difference is above a supposed one, in standard errors."""
    a = 2.0 * n
    b = -better - worse + (2.0 * n - better + worse) * difference
    c = -worse * difference * (1.0 - difference)
    # The likeliest share of worse pairs, given the difference.
    share = max(0.0, (math.sqrt(max(0.0, b * b - 4.0 * a * c)) - b) / (2.0 * a))
    variance = n * (2.0 * share + difference * (1.0 - difference))
    gap = better - worse - n * difference
    return 0.0 if abs(gap) < _EDGE else gap / math.sqrt(max(variance, _EDGE))


def weighted(parts: Sequence[MeanDifference], weights: Sequence[float]) -> MeanDifference:
    """A weighted sum of independent differences, with the interval that theirs make (MOVER); a single one as it is."""
    if len(parts) == 1:
        return parts[0]
    mean = math.fsum(w * part.mean for w, part in zip(weights, parts, strict=True))
    below = math.fsum((w * (part.mean - part.low)) ** 2 for w, part in zip(weights, parts, strict=True))
    above = math.fsum((w * (part.high - part.mean)) ** 2 for w, part in zip(weights, parts, strict=True))
    return MeanDifference(mean=mean, low=mean - math.sqrt(below), high=mean + math.sqrt(above), method="mover")


def mean_of_parts(parts: Sequence[MeanDifference]) -> MeanDifference:
    """The mean of at least one independent difference, each counting alike."""
    return weighted(parts, [1.0 / len(parts)] * len(parts))


# How many pairs settle a comparison?
#
# A non-inferiority test takes ((z_α + z_β)² ψ) / (margin + d)² pairs, with ψ the variance of a pair's difference (of
# right or wrong answers the share of discordant pairs) and d the true difference: five points take some 250 pairs where
# a tenth differ and the runs are equal. A test of "worse" takes the same with |d| in the place of margin + d. Source:
# J. M. Nam, "Establishing equivalence of two treatments and sample size requirements in matched-pairs design",
# Biometrics 53 (1997) 1422-1430, without its corrections of a few pairs.

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


# Is the candidate worse? The exact test of the signs of paired differences.
#
# If the two runs were alike, each unit's difference would be as likely with the other sign. All choices of signs are
# equally likely then, and the p-value is the share of them with a sum as low as the observed one. On right or wrong
# answers this is McNemar's exact test of the discordant pairs, and over several lengths its stratified form: a pair
# only ever flips within its length. With graded scores or units of several pairs it is the permutation test for paired
# data.
#
# Sources: Q. McNemar, Psychometrika 12 (1947) 153-157; R. A. Fisher, "The Design of Experiments" (1935), section 21.
# The sums are counted exactly where the differences are multiples of one fraction, or few; they are drawn otherwise.
# Own code: scipy's `permutation_test` enumerates or draws whole samples, and counts no sums.

DRAWS = 20_000
_SEED = 20_261_123
_FRACTIONS = range(1, 61)
_MOST_STEPS = 2e8
_FEW = 14
"""Units of which every choice of signs is looked at."""
_ROUNDING = 1e-9


def p_worse(units: Units) -> float:
    """One-sided p-value of "the candidate does not score lower"; 1 where no unit differs."""
    totals = np.abs(np.array([unit.total for unit in units.units if unit.total != 0.0]))
    if not totals.size:
        return 1.0
    observed = math.fsum(unit.total for unit in units.units)
    for parts in _FRACTIONS:
        scaled = totals * parts
        if float(np.abs(scaled - np.rint(scaled)).max()) < _ROUNDING * parts:
            whole = np.rint(scaled).astype(np.int64)
            if whole.size * float(whole.sum()) > _MOST_STEPS:
                break
            return _counted(whole, round(observed * parts))
    return _drawn(totals, observed)


def p_better(units: Units) -> float:
    """The same toward better."""
    return p_worse(units.mirrored())


def _counted(totals: NDArray[np.int64], observed: int) -> float:
    """Of sums of whole numbers with random signs, the chance of one at most the observed one."""
    if (totals == 1).all():
        higher = (int(totals.size) + observed) // 2
        return binomial_at_most(higher, int(totals.size), 0.5)
    most = int(totals.sum())
    chances = np.zeros(2 * most + 1)
    chances[most] = 1.0  # the place of a sum s is most + s
    for total in map(int, totals):
        up, down = np.zeros_like(chances), np.zeros_like(chances)
        up[total:], down[:-total] = chances[:-total], chances[total:]
        chances = 0.5 * (up + down)
    return min(1.0, float(chances[: most + observed + 1].sum()))


def _drawn(totals: NDArray[np.float64], observed: float) -> float:
    """The share of all choices of signs where the units are few, else of drawn ones. (1 + x) / (1 + draws) is valid
    with any number of draws (B. Phipson and G. K. Smyth 2010)."""
    if totals.size <= _FEW:
        every = (np.arange(2**totals.size)[:, None] >> np.arange(totals.size)) & 1
        return float(((2 * every - 1) @ totals <= observed + _ROUNDING).mean())
    random = np.random.default_rng(_SEED)
    low = 0
    for _ in range(DRAWS // 1_000):
        signs = random.integers(0, 2, size=(1_000, totals.size)) * 2 - 1
        low += int((signs @ totals <= observed + _ROUNDING).sum())
    return (1.0 + low) / (1.0 + DRAWS)


# How large is a paired difference that has no bounds? The interval that the test of signs leaves.
#
# A shift belongs to the interval where the exact test of signs (above) does not reject that the units'
# differences are symmetric around it. Its ends are order statistics of the means of subsets of the units: J. A.
# Hartigan, "Using subsample values as typical values", JASA 64 (1969) 1303-1317. It takes no law of the differences but
# their symmetry around the shift. Own code: scipy's `permutation_test` gives no interval.

_MOST_COUNTED = 14
"""Units of which all subsets are looked at; of more they are drawn."""
_TYPICAL_SEED = 20_261_124


def shift_interval(units: Units, confidence: float) -> tuple[float | None, float | None]:
    """Both ends for the mean difference of a pair, each by itself at `confidence`. None where so few units can rule out
    nothing, and where no unit differs."""
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
    drawn = np.random.default_rng(_TYPICAL_SEED).integers(0, 2, size=(DRAWS, n)).astype(float)
    return drawn[drawn.any(axis=1)], DRAWS + 1
