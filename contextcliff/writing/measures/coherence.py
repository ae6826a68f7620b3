"""Coherence of a text, from the embeddings of its sentences."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Vectors = NDArray[np.float64]
"""Sentence embeddings of one text: shape (sentences, dimensions)."""


def coherence(vectors: Vectors) -> dict[str, float]:
    """Cosines between sentences, each between -1 and 1. Measures that need more sentences than there are are absent.

    `adjacent_coherence`: mean of neighbours (2 sentences); `coherence_variance`: their sample variance (3);
    `global_coherence`: mean to the centroid of all (2); `local_coherence_3sent`: mean over all pairs in every window of
    three sentences (3). Nothing is measured if a sentence has a vector that is zero or not finite: it has no direction.
    """
    units = _units(vectors)
    if units is None or len(units) < 2:
        return {}
    adjacent = (units[:-1] * units[1:]).sum(axis=1)
    measures = {"adjacent_coherence": float(adjacent.mean())}
    centroid = _units(np.asarray(vectors, dtype=np.float64).mean(axis=0, keepdims=True))
    if centroid is not None:
        measures["global_coherence"] = float((units @ centroid[0]).mean())
    if len(units) >= 3:
        across = (units[:-2] * units[2:]).sum(axis=1)
        measures["local_coherence_3sent"] = float(((adjacent[:-1] + adjacent[1:] + across) / 3).mean())
        measures["coherence_variance"] = float(adjacent.var(ddof=1))
    return measures


def reference_similarity(vectors: Vectors, reference: Vectors) -> float | None:
    """Cosine of two texts' mean sentence vectors. None where a text has no sentence, or a mean has no direction."""
    if not len(vectors) or not len(reference):
        return None
    means = [_units(np.asarray(rows, dtype=np.float64).mean(axis=0, keepdims=True)) for rows in (vectors, reference)]
    if means[0] is None or means[1] is None:
        return None
    return float(means[0][0] @ means[1][0])


def _units(vectors: Vectors) -> Vectors | None:
    """The rows scaled to length 1, shape (sentences, dimensions); None where a row is zero or not finite."""
    rows = np.asarray(vectors, dtype=np.float64)
    if rows.ndim != 2 or not len(rows) or not np.isfinite(rows).all():
        return None
    # Divided by the largest component first: the square of a tiny one underflows.
    largest = np.abs(rows).max(axis=1, keepdims=True)
    if not largest.all():
        return None
    rows = rows / largest
    units: Vectors = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    return units
