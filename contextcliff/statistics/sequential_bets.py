"""The bets that the sequential tests make. They are fixed: choosing them by the data would cost their validity.

Against a threshold θ, staking the fraction f on "above" multiplies the wealth by 1 + f (x − θ) / θ. That is
1 + λ (x − θ) with λ = (p − θ) / (θ (1 − θ)) and p = θ + f (1 − θ): on 0/1 scores the likelihood ratio of a true score p
to θ. A stake is thus the place of the score it bets on, as a fraction of the way from θ to 1 — for θ = 0.8 these are
.85, .90, .95 and .985. Likewise "below" bets on p = θ − f θ, a fraction of the way from θ to 0.

The stakes were chosen on simulated laws for blocks of 10 and at most 160 samples. The figures are in
`tests/statistics/test_sequential_power.py` and `tests/statistics/test_sequential_simulations.py`.
"""

from __future__ import annotations

from contextcliff.statistics.betting import Bets

ABOVE = Bets(stakes=(0.25, 0.5, 0.75, 0.925), weights=(0.15, 0.25, 0.3, 0.3))
"""For "the mean is at most θ". Most of it is on high scores: a perfect model passes 0.8 at 95% with 20 samples."""

BELOW = Bets(stakes=(0.15, 0.35, 0.6, 0.9), weights=(0.3, 0.3, 0.25, 0.15))
"""For "the mean is at least θ". Most of it is near the threshold: any bet sees a cliff in one block, and a slope takes
low stakes. The mirror image of `ABOVE` shows .7 to be below .8 within 160 samples in 39% of runs, these in 62%."""

SHARE_ABOVE = Bets(stakes=(0.25, 0.5, 0.75, 0.925), weights=(0.25, 0.25, 0.25, 0.25))
"""For "the mean is at most a share of the baseline's". A pair of scores varies more than one score does, which calls
for lower stakes than a fixed threshold."""

SHARE_BELOW = Bets(stakes=(0.25, 0.5, 0.75, 0.925), weights=(0.25, 0.25, 0.25, 0.25))
"""For "the mean is at least a share of the baseline's"."""
