"""E-processes for a mean of scores in [0, 1]: a test that may look after every block and stop when it likes.

A bet multiplies its wealth by 1 + λ(x − θ) for each score x. While the mean of the scores is at most θ, no bet with
λ > 0 wins on average, so that its wealth reaches 1/α with a probability of at most α, however often one looks (Ville's
inequality). What is tested is the weighted wealth of several bets, each of them best for another true mean:
E = Σₖ wₖ Πᵢ (1 + λₖ(xᵢ − θ)) with λₖ = (pₖ − θ) / (θ(1 − θ)) (I. Waudby-Smith and A. Ramdas, "Estimating means of
bounded random variables by betting", JRSS B 86 (2024) 1-27).

Scores come in blocks. Inside a block λ is fixed and the scores are independent, so that the expected factor of the
block is Π(1 + λ(mᵢ − θ)) for means mᵢ, and at most 1 whenever these average at most θ, however unequal they are (the
inequality of arithmetic and geometric means). Three things break this: to look inside a block, to take answers in the
order in which they come, and scores of one text, which depend on each other. Samples that share a text have to be
passed as one score, their mean.

Own code: no maintained library has tests by betting for blocks and for a share of a baseline.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

_WEIGHTS = (0.15, 0.25, 0.30, 0.30)
_PLACES = (0.25, 0.5, 0.75, 0.925)
"""Where the true means for which the bets are best lie, as shares of the way from the threshold to 1 (or to 0)."""
_LEAST = 1e-4
_SHARES_OF_STAKE = (0.2, 0.4, 0.7, 0.92)
"""Of the largest bet that cannot lose everything, against a share of a baseline."""


@dataclass(frozen=True, kw_only=True, slots=True)
class EProcess:
    """The wealth of several bets after the blocks so far; `after` gives the next one."""

    bets: tuple[float, ...]
    """λ of each bet."""
    centre: float
    """What scores are compared with."""
    log_wealth: tuple[float, ...]

    @property
    def value(self) -> float:
        """The e-value: the weighted mean wealth."""
        highest = max(self.log_wealth)
        weighted = (w * math.exp(log - highest) for w, log in zip(_WEIGHTS, self.log_wealth, strict=True))
        log = highest + math.log(math.fsum(weighted))
        return math.exp(min(log, 700.0))

    def after(self, block: Sequence[float]) -> EProcess:
        """The process after one more block of scores, all of it."""
        gained = (math.fsum(math.log1p(bet * (score - self.centre)) for score in block) for bet in self.bets)
        log_wealth = tuple(before + gain for before, gain in zip(self.log_wealth, gained, strict=True))
        return replace(self, log_wealth=log_wealth)


def above(threshold: float) -> EProcess:
    """Against "the mean is at most the threshold". Raises `ValueError` for a threshold outside (0, 1)."""
    _require_inside(threshold)
    return _process([place / threshold for place in _PLACES], centre=threshold)


def below(threshold: float) -> EProcess:
    """Against "the mean is at least the threshold". Raises `ValueError` for a threshold outside (0, 1)."""
    _require_inside(threshold)
    return _process([-place / (1.0 - threshold) for place in _PLACES], centre=threshold)


def above_share(share: float) -> EProcess:
    """Against "the mean is at most `share` of the baseline's".

    Bets on x − share · b, where each score x is paired with another score b of the baseline, which comes in no other
    pair of this length. Raises `ValueError` for a share outside (0, 1].
    """
    _require_share(share)
    return _process([part / share for part in _SHARES_OF_STAKE], centre=0.0)


def below_share(share: float) -> EProcess:
    """Against "the mean is at least `share` of the baseline's", for the same differences."""
    _require_share(share)
    return _process([-part for part in _SHARES_OF_STAKE], centre=0.0)


def lower_bound(scores: Sequence[float], alpha: float) -> float:
    """The highest threshold that these scores pass at `alpha`, to within 1e-4; 0 where they pass none.

    A lower confidence bound of the mean, valid whenever one stops.
    """
    if above(_LEAST).after(scores).value < 1.0 / alpha:
        return 0.0
    low, high = _LEAST, 1.0 - _LEAST
    while high - low > _LEAST:
        middle = 0.5 * (low + high)
        low, high = (middle, high) if above(middle).after(scores).value >= 1.0 / alpha else (low, middle)
    return low


def _process(bets: Sequence[float], *, centre: float) -> EProcess:
    return EProcess(bets=tuple(bets), centre=centre, log_wealth=(0.0,) * len(bets))


def _require_inside(threshold: float) -> None:
    if not 0.0 < threshold < 1.0:
        raise ValueError(f"a threshold of {threshold:g} can't be tested: give one above 0 and below 1")


def _require_share(share: float) -> None:
    if not 0.0 < share <= 1.0:
        raise ValueError(f"a share of {share:g} can't be tested: give one above 0 and up to 1")
