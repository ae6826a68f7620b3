"""The evidence of items: one score each, and the clusters of those that share a text."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence

from contextcliff.analysis.items import Item, items_of
from contextcliff.records.generation import ScoredSample
from contextcliff.statistics.clusters import Cluster, are_clustered, clusters_from
from contextcliff.statistics.descriptive import mean_of
from contextcliff.statistics.evidence import Evidence


def scores_of(items: Iterable[Item]) -> tuple[float, ...]:
    """The score of each item that has one, ascending."""
    return tuple(sorted(item.score for item in items if item.score is not None))


def clusters_of(items: Iterable[Item], *, unscored_as: float | None = None) -> tuple[Cluster, ...]:
    """The clusters of the items of one length, smallest first; none where the items are independent.

    `statistics.clusters.are_clustered` decides. With `unscored_as` every sample without a score counts as this score.
    """
    shared: defaultdict[str, list[Item]] = defaultdict(list)
    alone: list[list[Item]] = []
    for item in items:
        if item.cluster:
            shared[item.cluster].append(item)
        else:
            alone.append([item])
    if not are_clustered([[item.score for item in group] for group in shared.values()]):
        return ()
    return clusters_from(
        [item.score if unscored_as is None else item.score_if(unscored_as) for item in group]
        for group in (*shared.values(), *alone)
    )


def evidence_of(items: Sequence[Item], *, binary: bool) -> Evidence:
    """The evidence of what was scored.

    It has no clusters where only one text has scores: no variance between texts can be estimated.
    """
    scored = tuple(Cluster(total=c.total, scored=c.scored) for c in clusters_of(items) if c.scored)
    return Evidence(scores=scores_of(items), binary=binary, clusters=scored if len(scored) >= 2 else ())


def completed_evidence(items: Sequence[Item], unscored_as: float, *, binary: bool) -> Evidence:
    """The evidence with `unscored_as` for every repeat without a score; one repeat of three is a third of its item."""
    scores = tuple(sorted(item.score_if(unscored_as) for item in items))
    return Evidence(scores=scores, binary=binary, clusters=clusters_of(items, unscored_as=unscored_as))


def pooled_evidence(lengths: Sequence[Sequence[ScoredSample]], *, binary: bool) -> Evidence | None:
    """The evidence of all scored samples of several lengths together; None where nothing was scored.

    A text that recurs at several lengths is one cluster. As at a single length, a length at which all samples share
    one text has no clusters. The lengths are the same in every run, so what they differ by is no variance: a score
    counts for its cluster by how far it is from the mean of its length (the stratified variance of W. G. Cochran,
    "Sampling Techniques", 3rd ed. 1977, chapter 5).
    """
    scored = [[item for item in items_of(samples) if item.score is not None] for samples in lengths]
    scores = scores_of(item for items in scored for item in items)
    if not scores:
        return None
    return Evidence(scores=scores, binary=binary, clusters=_pooled_clusters(scored, mean_of(scores)))


def _pooled_clusters(lengths: Sequence[Sequence[Item]], overall: float) -> tuple[Cluster, ...]:
    """Clusters over all lengths, the scores of each length moved to the overall mean; none where independent."""
    shared: defaultdict[str, list[float]] = defaultdict(list)
    alone: list[list[float]] = []
    for samples in lengths:
        scores = [item.score for item in samples if item.score is not None]
        several = len({item.cluster for item in samples} - {""}) > 1
        for item, score in zip(samples, scores, strict=True):
            moved = score + overall - mean_of(scores)
            if several and item.cluster:
                shared[item.cluster].append(moved)
            else:
                alone.append([moved])
    if not are_clustered(shared.values()):
        return ()
    return clusters_from((*shared.values(), *alone))
