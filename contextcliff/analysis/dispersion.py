"""One design effect for a whole run, for what is fitted over all lengths."""

from __future__ import annotations

import math
from collections.abc import Sequence

from contextcliff.analysis.bins import LengthResult
from contextcliff.statistics.clusters import assumed_design_effect, mean_of_clusters, variance_of_mean


def design_effect(results: Sequence[LengthResult]) -> float:
    """How much larger the variance of a score is for shared texts; at least 1, and 1 where none are shared.

    The variance between texts over the independent one, each summed over the lengths whose samples are clustered
    (the dispersion of a quasi-likelihood fit: P. McCullagh and J. A. Nelder, "Generalized Linear Models", 1989,
    chapter 4), and never below the correlation that is always allowed for (`clusters.ASSUMED_CORRELATION`).
    """
    found = [result.evidence.clusters for result in results if result.evidence.clusters]
    if not found:
        return 1.0
    sizes = [sum(cluster.scored for cluster in clusters) for clusters in found]
    means = [mean_of_clusters(clusters) for clusters in found]
    assumed = math.fsum(n * assumed_design_effect(c) for n, c in zip(sizes, found, strict=True)) / sum(sizes)
    independent = math.fsum(n * mean * (1.0 - mean) for n, mean in zip(sizes, means, strict=True))
    between = math.fsum(n**2 * variance_of_mean(c) for n, c in zip(sizes, found, strict=True))
    # Where nearly all are right or nearly all wrong, there is no variance to compare.
    return max(1.0, assumed, between / independent if independent > 1e-9 else assumed)
