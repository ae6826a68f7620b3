"""Testing by betting: the wealth of a gambler whom the null hypothesis lets win nothing on average.

A bet stakes a fixed fraction f of its wealth on each sample and multiplies it by 1 + f·g, where the gain g per unit
staked is at least −1. `sequential.py` makes the gains so that they are at most 0 on average under the null
hypothesis. Several bets hold shares of one initial wealth of 1, and the e-value is their total.

Why the e-value holds at the end of every block: the stakes are fixed beforehand and the samples of a block are
independent, so the expected product over a block is Π (1 + f·E[gᵢ]). By the inequality of arithmetic and geometric
means that is at most (1 + f·ḡ)ᵇ, with ḡ the mean of the E[gᵢ], and ḡ ≤ 0 makes it at most 1. No matter how the mean is
spread over the places of the block: one depth may be perfect and another hopeless. The wealth at the ends of blocks is
therefore a nonnegative supermartingale, and by Ville's inequality it ever reaches 1/α with a chance of at most α,
however often one looks and whenever one stops.

What breaks it:
- a look inside a block: the samples so far may be those of the easy depths;
- the order of completion in place of an order fixed beforehand: easy samples may come back first;
- samples that share a text, counted as independent: with an intra-class correlation of .05, .15, .3 the error at a
  nominal 5% is 7, 18, 34%. `sequential.clustered_block` bets on texts instead.

Sources: I. Waudby-Smith and A. Ramdas, "Estimating means of bounded random variables by betting", J. R. Stat. Soc. B 86
(2024) 1-27; J. Ville, "Étude critique de la notion de collectif" (1939); A. Ramdas et al., "Game-theoretic statistics
and safe anytime-valid inference", Statistical Science 38 (2023) 576-601. Own code: the stakes have to be fixed within a
block, and no dependency of this project has such bets.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from dataclasses import dataclass

HOPED = 20
"""Samples with the best score that an expectation adds to what was seen: a few wrong answers at first say little."""
_ROUNDING = 1e-9
_LARGEST_LOG = math.log(sys.float_info.max)


@dataclass(frozen=True, kw_only=True, slots=True)
class Bets:
    """Bets that share an initial wealth of 1: the fraction that each stakes on every sample, and its share."""

    stakes: tuple[float, ...]
    """Each above 0 and below 1: no single sample takes everything."""
    weights: tuple[float, ...]
    """Positive, with the sum 1."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Wealth:
    """What the bets are worth after whole blocks, as logarithms: 100,000 samples overflow nothing."""

    bets: Bets
    log_products: tuple[float, ...]
    """Log of Π (1 + f·g) of each bet, without its weight."""

    @classmethod
    def before_any_block(cls, bets: Bets) -> Wealth:
        return cls(bets=bets, log_products=(0.0,) * len(bets.stakes))

    def after(self, gains: Sequence[float]) -> Wealth:
        """The wealth after one more whole block. Raises ValueError for a gain below −1 per unit staked."""
        for gain in gains:
            if not gain >= -1.0 - _ROUNDING:
                raise ValueError(f"a gain per unit staked is a number not below -1, not {gain}")
        logs = (math.fsum(math.log1p(stake * gain) for gain in gains) for stake in self.bets.stakes)
        return Wealth(
            bets=self.bets,
            log_products=tuple(before + log for before, log in zip(self.log_products, logs, strict=True)),
        )

    @property
    def log_e_value(self) -> float:
        return log_of_mixture(self.bets.weights, self.log_products)

    def log_e_value_at_best(self, *, more: float, gain: float) -> float:
        """The log e-value after `more` samples of this gain each."""
        pairs = zip(self.log_products, self.bets.stakes, strict=True)
        logs = [log + more * math.log1p(stake * gain) for log, stake in pairs]
        return log_of_mixture(self.bets.weights, logs)

    def log_e_value_expected(self, *, samples: float, more: float, best_gain: float) -> float:
        """The log e-value to expect after `more` samples beyond the `samples` that this is the wealth of.

        They are taken to gain what those so far and `HOPED` samples of the best possible gain do on average.
        """
        best = (math.log1p(stake * best_gain) for stake in self.bets.stakes)
        logs = [
            log + more * (log + HOPED * best_log) / (samples + HOPED)
            for log, best_log in zip(self.log_products, best, strict=True)
        ]
        return log_of_mixture(self.bets.weights, logs)


def log_of_mixture(weights: Sequence[float], logs: Sequence[float]) -> float:
    """Log of Σ weight · exp(log), without overflow."""
    highest = max(logs)
    return highest + math.log(math.fsum(w * math.exp(log - highest) for w, log in zip(weights, logs, strict=True)))


def e_value_of(log_e_value: float) -> float:
    """The e-value itself; beyond the range of a float the largest float, which JSON can hold and infinity can't."""
    return math.exp(log_e_value) if log_e_value < _LARGEST_LOG else sys.float_info.max
