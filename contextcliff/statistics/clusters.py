"""Means of samples that share texts: bounds, intervals and draws of the mean."""

from __future__ import annotations

import bisect
import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from contextcliff.statistics import intervals, melding
from contextcliff.statistics.descriptive import mean_of
from contextcliff.statistics.intervals import is_binary, normal_above, normal_quantile, t_quantile

# The scores of one length as evidence: independent, or clustered by shared texts; and what clustered ones are worth.
#
# Questions about one haystack or one packed context are right and wrong together, so that twenty answers from four
# texts show less than twenty from twenty. The design effect says how much less: it is the variance of the mean between
# texts, over the variance that independent samples would have. E. L. Korn and B. I. Graubard, "Confidence intervals for
# proportions with small expected number of positive counts estimated from survey data", Survey Methodology 24 (1998)
# 193-201, divide the sample size by it, correct the result for the small number of clusters with quantiles of Student's
# t, and give this effective size and as many effective successes to the exact bound of Clopper and Pearson. So do the
# tests here; shown intervals take Wilson's, which has the best coverage of the two-sided ones: between 0.95 and 1 at a
# nominal 0.95, for 4 to 16 texts of 5 to 10 samples and correlations from 0 to 0.3. Independent scores are passed to
# `intervals.py` and `melding.py` unchanged.
#
# Where few answers are wrong, the texts show hardly any variance, and the bound is then too high: with 16 texts of 5
# samples and an intra-class correlation of 0.3 the 95% bound is above the true score in up to 12% of runs. So a
# correlation of at least `ASSUMED_CORRELATION` is always allowed for, also where all answers are right. A score between
# 0 and 1 is treated as 0/1 scores with the same mean, which vary more. Own code: neither scipy nor statsmodels has this
# interval.
#
# Texts that are right or wrong as a whole show no variance at all where every one happens to be right: eight texts at
# 0.8 do so in 17% of runs. So few texts have to show it by their mean scores too, which are independent, with Gaffke's
# bound. It is α^(1/k) where all of k texts are right, and no valid test shows more by these.
# `tests/analysis/test_cluster_simulations.py` and `benchmarks/clusters_simulated.py` have the figures.

ASSUMED_CORRELATION = 0.15
"""Intra-class correlation that is always allowed for: the smallest, in steps of 0.05, that keeps the error of a
one-sided 95% bound at 5% up to a true correlation of 0.3, for 4 to 24 texts of 2 to 10 samples."""
FEW = 1.42
"""So many times the clusters that could show a score if all were right (14 for 0.8 at 95%) tell how they differ: fewer
(than 20) have to show it by their means too. By effective counts the fewest err in up to 7%, a quarter more in 5%."""

_ROUNDING = 1e-12


@dataclass(frozen=True, kw_only=True, slots=True)
class Cluster:
    """The samples of one length that share a text. A sample that shares none is a cluster of its own."""

    total: float
    """Sum of the scores."""
    scored: int
    unscored: int = 0


def are_clustered(shared: Iterable[Sequence[float | None]]) -> bool:
    """Whether scores, one sequence for each shared text, are treated as clusters; None is a sample without a score.

    They are where there are at least two shared texts and one of them has more than one scored sample. Where all
    samples share a single text no variance between texts can be estimated, and the claim is about that text.
    """
    scored = [sum(score is not None for score in scores) for scores in shared]
    return len(scored) >= 2 and max(scored) > 1


def clusters_from(groups: Iterable[Sequence[float | None]]) -> tuple[Cluster, ...]:
    """A cluster of each group of scores, in an order that does not depend on that of the groups."""
    return tuple(sorted(map(_cluster, groups), key=lambda c: (c.scored, c.unscored, c.total)))


def _cluster(scores: Sequence[float | None]) -> Cluster:
    known = [score for score in scores if score is not None]
    return Cluster(total=math.fsum(known), scored=len(known), unscored=len(scores) - len(known))


def mean_of_clusters(clusters: tuple[Cluster, ...]) -> float:
    """The mean of all scores; rounding never takes it out of [0, 1]."""
    mean = math.fsum(c.total for c in clusters) / sum(c.scored for c in clusters)
    return min(1.0, max(0.0, mean))


def variance_of_mean(clusters: tuple[Cluster, ...]) -> float:
    """Variance of the mean, estimated from the differences between at least two clusters (the ratio estimator)."""
    n, k, mean = sum(c.scored for c in clusters), len(clusters), mean_of_clusters(clusters)
    return k / (k - 1) * math.fsum((c.total - mean * c.scored) ** 2 for c in clusters) / n**2


def assumed_design_effect(clusters: tuple[Cluster, ...]) -> float:
    """The design effect of `ASSUMED_CORRELATION`, by the clusters' sizes: 1 + ρ (Σm² / Σm − 1)."""
    n = sum(c.scored for c in clusters)
    return 1.0 + ASSUMED_CORRELATION * (sum(c.scored**2 for c in clusters) / n - 1.0)


@lru_cache(maxsize=4096)
def design_effect_of(clusters: tuple[Cluster, ...]) -> float:
    """How many samples of these clusters are worth one independent sample; never below the assumed design effect."""
    mean, assumed = mean_of_clusters(clusters), assumed_design_effect(clusters)
    spread = mean * (1.0 - mean)
    if spread < _ROUNDING:
        return assumed
    return max(assumed, variance_of_mean(clusters) * sum(c.scored for c in clusters) / spread)


def pooled_design_effect(lengths: Iterable[tuple[Cluster, ...]]) -> float:
    """One design effect for several lengths: at least 1, and 1 where no length is clustered.

    `lengths` are the clusters of each length, an empty tuple where its samples are independent. The result is the
    variance between texts over the independent one, each summed over the clustered lengths (the dispersion of a
    quasi-likelihood fit: P. McCullagh and J. A. Nelder, "Generalized Linear Models", 1989, chapter 4), and never
    below the design effect of `ASSUMED_CORRELATION`.
    """
    clustered = [clusters for clusters in lengths if clusters]
    if not clustered:
        return 1.0
    sizes = [sum(cluster.scored for cluster in clusters) for clusters in clustered]
    means = [mean_of_clusters(clusters) for clusters in clustered]
    assumed = math.fsum(n * assumed_design_effect(c) for n, c in zip(sizes, clustered, strict=True)) / sum(sizes)
    independent = math.fsum(n * mean * (1.0 - mean) for n, mean in zip(sizes, means, strict=True))
    between = math.fsum(n**2 * variance_of_mean(c) for n, c in zip(sizes, clustered, strict=True))
    # Where nearly all answers are right or nearly all wrong, there is no variance to compare.
    return max(1.0, assumed, between / independent if independent > 1e-9 else assumed)


@lru_cache(maxsize=4096)
def effective_sample(clusters: tuple[Cluster, ...], confidence: float) -> tuple[float, float]:
    """As how many independent 0/1 scores, right and in all, at least two clusters count for a one-sided bound.

    The clusters are without unscored samples; both numbers can be fractions.
    """
    size = _effective_size(sum(c.scored for c in clusters), len(clusters), design_effect_of(clusters), confidence)
    return mean_of_clusters(clusters) * size, size


def _effective_size(n: int, k: int, design_effect: float, confidence: float) -> float:
    return n / design_effect * (t_quantile(confidence, n - 1) / t_quantile(confidence, k - 1)) ** 2


def samples_worth(needed: int, clusters: tuple[Cluster, ...], confidence: float, *, most: int) -> int | None:
    """Samples worth `needed` independent ones, in whole clusters as large and different as these; None above `most`."""
    size, design_effect = sum(c.scored for c in clusters) / len(clusters), design_effect_of(clusters)

    def suffice(k: int) -> bool:
        return _effective_size(max(k, round(k * size)), k, design_effect, confidence) >= needed

    counts = range(2, max(2, math.ceil(most / size)) + 1)
    at = bisect.bisect_left(counts, True, key=suffice)
    return None if at == len(counts) or round(counts[at] * size) > most else round(counts[at] * size)


@dataclass(frozen=True, kw_only=True, slots=True)
class Evidence:
    """Scores in ascending order, and the clusters that they come in; no clusters where they are independent."""

    scores: tuple[float, ...]
    binary: bool
    clusters: tuple[Cluster, ...] = ()

    @property
    def means(self) -> tuple[float, ...]:
        """Independent scores in ascending order: those of clusters are their means."""
        means = (min(1.0, max(0.0, each.total / each.scored)) for each in self.clusters)
        return tuple(sorted(means)) or self.scores

    def lower(self, confidence: float) -> float:
        """One-sided lower bound at `confidence` of the mean."""
        if not self.clusters:
            return intervals.lower_bound(self.scores, confidence)
        bound = intervals.clopper_pearson_low(*self.effective_sample(confidence), confidence)
        return _held_by(self.means, bound, confidence)

    def upper(self, confidence: float) -> float:
        """One-sided upper bound at `confidence` of the mean."""
        if not self.clusters:
            return intervals.upper_bound(self.scores, confidence)
        right, n = self.effective_sample(confidence)
        bound = intervals.clopper_pearson_low(n - right, n, confidence)
        return 1.0 - _held_by(mirrored(self.means), bound, confidence)

    def shown(self, confidence: float) -> tuple[float, float]:
        """The two-sided interval at `confidence` that is shown beside the mean."""
        if not self.clusters:
            return intervals.shown_interval(self.scores, confidence, binary=self.binary)
        means, each_side = self.means, 0.5 * (1.0 + confidence)
        _, n = self.effective_sample(each_side)
        low, high = intervals.wilson_of_share(mean_of_clusters(self.clusters), n, confidence)
        return _held_by(means, low, each_side), 1.0 - _held_by(mirrored(means), 1.0 - high, each_side)

    def effective_sample(self, confidence: float) -> tuple[float, float]:
        """The effective number of 0/1 scores, right and in all, for a one-sided statement at `confidence`."""
        if not self.clusters:
            return math.fsum(self.scores), len(self.scores)
        return effective_sample(self.clusters, confidence)


def mirrored(scores: tuple[float, ...]) -> tuple[float, ...]:
    """One less each score, ascending, rounded so that equal ones stay equal."""
    return tuple(round(1.0 - score, 10) for score in reversed(scores))


def _held_by(means: tuple[float, ...], bound: float, confidence: float) -> float:
    """The bound by effective counts, as far as these means show it too or are not few for it."""
    enough = math.pow(1.0 - confidence, FEW / len(means))
    return bound if bound <= enough else min(bound, max(enough, intervals.lower_bound(means, confidence)))


def p_at_most_share(here: Evidence, baseline: Evidence, share: float, confidence: float) -> float:
    """One-sided p-value of "the mean `here` is at most `share` × the baseline's".

    Compare it with 1 − `confidence`: the effective counts of clustered scores depend on the confidence.
    """
    tests = melding.p_at_most_share, melding.binary_p_at_most_share
    return _p_value(*tests, here, baseline, share, share * mean_of(baseline.means), confidence)


def p_at_least_share(here: Evidence, baseline: Evidence, share: float, confidence: float) -> float:
    """One-sided p-value of "the mean `here` is at least `share` × the baseline's"; compare it as above."""
    tests = melding.p_at_least_share, melding.binary_p_at_least_share
    return _p_value(*tests, here, baseline, share, 1.0 - share * mean_of(baseline.means), confidence)


def _p_value(
    test: Callable[..., float], test_of_counts: Callable[..., float],
    here: Evidence, baseline: Evidence, share: float, limit: float, confidence: float,
) -> float:  # fmt: skip
    """Clusters show it by effective counts, and by their means too where they are few for the `limit`."""
    p_value, enough, means, base_means = 0.0, 1.0, here.means, baseline.means
    if clusters := [len(each.clusters) for each in (here, baseline) if each.clusters]:
        counts = (*here.effective_sample(confidence), *baseline.effective_sample(confidence))
        p_value, enough = test_of_counts(*counts, share), math.pow(limit, min(clusters) / FEW)
    if p_value >= enough:
        return p_value
    return max(p_value, min(enough, test(means, base_means, share, binary=is_binary((*means, *base_means)))))


# Draws of the mean scores of several lengths, as far as the samples leave them open: a Bayesian bootstrap.
#
# Every unit (a sample, or a text with all its samples at all lengths) has a random weight with the mean 1, and a draw
# has the weighted mean of each length. Each length also has a pseudo-sample that is half right and half wrong, with
# weights from Gamma(½): for independent 0/1 scores a mean is then drawn from Jeffreys' posterior, Beta(right + ½, wrong
# + ½). Without it a length at which all are right would have no spread at all. Where samples share texts the
# pseudo-sample counts as many samples as the design effect says, and the weights of texts vary by as much more than 1
# as Student's t for so few texts is wider than the normal distribution.
#
# Sources: D. B. Rubin, "The Bayesian bootstrap", Annals of Statistics 9 (1981) 130-134; L. D. Brown, T. T. Cai and A.
# DasGupta, "Interval estimation for a binomial proportion", Statistical Science 16 (2001) 101-133. Own code: scipy
# resamples one sample of independent values.

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
