"""The evidence of samples of several lengths taken together, where their mean over all lengths is reported."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence

from contextcliff.analysis.bins import mean_of
from contextcliff.analysis.items import Item, items_of
from contextcliff.records.generation import ScoredSample
from contextcliff.statistics.clusters import Cluster, are_clustered
from contextcliff.statistics.evidence import Evidence


def pooled(lengths: Sequence[Sequence[ScoredSample]], *, binary: bool) -> Evidence | None:
    """All scored samples of these lengths; None where nothing was scored.

    A text that recurs at several lengths is one cluster, and as at a single length, a length at which all share
    one text has none. The lengths are the same in every run, so what they differ by is no variance: a score
    counts for its cluster by how far it is from the mean of its length (the stratified variance of W. G. Cochran,
    "Sampling Techniques", 3rd ed. 1977, chapter 5).
    """
    scored = [[item for item in items_of(samples) if item.score is not None] for samples in lengths]
    scores = tuple(sorted(item.score for samples in scored for item in samples if item.score is not None))
    if not scores:
        return None
    return Evidence(scores=scores, binary=binary, clusters=_clusters(scored, mean_of(scores)))


def _clusters(lengths: Sequence[Sequence[Item]], overall: float) -> tuple[Cluster, ...]:
    """Clusters over all lengths, the scores of each length moved to the overall mean; none where independent."""
    named: defaultdict[str, list[float]] = defaultdict(list)
    alone: list[list[float]] = []
    for samples in lengths:
        scores = [item.score for item in samples if item.score is not None]
        several = len({item.cluster for item in samples} - {""}) > 1
        for item, score in zip(samples, scores, strict=True):
            moved = score + overall - mean_of(scores)
            if several and item.cluster:
                named[item.cluster].append(moved)
            else:
                alone.append([moved])
    if not are_clustered(named.values()):
        return ()
    found = (Cluster(total=math.fsum(moved), scored=len(moved)) for moved in (*named.values(), *alone))
    return tuple(sorted(found, key=lambda cluster: (cluster.scored, cluster.total)))
