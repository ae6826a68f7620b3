"""How much texts differ, and the mean over parts of unlike size."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from contextcliff.statistics.intervals import f_quantile

# How far samples of one text are right and wrong together: the share of the variance that lies between texts.
#
# The intra-class correlation by one-way analysis of variance with unequal sizes: (MSB − MSW) / (MSB + (m₀ − 1) MSW),
# with m₀ = (n − Σm² / n) / (k − 1) for k texts of m samples, n in all. The interval inverts the F test of the mean
# squares; with texts of unequal size, and with scores that are not normal, it is approximate. On simulated 0/1 scores
# (4 to 40 texts of 2 to 12 samples, beta law, nominal 95%) at a true score of .8 it covers in 94–98% of runs at a
# correlation up to .05, in 90–95% at .15 and in 87–93% at .3. Where nearly all answers are right it is too short: at a
# true score of .95 it covers in 73–97% at .15 and in 55–96% at .3, since the few texts that differ may not be among
# those used, and as many as 43% of runs of four texts have no estimate. A bootstrap over texts and a jackknife covered
# less in nearly all of these. Pooled over three lengths of eight texts of five samples it covers in 93–97% where the
# score is the same at each length, in 91–97% where it falls from .9 to .4, and in 96% or more where the texts recur.
# `tests/statistics/test_text_effect.py` has the law.
#
# Sources: S. R. Searle, G. Casella and C. E. McCulloch, "Variance Components" (1992), chapter 3; M. S. Ridout, C. G. B.
# Demétrio and D. Firth, "Estimating intraclass correlation for binary data", Biometrics 55 (1999) 137-148. Own code:
# neither scipy nor statsmodels has it.

_ROUNDING = 1e-12


@dataclass(frozen=True, kw_only=True, slots=True)
class TextEffect:
    """Intra-class correlation in [0, 1] with its two-sided interval; an estimate below 0 is given as 0.

    Where texts make no difference the estimate is therefore a little above 0 on average: .01–.04 in the simulations.
    """

    correlation: float
    low: float
    high: float
    texts: int
    samples: int
    size: float
    """Samples of a text at a length, on average: m₀."""

    @property
    def design_effect(self) -> float:
        """How many samples are worth one independent sample, by the estimate: 1 + (m₀ − 1) · correlation."""
        return 1.0 + (self.size - 1.0) * self.correlation


def text_effect(groups: Iterable[Sequence[float | None]], confidence: float) -> TextEffect | None:
    """The effect of the text, from the scores of each text at one length; None in a group is a sample without a score.

    None where there are fewer than two texts with a score, no text with two scores, or no difference between any two
    scores. Where texts differ and no text has two different scores, the correlation is 1 and the interval is [0, 1].
    """
    squares = _squares_of(groups)
    if squares is None:
        return None
    return _effect([squares], confidence, texts=squares.texts, free=squares.texts - 1)


def pooled_text_effect(lengths: Iterable[Mapping[str, Sequence[float]]], confidence: float) -> TextEffect | None:
    """One effect of the text over several lengths, at each of which the scores of each text are given by its name.

    The squares are summed over the lengths that have an estimate of their own: what lengths differ by is no effect of
    the text. `texts` counts names, each once. Where names recur, the sums of squares of the lengths depend on each
    other, and the interval counts each text once. None where no length has an estimate.
    """
    usable = [(length, squares) for length in lengths if (squares := _squares_of(length.values())) is not None]
    if not usable:
        return None
    names = {name for length, _ in usable for name, scores in length.items() if scores}
    summed = [squares for _, squares in usable]
    # A text each at a single length: as many free differences as the lengths have together.
    free = min(len(names) - 1, sum(squares.texts - 1 for squares in summed))
    return _effect(summed, confidence, texts=len(names), free=free)


@dataclass(frozen=True, kw_only=True, slots=True)
class _Squares:
    """Sums of squares of one length."""

    between: float
    within: float
    texts: int
    samples: int
    sizes: float
    """n − Σm² / n."""


def _squares_of(groups: Iterable[Sequence[float | None]]) -> _Squares | None:
    texts = [known for group in groups if (known := [score for score in group if score is not None])]
    k, n = len(texts), sum(map(len, texts))
    if k < 2 or n == k:
        return None
    mean = math.fsum(map(math.fsum, texts)) / n
    means = [math.fsum(text) / len(text) for text in texts]
    between = math.fsum(len(text) * (own - mean) ** 2 for text, own in zip(texts, means, strict=True))
    within = math.fsum((x - own) ** 2 for text, own in zip(texts, means, strict=True) for x in text)
    if between < _ROUNDING and within < _ROUNDING:
        return None
    return _Squares(
        between=between, within=within, texts=k, samples=n, sizes=n - sum(len(text) ** 2 for text in texts) / n
    )


def _effect(lengths: Sequence[_Squares], confidence: float, *, texts: int, free: int) -> TextEffect:
    """The effect from the sums of squares; `free` are the degrees of freedom between texts for the interval."""
    k, n = sum(each.texts - 1 for each in lengths), sum(each.samples for each in lengths)
    rest = sum(each.samples - each.texts for each in lengths)
    between = math.fsum(each.between for each in lengths) / k
    within = math.fsum(each.within for each in lengths) / rest
    size = math.fsum(each.sizes for each in lengths) / k
    if within < _ROUNDING:
        return TextEffect(correlation=1.0, low=0.0, high=1.0, texts=texts, samples=n, size=size)
    tail = 0.5 * (1.0 - confidence)
    ratio = between / within
    return TextEffect(
        correlation=_correlation(ratio, size),
        low=_correlation(ratio / f_quantile(1.0 - tail, free, rest), size),
        high=_correlation(ratio / f_quantile(tail, free, rest), size),
        texts=texts,
        samples=n,
        size=size,
    )


def _correlation(ratio: float, size: float) -> float:
    """The correlation at which the mean squares have this ratio, for texts of this mean size; at least 0."""
    return max(0.0, (ratio - 1.0) / (ratio + size - 1.0))


# The interval of a mean over parts that are fixed and estimated independently, from the interval of each.
#
# Half the width of a part's interval stands for its error, and independent errors add up as squares. Wilson's interval
# has a width also where every answer is right, where a sample's variance is 0. Each part's interval is put round its
# mean first: Wilson's leans toward a half, and leanings would add up faster than errors do. (Distances to each end that
# are added apart, as by G. Y. Zou and A. Donner, Statistics in Medicine 27 (2008) 1693-1702, leave a true mean above
# the interval in up to 11% of runs over thirteen tasks.) `tests/statistics/test_mean_of_parts.py` has what it covers.


class Estimate(NamedTuple):
    """A mean of scores from 0 to 1, with its interval."""

    mean: float
    low: float
    high: float


def mean_of_parts(parts: Sequence[Estimate]) -> Estimate:
    """The mean of at least one part, each counted alike, at the confidence of the parts' intervals.

    The parts are all there are: it tells nothing of others of their kind. One part keeps its own interval.
    """
    if len(parts) == 1:
        return parts[0]
    count = len(parts)
    mean = math.fsum(part.mean for part in parts) / count
    half = math.sqrt(math.fsum((0.5 * (part.high - part.low)) ** 2 for part in parts)) / count
    return Estimate(mean, max(0.0, mean - half), min(1.0, mean + half))
