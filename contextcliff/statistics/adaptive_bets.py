"""Bets on whether a mean score is above its bar: one that a forecast chooses, beside a mixture of fixed ones.

Before each sample the caller says how right the model is expected to be. Of that follows one bet, for "above" or for
"below", at the stake that grows fastest if the expectation is true. The bet is fixed before the sample is scored, so
that its expected factor is at most 1 where it is wrong, whatever chose it: the product is a supermartingale under the
null hypothesis, and by Ville's inequality it ever reaches 1/α with a chance of at most α. That holds sample by sample
where each by itself has the mean in question (its depth is drawn), or where a step is a text with all its depths.

A good forecast bets better than any fixed stake, a bad one loses what it staked. An e-value is therefore the mean of
two: `OWN` of the product of the chosen bets, the rest of a mixture of fixed stakes on the same samples (`betting.py`).

A sample without a score counts for neither side: as 0 in a bet on "above", as 1 in one on "below"; a baseline's the
other way round. Whatever made it fail, no e-value is then larger than with the score.

Sources: I. Waudby-Smith and A. Ramdas (2024, `betting.py`), predictable stakes; J. L. Kelly, "A new interpretation of
information rate" (1956), the stake that grows fastest. Own code: no dependency of this project has such bets."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from contextcliff.statistics.betting import ABOVE, BELOW, SHARE_ABOVE, SHARE_BELOW, Bets, Bounds, Wealth, log_of_mixture

OWN = 0.7
"""Share of the initial wealth that goes into the chosen bets."""
HOPED = 40
"""Samples with the best score that a forecast adds to what was seen: a few wrong answers at first say little."""
MOST_STAKED = 0.97
"""Of the wealth, in one bet: no single sample takes everything."""
_HALVINGS = 40
_PERFECT = 1.0, 1.0
"""What an absolute threshold is a share of."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Bar:
    """What a mean score is compared with: `level` itself, or that share of the mean of a baseline."""

    level: float
    is_share: bool = False

    @property
    def most_above(self) -> float:
        """The largest stake on "above"."""
        return MOST_STAKED / self.level

    @property
    def most_below(self) -> float:
        """The largest stake on "below": a baseline's sample may be wrong, and a right one then exceeds it by 1."""
        return MOST_STAKED if self.is_share else MOST_STAKED / (1.0 - self.level)

    def at(self, baseline: float) -> float:
        """The mean that a score has to exceed, by what is expected of the baseline (1 for a bar that is no share)."""
        return self.level * baseline

    def stake(self, expected: float, baseline: float = 1.0) -> float:
        """The stake that grows fastest for 0/1 scores of this mean: above 0 on "above", below 0 on "below"."""
        if not self.is_share:
            best = (expected - self.level) / (self.level * (1.0 - self.level))
            return max(-self.most_below, min(self.most_above, best))
        sign = 1.0 if expected > self.at(baseline) else -1.0
        outcomes = [(chance, sign * gain) for chance, gain in self._outcomes(expected, baseline)]
        low, high = 0.0, self.most_above if sign > 0.0 else self.most_below
        if _slope(outcomes, high) >= 0.0:
            return sign * high
        for _ in range(_HALVINGS):
            middle = 0.5 * (low + high)
            low, high = (middle, high) if _slope(outcomes, middle) > 0.0 else (low, middle)
        return sign * low

    def growth(self, expected: float, baseline: float = 1.0) -> float:
        """The log by which the best bet grows with a sample on average; above 0 for a mean that is not at the bar."""
        stake = self.stake(expected, baseline)
        outcomes = self._outcomes(expected, baseline)
        return math.fsum(chance * math.log1p(stake * gain) for chance, gain in outcomes if chance > 0.0)

    def _outcomes(self, expected: float, baseline: float) -> tuple[tuple[float, float], ...]:
        """The chance of each outcome of independent 0/1 scores, and how far it exceeds the bar."""
        if not self.is_share:
            return (expected, 1.0 - self.level), (1.0 - expected, -self.level)
        return (
            (expected * (1.0 - baseline), 1.0),
            (expected * baseline, 1.0 - self.level),
            ((1.0 - expected) * baseline, -self.level),
        )

    def bets(self) -> tuple[Bets, Bets]:
        """The mixtures of fixed stakes for "above" and "below"."""
        return (SHARE_ABOVE, SHARE_BELOW) if self.is_share else (ABOVE, BELOW)


def _slope(outcomes: Sequence[tuple[float, float]], stake: float) -> float:
    return math.fsum(chance * gain / (1.0 + stake * gain) for chance, gain in outcomes)


def log_factor(bar: Bar, stake: float, score: Bounds, baseline: Bounds = _PERFECT, *, is_repeat: bool = False) -> float:
    """The log by which a bet changes the wealth that is staked on its side, at the score that is worst for it. What was
    seen before can only take from it: of repeats those that agree with it may be fewer than there were."""
    gain = score[0] - bar.level * baseline[1] if stake > 0.0 else score[1] - bar.level * baseline[0]
    log = math.log1p(stake * gain)
    return min(0.0, log) if is_repeat else log


@dataclass(frozen=True, kw_only=True, slots=True)
class Evidence:
    """What the samples of one length show about its mean, as logs: 100,000 samples overflow nothing."""

    bar: Bar
    own_above: float
    """Log of the product of the chosen bets on "above"."""
    own_below: float
    above: Wealth
    below: Wealth
    hoped: Wealth
    """That of "above" if every sample without a score had the best one."""
    n: int = 0
    """Steps: samples, texts or pairs."""

    @classmethod
    def before_any(cls, bar: Bar) -> Evidence:
        above, below = map(Wealth.before_any, bar.bets())
        return cls(bar=bar, own_above=0.0, own_below=0.0, above=above, below=below, hoped=above)

    def after(self, stake: float, score: Bounds, baseline: Bounds = _PERFECT, *, is_repeat: bool = False) -> Evidence:
        """The evidence after one more step, at a stake that was chosen before it was scored. A repeat shows what was
        seen before: it counts against a claim, and never for it."""
        level = self.bar.level
        worst, best = score[0] - level * baseline[1], score[1] - level * baseline[0]
        hoped = best
        if is_repeat:
            worst, hoped, best = min(worst, 0.0), min(best, 0.0), max(best, 0.0)
        log = log_factor(self.bar, stake, score, baseline, is_repeat=is_repeat)
        return replace(
            self,
            own_above=self.own_above + (log if stake > 0.0 else 0.0),
            own_below=self.own_below + (log if stake < 0.0 else 0.0),
            above=self.above.after([worst / level]),
            below=self.below.after([-best if self.bar.is_share else -best / (1.0 - level)]),
            hoped=self.hoped.after([hoped / level]),
            n=self.n + 1,
        )

    @property
    def log_above(self) -> float:
        """The log e-value against "the mean is at most its bar"."""
        return _mean_of(self.own_above, self.above.log_e_value)

    @property
    def log_below(self) -> float:
        """The log e-value against "the mean is at least its bar"."""
        return _mean_of(self.own_below, self.below.log_e_value)

    def log_expected(self, most: int, *, hoped: bool = False) -> float:
        """The log e-value for "above" to expect after `most` samples in all.

        Each product is taken to gain, with a sample to come, what those so far and `HOPED` of the best possible gain do
        on average. With `hoped`, the mixture is as if every sample without a score had the best one."""
        wealth, more, best_gain = self.hoped if hoped else self.above, max(0, most - self.n), 1.0 / self.bar.level - 1.0

        def expected(log: float, staked: float) -> float:
            return log + more * (log + HOPED * math.log1p(staked * best_gain)) / (self.n + HOPED)

        logs = list(map(expected, wealth.log_products, wealth.bets.stakes))
        return _mean_of(expected(self.own_above, MOST_STAKED), log_of_mixture(wealth.bets.weights, logs))


def _mean_of(own: float, mixture: float) -> float:
    return log_of_mixture((OWN, 1.0 - OWN), (own, mixture))
