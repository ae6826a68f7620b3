"""A permutation test of scores over depth.

Within a stratum, the samples of one length and one cluster, a model that does not mind the depth would have given the
same scores in any order. So scores are permuted within strata only, and neither decay over length nor a harder text
can look like a position effect.

Two contrasts are standardised by their permutation variance, a linear and a quadratic one that is made uncorrelated
with it. The larger one is the statistic, and its own permutation distribution gives one p-value for the whole
question (P. H. Westfall and S. S. Young, "Resampling-Based Multiple Testing", 1993). The p-value counts the observed
order among the permutations, so that it is never too small (B. Phipson and G. K. Smyth, Stat. Appl. Genet. Mol. Biol.
9 (2010) 39).
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

_PERMUTATIONS = 3_999
_SEED = 20_230_706
_CHUNK = 2_000_000
"""Scores that are permuted at once, so that memory stays flat."""
_TIE = 1e-9

_Array = NDArray[np.float64]
Stratum = tuple[_Array, _Array]
"""Depths and scores, each centred."""


def varying_strata(placed: Sequence[Sequence[tuple[float, float]]]) -> list[Stratum]:
    """The strata in which depth and score both vary: no other one tells anything."""
    strata = []
    for pairs in placed:
        depths, scores = np.array(pairs).T
        if depths.min() < depths.max() and scores.min() < scores.max():
            strata.append((depths - depths.mean(), scores - scores.mean()))
    return strata


def permutation_test(strata: Sequence[Stratum]) -> tuple[float, float, float]:
    """Standardised linear and quadratic contrast, and the p-value of the larger."""
    contrasts, spread = _contrasts(strata)
    observed = sum((scores @ c for (_, scores), c in zip(strata, contrasts, strict=True)), np.zeros(2))
    permuted = np.zeros((_PERMUTATIONS, 2))
    rng = np.random.default_rng(_SEED)
    for (_, scores), c in zip(strata, contrasts, strict=True):
        rows = max(1, _CHUNK // scores.size)
        for start in range(0, _PERMUTATIONS, rows):
            some = permuted[start : start + rows]
            some += rng.permuted(np.tile(scores, (len(some), 1)), axis=1) @ c
    linear, edges = observed / spread
    largest = np.maximum(np.abs(permuted[:, 0]) / spread[0], permuted[:, 1] / spread[1])
    as_large = int((largest >= max(abs(linear), edges) - _TIE).sum())
    return float(linear), float(edges), (1 + as_large) / (1 + _PERMUTATIONS)


def _contrasts(strata: Sequence[Stratum]) -> tuple[list[_Array], _Array]:
    """For each stratum the weights of its scores (linear, quadratic), and the standard deviations of the two sums.

    A permuted sum Σ c·y of centred c and y has the variance Σc²·Σy² / (n − 1); the quadratic weights lose what the
    linear ones explain of them, weighted likewise, so that the two sums are uncorrelated.
    """
    linear = [depths for depths, _ in strata]
    square = [depths**2 - np.mean(depths**2) for depths in linear]
    variances = [float(scores @ scores) / (scores.size - 1) for _, scores in strata]
    shared = math.fsum(v * float(d @ q) for v, d, q in zip(variances, linear, square, strict=True))
    slope = shared / math.fsum(v * float(d @ d) for v, d in zip(variances, linear, strict=True))
    contrasts = [np.column_stack([d, q - slope * d]) for d, q in zip(linear, square, strict=True)]
    spread = np.sqrt(sum((v * (c**2).sum(axis=0) for v, c in zip(variances, contrasts, strict=True)), np.zeros(2)))
    # Where no stratum has three depths the quadratic contrast is nothing but rounding, and is never the larger one.
    return contrasts, np.where(spread > _TIE * spread[0], spread, np.inf)
