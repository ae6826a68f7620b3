"""Rhythm of a text: the lengths of its sentences in words, and their punctuation."""

from __future__ import annotations

import statistics
from collections.abc import Sequence

from contextcliff.statistics.descriptive import kurtosis, skewness
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
    the last two need lengths that differ.
    """
    if not lengths:
        return {}
    n, differ = len(lengths), len(set(lengths)) > 1
    measures: dict[str, float | None] = {"avg_sentence_length": statistics.fmean(lengths)}
    if n >= 2:
        measures["sentence_length_variance"] = statistics.variance(map(float, lengths))
    if n >= 3 and differ:
        measures["sentence_length_skewness"] = skewness(lengths)
    if n >= 4 and differ:
        measures["sentence_length_kurtosis"] = kurtosis(lengths)
    return measures


def punctuation(prose: Prose) -> dict[str, float | None]:
    """Commas, semicolons, question and exclamation marks per sentence."""
    if not prose.sentences:
        return {}
    return {name: sum(map(prose.text.count, signs)) / len(prose.sentences) for name, signs in _SIGNS.items()}
