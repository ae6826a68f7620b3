"""How a text's sentences hang together, by their embeddings (one row a sentence)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Vectors = NDArray[np.float64]


def coherence(vectors: Vectors) -> dict[str, float]:
    """Cosines between sentences, each between -1 and 1. Without a measure that needs more sentences than there are.

    `adjacent_coherence`: mean of neighbours (2 sentences); `coherence_variance`: their sample variance (3);
    `global_coherence`: mean to the centroid of all (2); `local_coherence_3sent`: mean over all pairs in every window of
    three sentences (3). A sentence whose vector is zero or not finite has no direction: then nothing is measured.
    """
    units = _units(vectors)
    if units is None or len(units) < 2:
        return {}
    adjacent = (units[:-1] * units[1:]).sum(axis=1)
    found = {"adjacent_coherence": float(adjacent.mean())}
    centroid = _units(np.asarray(vectors, dtype=np.float64).mean(axis=0, keepdims=True))
    if centroid is not None:
        found["global_coherence"] = float((units @ centroid[0]).mean())
    if len(units) >= 3:
        across = (units[:-2] * units[2:]).sum(axis=1)
        found["local_coherence_3sent"] = float(((adjacent[:-1] + adjacent[1:] + across) / 3).mean())
        found["coherence_variance"] = float(adjacent.var(ddof=1))
    return found


def reference_similarity(vectors: Vectors, reference: Vectors) -> float | None:
    """Cosine of two texts' mean sentence vectors. None where either has no sentence or no direction."""
    if not len(vectors) or not len(reference):
        return None
    means = [_units(np.asarray(rows, dtype=np.float64).mean(axis=0, keepdims=True)) for rows in (vectors, reference)]
    if means[0] is None or means[1] is None:
        return None
    return float(means[0][0] @ means[1][0])


def _units(vectors: Vectors) -> Vectors | None:
    """Rows of length 1; None where one has none."""
    rows = np.asarray(vectors, dtype=np.float64)
    if rows.ndim != 2 or not len(rows) or not np.isfinite(rows).all():
        return None
    # By the largest component first: the square of a tiny one underflows.
    largest = np.abs(rows).max(axis=1, keepdims=True)
    if not largest.all():
        return None
    rows = rows / largest
    units: Vectors = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    return units
