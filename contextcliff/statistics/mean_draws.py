"""Draws of the mean scores of several lengths, as far as the samples leave them open: a Bayesian bootstrap.

Every unit (a sample, or a text with all its samples at all lengths) has a random weight with the mean 1, and a draw has
the weighted mean of each length. Each length also has a pseudo-sample that is half right and half wrong, with weights
from Gamma(½): for independent 0/1 scores a mean is then drawn from Jeffreys' posterior, Beta(right + ½, wrong + ½).
Without it a length at which all are right would have no spread at all. Where samples share texts the pseudo-sample
counts as many samples as the design effect says, and the weights of texts vary by as much more than 1 as Student's t
for so few texts is wider than the normal distribution.

Sources: D. B. Rubin, "The Bayesian bootstrap", Annals of Statistics 9 (1981) 130-134; L. D. Brown, T. T. Cai and A.
DasGupta, "Interval estimation for a binomial proportion", Statistical Science 16 (2001) 101-133. Own code: scipy
resamples one sample of independent values.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from contextcliff.statistics.clusters import Cluster
from contextcliff.statistics.distributions import normal_above, normal_quantile, t_quantile

_LEAST_SHAPE = 0.02
"""Three texts or two would call for less than 0: with this shape a draw is nearly always one text."""

_Array = NDArray[np.float64]


@dataclass(frozen=True, kw_only=True, slots=True)
class LengthScores:
    """The scores of one length: those of independent samples, and those of texts by the text's name.

    A text may have samples at several lengths, and has the same weight at all of them.
    """

    alone: tuple[float, ...] = ()
    shared: Mapping[str, Cluster] = field(default_factory=dict)
    design_effect: float = 1.0
    """How many samples are worth one independent sample."""

    @property
    def n(self) -> int:
        """Scored samples."""
        return len(self.alone) + sum(text.scored for text in self.shared.values())

    @property
    def total(self) -> float:
        """Sum of the scores."""
        return float(sum(self.alone)) + sum(text.total for text in self.shared.values())


def drawn_means(lengths: Sequence[LengthScores], *, draws: int, confidence: float, seed: int) -> _Array:
    """Draws of the means, of shape (draws, lengths); each length has at least one score.

    `confidence` is that of the two-sided interval for which the draws will be used: by it weights of few texts vary.
    The same scores give the same draws, whatever their order.
    """
    rng = np.random.default_rng(seed)
    shape = _shape_of_weights(lengths, confidence)
    names = sorted({name for length in lengths for name in length.shared})
    weights = {name: rng.gamma(shape, 1.0 / shape, draws) for name in names}
    means = np.empty((draws, len(lengths)))
    for place, length in enumerate(lengths):
        right = length.design_effect * rng.gamma(0.5, 1.0, draws)
        total = right + length.design_effect * rng.gamma(0.5, 1.0, draws)
        for score, count in sorted(Counter(length.alone).items()):
            weight = rng.gamma(float(count), 1.0, draws)
            right += score * weight
            total += weight
        for name in sorted(length.shared):
            text = length.shared[name]
            right += text.total * weights[name]
            total += text.scored * weights[name]
        means[:, place] = right / total
    return means


def expanded_tail(n: int, confidence: float) -> float:
    """Share of draws beyond each end of a two-sided percentile interval, from `n` samples: below (1 − confidence) / 2.

    A percentile interval is too short by a factor of √((n − 1) / n) · z / t for small n (T. C. Hesterberg, "What
    teachers should know about the bootstrap", The American Statistician 69 (2015) 371-386).
    """
    upper, degrees = 0.5 * (1.0 + confidence), max(1, n - 1)
    return normal_above(math.sqrt((degrees + 1) / degrees) * t_quantile(upper, degrees))


def _shape_of_weights(lengths: Sequence[LengthScores], confidence: float) -> float:
    """Shape of the gamma distribution of a text's weight.

    The weighted mean of k values has the variance σ² / (k · shape + 1), with σ² that of the values over k (a Dirichlet
    distribution's). It has to be σ² / (k − 1) times (t / z)²: below 1, and lower for fewer texts.
    """
    counts = [len(length.shared) + len(length.alone) for length in lengths if length.shared]
    fewest = min(counts, default=0)
    if fewest < 2:
        return 1.0
    upper = 0.5 * (1.0 + confidence)
    wider = t_quantile(upper, fewest - 1) / normal_quantile(upper)
    return max(_LEAST_SHAPE, ((fewest - 1) / wider**2 - 1.0) / fewest)
