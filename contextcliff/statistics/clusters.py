"""Samples that share a text: how many independent ones they are worth.

Questions about one haystack or one packed context are right and wrong together, so that twenty answers from
four texts say less than twenty from twenty. How much less is the design effect: the variance of the mean
between texts, over what it would be were the samples independent. E. L. Korn and B. I. Graubard, "Confidence
intervals for proportions with small expected number of positive counts estimated from survey data", Survey
Methodology 24 (1998) 193-201, divide the sample size by it, correct it for the few clusters it is estimated
from by quantiles of Student's t, and give that effective size and as many effective successes to the exact
bound of Clopper and Pearson.

Where few answers are wrong, the texts have next to no variance to show, and the method is then too sure: with
16 texts of 5 samples and an intra-class correlation of 0.3 its 95% bound is above the true score in up to 12%
of runs. So a correlation of `ASSUMED_CORRELATION` at least is always allowed for, also where all are right.
`tests/analysis/test_cluster_simulations.py` has the figures. A score between 0 and 1 is treated as 0/1 scores with
the same mean, which spread more.
"""

from __future__ import annotations

import bisect
import math
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache

from scipy import stats

from contextcliff.analysis.items import Item

ASSUMED_CORRELATION = 0.15
"""Intra-class correlation that is allowed for whatever is observed: the least (in steps of 0.05) that keeps the
error of a one-sided 95% bound at 5% up to a true correlation of 0.3, over 4 to 24 texts of 2 to 10 samples."""

_ROUNDING = 1e-12


@dataclass(frozen=True, kw_only=True, slots=True)
class Cluster:
    """The samples of one length that share a text; one that shares none is a cluster of itself."""

    total: float
    """Sum of the scores."""
    scored: int
    unscored: int = 0


@dataclass(frozen=True, kw_only=True, slots=True)
class Effective:
    """As many independent 0/1 scores, in fractions of one: `right` of `n`."""

    right: float
    n: float


def clusters_of(items: Iterable[Item], *, unscored_as: float | None = None) -> tuple[Cluster, ...]:
    """The clusters of the items of one length, smallest first; none where the samples are independent.

    They are clustered where they name at least two shared texts, and one of those has more than one scored
    sample. Where all share a single text there is no variance between texts to be seen, and the claim is
    about that text. `unscored_as`: as if every sample without a score had scored so.
    """
    named: defaultdict[str, list[Item]] = defaultdict(list)
    alone: list[list[Item]] = []
    for item in items:
        if item.cluster:
            named[item.cluster].append(item)
        else:
            alone.append([item])
    if not are_clustered([[item.score for item in group] for group in named.values()]):
        return ()
    found = (
        _cluster([item.score if unscored_as is None else item.score_if(unscored_as) for item in group])
        for group in (*named.values(), *alone)
    )
    return tuple(sorted(found, key=lambda c: (c.scored, c.unscored, c.total)))


def are_clustered(named: Iterable[Sequence[float | None]]) -> bool:
    """Whether scores, a list for each shared text, are to be treated as clusters."""
    scored = [sum(score is not None for score in scores) for scores in named]
    return len(scored) >= 2 and max(scored) > 1


def _cluster(scores: list[float | None]) -> Cluster:
    found = [score for score in scores if score is not None]
    return Cluster(total=math.fsum(found), scored=len(found), unscored=len(scores) - len(found))


def mean_of_clusters(clusters: tuple[Cluster, ...]) -> float:
    """The mean of all scores; rounding never takes it out of [0, 1]."""
    mean = math.fsum(c.total for c in clusters) / sum(c.scored for c in clusters)
    return min(1.0, max(0.0, mean))


def variance_of_mean(clusters: tuple[Cluster, ...]) -> float:
    """Variance of the mean as the differences between at least two clusters show it (the ratio estimator)."""
    n, k, mean = sum(c.scored for c in clusters), len(clusters), mean_of_clusters(clusters)
    return k / (k - 1) * math.fsum((c.total - mean * c.scored) ** 2 for c in clusters) / n**2


def assumed_design_effect(clusters: tuple[Cluster, ...]) -> float:
    """The design effect of `ASSUMED_CORRELATION`, by the clusters' sizes: 1 + ρ (Σm² / Σm − 1)."""
    n = sum(c.scored for c in clusters)
    return 1.0 + ASSUMED_CORRELATION * (sum(c.scored**2 for c in clusters) / n - 1.0)


@lru_cache(maxsize=4096)
def design_effect_of(clusters: tuple[Cluster, ...]) -> float:
    """How many times the samples are needed as of independent ones; never below what is assumed."""
    mean, assumed = mean_of_clusters(clusters), assumed_design_effect(clusters)
    spread = mean * (1.0 - mean)
    if spread < _ROUNDING:
        return assumed
    return max(assumed, variance_of_mean(clusters) * sum(c.scored for c in clusters) / spread)


@lru_cache(maxsize=4096)
def effective(clusters: tuple[Cluster, ...], confidence: float) -> Effective:
    """What at least two clusters without unscored samples are worth for a one-sided bound at `confidence`.

    Never more than the samples that there are: the design effect is at least 1, and so is the correction.
    """
    size = _effective_size(sum(c.scored for c in clusters), len(clusters), design_effect_of(clusters), confidence)
    return Effective(right=mean_of_clusters(clusters) * size, n=size)


def _effective_size(n: int, k: int, design_effect: float, confidence: float) -> float:
    return n / design_effect * (_t(confidence, n - 1) / _t(confidence, k - 1)) ** 2


def samples_worth(needed: int, clusters: tuple[Cluster, ...], confidence: float, *, most: int) -> int | None:
    """Samples, in more clusters as large and as different as these, that are worth `needed` independent ones.

    None above `most`.
    """
    size, design_effect = sum(c.scored for c in clusters) / len(clusters), design_effect_of(clusters)

    def suffice(k: int) -> bool:
        return _effective_size(max(k, round(k * size)), k, design_effect, confidence) >= needed

    counts = range(2, max(2, math.ceil(most / size)) + 1)
    at = bisect.bisect_left(counts, True, key=suffice)
    return None if at == len(counts) or round(counts[at] * size) > most else round(counts[at] * size)


@lru_cache(maxsize=4096)
def _t(confidence: float, df: int) -> float:
    return float(stats.t.ppf(confidence, df))
