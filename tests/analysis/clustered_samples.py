"""Scored samples that share texts, carry metadata or name controls."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from contextcliff.records.generation import ScoredSample
from contextcliff.statistics.clusters import Cluster
from tests.analysis.analysis_samples import right_of, scored_sample


def of(cluster: str, samples: Sequence[ScoredSample]) -> list[ScoredSample]:
    """The same samples, all of one shared text; the document is called like it."""
    return [replace(s, sample=replace(s.sample, cluster=cluster, document_id=cluster or "x")) for s in samples]


def texts(length: int, *results: tuple[int, ...]) -> list[ScoredSample]:
    """Samples of one length: `(right, scored)` or `(right, scored, unscored)` for each shared text."""
    return [item for i, counts in enumerate(results) for item in right_of(length, *counts, text=f"text-{i}")]


def having(samples: Sequence[ScoredSample], **metadata: str | int | float) -> list[ScoredSample]:
    """The same samples with this metadata beside what they have."""
    return [replace(s, sample=replace(s.sample, metadata={**s.sample.metadata, **metadata})) for s in samples]


def controlled(samples: Sequence[ScoredSample], *controls: str) -> list[ScoredSample]:
    """The same samples, naming these controls."""
    return [replace(s, sample=replace(s.sample, controls=controls)) for s in samples]


def control(name: str, kind: str, score: float | None) -> ScoredSample:
    """A control sample."""
    found = scored_sample(100, score)
    return replace(found, sample=replace(found.sample, sample_id=name, control=kind))


def clusters(*results: tuple[float, int]) -> tuple[Cluster, ...]:
    """Clusters of `(sum of the scores, scored samples)`."""
    return tuple(Cluster(total=float(total), scored=n) for total, n in results)


def without_clusters(samples: Sequence[ScoredSample]) -> list[ScoredSample]:
    """The same samples as though they shared nothing."""
    return [replace(s, sample=replace(s.sample, cluster="")) for s in samples]
