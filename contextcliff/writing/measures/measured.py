"""All measures of one text, and its coherence, from the embeddings of its sentences."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from contextcliff.writing.measures import words as counted
from contextcliff.writing.measures.drift import language_drift
from contextcliff.writing.measures.measure import BY_NAME, MEASURES
from contextcliff.writing.measures.readability import WordList, readability, word_lengths

Vectors = NDArray[np.float64]
"""Sentence embeddings of one text: shape (sentences, dimensions)."""


def coherence(vectors: Vectors) -> dict[str, float]:
    """Cosines between sentences: of neighbours, their variance, to the centroid, and within windows of three sentences.
    Nothing is measured if a sentence has a vector that is zero or not finite: it has no direction."""
    units = _units(vectors)
    if units is None or len(units) < 2:
        return {}
    adjacent = (units[:-1] * units[1:]).sum(axis=1)
    measures = {"adjacent_coherence": float(adjacent.mean())}
    centroid = _units(vectors.mean(axis=0, keepdims=True))
    if centroid is not None:
        measures["global_coherence"] = float((units @ centroid[0]).mean())
    if len(units) >= 3:
        across = (units[:-2] * units[2:]).sum(axis=1)
        measures["local_coherence_3sent"] = float(((adjacent[:-1] + adjacent[1:] + across) / 3).mean())
        measures["coherence_variance"] = float(adjacent.var(ddof=1))
    return measures


def reference_similarity(vectors: Vectors, reference: Vectors) -> float | None:
    """Cosine of two texts' mean sentence vectors; None if a text has no sentence, or a mean no direction."""
    one, other = (_units(rows.mean(axis=0, keepdims=True)) if len(rows) else None for rows in (vectors, reference))
    return None if one is None or other is None else float(one[0] @ other[0])


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
    prompt: str | counted.PromptIndex | None = None,
    reference: str | None = None,
) -> dict[str, float]:
    """Every measure of `MEASURES` that can be taken of a text that continues `prompt`, by name; all finite."""
    if not text.strip():
        return {LENGTH: 0.0}
    prose = counted.prose_of(text, language=language)
    words, unspaced = prose.words, prose.language in counted.UNSPACED
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
        "vocabulary_diversity": counted.vocabulary_diversity(words),
        "mtld": counted.mtld(words),
        "unique_word_ratio_100": counted.unique_word_ratio(words),
        "word_entropy": counted.entropy(words),
        "char_entropy": counted.entropy(prose.text),
        "bigram_repetition_rate": counted.repetition_rate(words, 2),
        "trigram_repetition_rate": counted.repetition_rate(words, 3),
        "long_range_repetition": counted.long_range_repetition(words),
        "compression_ratio": counted.compression_ratio(prose.text),
        **counted.sentence_lengths(prose.words_per_sentence),
        **counted.punctuation(prose),
        "language_drift": language_drift(prose),
    }
    if prompt and not unspaced:
        index = counted.prompt_index(prompt) if isinstance(prompt, str) else prompt
        values["copied_share"] = counted.copied_share(words, index)
        values["longest_copy_words"] = float(index.longest(words)) if words else None
    if reference is not None:
        values["reference_rouge_l"] = counted.rouge_l(words, counted.words_of(reference))
    return _in_order(values)


def _in_order(values: Mapping[str, float | None]) -> dict[str, float]:
    taken = ((name, values.get(name)) for name in BY_NAME)
    return {name: float(value) for name, value in taken if value is not None and math.isfinite(value)}
