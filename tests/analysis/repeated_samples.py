"""Scored samples of questions that are put several times."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from contextcliff.records.generation import ScoredSample
from tests.analysis.analysis_samples import scored_sample


def repeated(length: int, items: Sequence[Sequence[float | None]], *, a_document: int = 1) -> list[ScoredSample]:
    """The repeats of each question, `a_document` questions on each document."""
    found = []
    for number, repeats in enumerate(items):
        document = f"document-{length}-{number // a_document}"
        for repeat, score in enumerate(repeats):
            made = scored_sample(length, score, document=document)
            question = replace(made.sample, cluster=document, item=f"question-{number}", repeat=repeat)
            found.append(replace(made, sample=question))
    return found


def drawn_items(
    rng: np.random.Generator, rate: float, *, n: int, within: float, between: float = 0.0, a_document: int = 1
) -> list[list[float]]:
    """`n` questions, three repeats each, right at `rate`.

    `within` is the correlation of the repeats of a question, `between` that of the questions on one document.
    """
    documents = _varied(rng, np.full(-(-n // a_document), rate), between).repeat(a_document)[:n]
    chances = _varied(rng, documents, within)
    return [[float(rng.random() < chance) for _ in range(3)] for chance in chances]


def _varied(rng: np.random.Generator, rates: NDArray[np.float64], correlation: float) -> NDArray[np.float64]:
    """Chances that vary by a beta distribution round each rate, so that right answers correlate so much."""
    if correlation == 0.0:
        return rates
    if correlation == 1.0:
        return (rng.random(rates.size) < rates).astype(float)
    spread = 1.0 / correlation - 1.0
    inside = np.clip(rates, 1e-9, 1.0 - 1e-9)
    return np.asarray(rng.beta(inside * spread, (1.0 - inside) * spread))
