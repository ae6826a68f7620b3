"""Testing by betting: the wealth of a gambler whom the null hypothesis lets win nothing on average.

A bet stakes a fixed fraction f of its wealth on each sample and multiplies it by 1 + f·g, where the gain g per unit
staked is at least −1 and at most 0 on average under the null hypothesis. Several bets hold shares of one initial wealth
of 1, and the e-value is their total: a nonnegative supermartingale, so that by Ville's inequality it ever reaches 1/α
with a chance of at most α, however often one looks and whenever one stops.

Gains may come several at once (`after`), for samples that are looked at together: the expected product over them is
Π (1 + f·E[gᵢ]), by the inequality of arithmetic and geometric means at most (1 + f·ḡ)ᵇ with ḡ the mean of the E[gᵢ].

What breaks it:
- a look among samples that are looked at together: those so far may be the easy ones;
- the order of completion in place of an order fixed beforehand: easy samples may come back first;
- samples that share a text, counted as independent: with an intra-class correlation of .05, .15, .3 the error at a
  nominal 5% is 7, 18, 34%. A step of a search is then the whole text.

Sources: I. Waudby-Smith and A. Ramdas, "Estimating means of bounded random variables by betting", J. R. Stat. Soc. B 86
(2024) 1-27; J. Ville, "Étude critique de la notion de collectif" (1939); A. Ramdas et al., "Game-theoretic statistics
and safe anytime-valid inference", Statistical Science 38 (2023) 576-601. Own code: no dependency of this project has
such bets."""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from dataclasses import dataclass

BELOW_AT = 20.0
"""E-value at which a mean is shown below its bar: wrongly in at most 5% of runs."""
Score = float | None
"""In [0, 1], or None for a sample that has no score."""
Bounds = tuple[float, float]
"""The lowest and the highest that a score may be: twice the same where it is known, 0 and 1 where it is not."""
_ROUNDING = 1e-9
_LARGEST_LOG = math.log(sys.float_info.max)


@dataclass(frozen=True, slots=True)
class Repeat:
    """The scores of a step whose evidence was counted before: it counts against a claim, and never for it."""

    scores: tuple[Score, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class Bets:
    """Bets that share an initial wealth of 1: the fraction that each stakes on every sample, and its share."""

    stakes: tuple[float, ...]
    """Each above 0 and below 1: no single sample takes everything."""
    weights: tuple[float, ...]
    """Positive, with the sum 1."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Wealth:
    """What the bets are worth by now, as logarithms: 100,000 samples overflow nothing."""

    bets: Bets
    log_products: tuple[float, ...]
    """Log of Π (1 + f·g) of each bet, without its weight."""

    @classmethod
    def before_any(cls, bets: Bets) -> Wealth:
        return cls(bets=bets, log_products=(0.0,) * len(bets.stakes))

    def after(self, gains: Sequence[float]) -> Wealth:
        """The wealth after samples that are looked at together. Raises ValueError for a gain below −1."""
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


def bounds_of(scores: Sequence[Score]) -> Bounds:
    """The bounds of the mean of the scores of one step, at least one. Raises ValueError for a score outside [0, 1]."""
    known = [score for score in scores if score is not None]
    if not scores or not all(0.0 <= score <= 1.0 for score in known):
        raise ValueError(f"a step has at least one score, each between 0 and 1 or missing, not {scores}")
    total = math.fsum(known)
    return total / len(scores), (total + len(scores) - len(known)) / len(scores)


def log_of_mixture(weights: Sequence[float], logs: Sequence[float]) -> float:
    """Log of Σ weight · exp(log), without overflow."""
    highest = max(logs)
    return highest + math.log(math.fsum(w * math.exp(log - highest) for w, log in zip(weights, logs, strict=True)))


def e_value_of(log_e_value: float) -> float:
    """The e-value itself; beyond the range of a float the largest float, which JSON can hold and infinity can't."""
    return math.exp(log_e_value) if log_e_value < _LARGEST_LOG else sys.float_info.max


def require_threshold(threshold: float) -> None:
    """Raises ValueError for a threshold outside (0, 1)."""
    if not 0.0 < threshold < 1.0:
        raise ValueError(f"a threshold of a sequential test lies between 0 and 1, both excluded, not {threshold}")


def require_alpha(alpha: float) -> None:
    """Raises ValueError for an `alpha` outside (0, 1)."""
    if not 0.0 < alpha < 1.0:
        raise ValueError(f"alpha lies between 0 and 1, both excluded, not {alpha}")


# The bets that the sequential tests make. They are fixed: choosing them by the data would cost their validity.
#
# Against a threshold θ, staking the fraction f on "above" multiplies the wealth by 1 + f (x − θ) / θ. That is 1 + λ (x
# − θ) with λ = (p − θ) / (θ (1 − θ)) and p = θ + f (1 − θ): on 0/1 scores the likelihood ratio of a true score p to θ.
# A stake is thus the place of the score it bets on, as a fraction of the way from θ to 1 — for θ = 0.8 these are .85,
# .90, .95 and .985. Likewise "below" bets on p = θ − f θ, a fraction of the way from θ to 0.
#
# The stakes were chosen on simulated laws for at most 160 samples.

ABOVE = Bets(stakes=(0.25, 0.5, 0.75, 0.925), weights=(0.15, 0.25, 0.3, 0.3))
"""For "the mean is at most θ". Most of it is on high scores: a perfect model passes 0.8 at 95% with 20 samples."""

BELOW = Bets(stakes=(0.15, 0.35, 0.6, 0.9), weights=(0.3, 0.3, 0.25, 0.15))
"""For "the mean is at least θ". Most of it is near the threshold: any bet sees a cliff soon, and a slope takes
low stakes. The mirror image of `ABOVE` shows .7 to be below .8 within 160 samples in 39% of runs, these in 62%."""

SHARE_ABOVE = Bets(stakes=(0.25, 0.5, 0.75, 0.925), weights=(0.25, 0.25, 0.25, 0.25))
"""For "the mean is at most a share of the baseline's". A pair of scores varies more than one score does, which calls
for lower stakes than a fixed threshold."""

SHARE_BELOW = Bets(stakes=(0.25, 0.5, 0.75, 0.925), weights=(0.25, 0.25, 0.25, 0.25))
"""For "the mean is at least a share of the baseline's"."""
