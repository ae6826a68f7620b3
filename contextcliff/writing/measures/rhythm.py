"""Rhythm of a text: the lengths of its sentences in words, and their punctuation."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from contextcliff.writing.measures.prose_words import Prose

_SIGNS = {
    "comma_density": ",，、،",
    "semicolon_density": ";；؛",
    "question_density": "?？؟",
    "exclamation_density": "!！",
}
"""Full-width and Arabic signs count as the Latin ones."""


def sentence_lengths(lengths: Sequence[int]) -> dict[str, float | None]:
    """Mean, sample variance, skewness and excess kurtosis of sentence lengths in words.

    The last three are the usual unbiased estimators (G1 and G2 of Joanes and Gill 1998) and need 2, 3 and 4 sentences;
    the last two need lengths that differ. `scipy.stats` gives the same up to rounding, and takes longer to import than
    a text to measure.
    """
    if not lengths:
        return {}
    values = np.asarray(lengths, dtype=np.float64)
    n, deviations = len(values), values - values.mean()
    second = float((deviations**2).mean())
    measures: dict[str, float | None] = {"avg_sentence_length": float(values.mean())}
    if n >= 2:
        measures["sentence_length_variance"] = second * n / (n - 1)
    if n >= 3 and second > 0:
        g1 = float((deviations**3).mean()) / second**1.5
        measures["sentence_length_skewness"] = g1 * (n * (n - 1)) ** 0.5 / (n - 2)
    if n >= 4 and second > 0:
        g2 = float((deviations**4).mean()) / second**2 - 3.0
        measures["sentence_length_kurtosis"] = ((n + 1) * g2 + 6.0) * (n - 1) / ((n - 2) * (n - 3))
    return measures


def punctuation(prose: Prose) -> dict[str, float | None]:
    """Commas, semicolons, question and exclamation marks per sentence."""
    if not prose.sentences:
        return {}
    return {name: sum(map(prose.text.count, signs)) / len(prose.sentences) for name, signs in _SIGNS.items()}
