"""All measures of one text, and its coherence, from the embeddings of its sentences."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from contextcliff.writing.measures.drift import language_drift
from contextcliff.writing.measures.measure import BY_NAME, MEASURES
from contextcliff.writing.measures.readability import WordList, readability, word_lengths
from contextcliff.writing.measures.words import (
    UNSPACED,
    PromptIndex,
    compression_ratio,
    copied_share,
    entropy,
    long_range_repetition,
    mtld,
    prompt_index,
    prose_of,
    punctuation,
    repetition_rate,
    rouge_l,
    sentence_lengths,
    unique_word_ratio,
    vocabulary_diversity,
    words_of,
)

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


LENGTH = "continuation_length"
SIZES = frozenset(measure.name for measure in MEASURES if measure.is_size)
FEWEST_WORDS = 20
"""Shorter texts are not measured: three words are all different, and one sentence has no variance."""
_CHARACTERS_A_WORD = 2
"""In languages whose words are not counted."""


def measure_prose(
    text: str,
    *,
    language: str,
    word_list: WordList,
    prompt: str | PromptIndex | None = None,
    reference: str | None = None,
) -> dict[str, float]:
    """Every measure of `MEASURES` that can be taken of a text, by name; all finite.

    `prompt` is what it continues (None or empty: copying is not measured), `reference` the author's own next words.
    A text of fewer than twenty words has only its size measures.
    """
    if not text.strip():
        return {LENGTH: 0.0}
    prose = prose_of(text, language=language)
    words, unspaced = prose.words, prose.language in UNSPACED
    size: dict[str, float | None] = {
        LENGTH: float(len(prose.text.strip())),
        "word_count": None if unspaced else float(len(words)),
        "sentence_count": float(len(prose.sentences)),
    }
    if (len(prose.text.strip()) / _CHARACTERS_A_WORD if unspaced else len(words)) < FEWEST_WORDS:
        return _in_order(size)
    values: dict[str, float | None] = {
        **size,
        **readability(prose, word_list),
        **word_lengths(prose),
        "vocabulary_diversity": vocabulary_diversity(words),
        "mtld": mtld(words),
        "unique_word_ratio_100": unique_word_ratio(words),
        "word_entropy": entropy(words),
        "char_entropy": entropy(prose.text),
        "bigram_repetition_rate": repetition_rate(words, 2),
        "trigram_repetition_rate": repetition_rate(words, 3),
        "long_range_repetition": long_range_repetition(words),
        "compression_ratio": compression_ratio(prose.text),
        **sentence_lengths(prose.words_per_sentence),
        **punctuation(prose),
        "language_drift": language_drift(prose),
    }
    if prompt and not unspaced:
        index = prompt_index(prompt) if isinstance(prompt, str) else prompt
        values["copied_share"] = copied_share(words, index)
        values["longest_copy_words"] = float(index.longest(words)) if words else None
    if reference is not None:
        values["reference_rouge_l"] = rouge_l(words, words_of(reference))
    return _in_order(values)


def _in_order(values: Mapping[str, float | None]) -> dict[str, float]:
    taken = ((name, values.get(name)) for name in BY_NAME)
    return {name: float(value) for name, value in taken if value is not None and math.isfinite(value)}
