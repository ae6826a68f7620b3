"""All measures of one text that need no embeddings."""

from __future__ import annotations

import math
from collections.abc import Mapping

from contextcliff.writing.measures.copying import PromptIndex, copied_share, prompt_index, rouge_l
from contextcliff.writing.measures.drift import language_drift
from contextcliff.writing.measures.lexical_variety import (
    compression_ratio,
    entropy,
    long_range_repetition,
    mtld,
    repetition_rate,
    unique_word_ratio,
    vocabulary_diversity,
)
from contextcliff.writing.measures.measure import BY_NAME, MEASURES
from contextcliff.writing.measures.prose_words import UNSPACED, Prose, prose_of, words_of
from contextcliff.writing.measures.readability import WordList, readability, word_lengths
from contextcliff.writing.measures.rhythm import punctuation, sentence_lengths

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
    return measured(prose_of(text, language=language), word_list=word_list, prompt=prompt, reference=reference)


def measured(
    prose: Prose, *, word_list: WordList, prompt: str | PromptIndex | None = None, reference: str | None = None
) -> dict[str, float]:
    """The measures of a text whose words and sentences are known; otherwise as `measure_prose`."""
    words = prose.words
    size: dict[str, float | None] = {
        LENGTH: float(len(prose.text.strip())),
        "word_count": None if prose.language in UNSPACED else float(len(words)),
        "sentence_count": float(len(prose.sentences)),
    }
    unspaced = prose.language in UNSPACED
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
    if prompt and prose.language not in UNSPACED:
        index = prompt_index(prompt) if isinstance(prompt, str) else prompt
        values["copied_share"] = copied_share(words, index)
        values["longest_copy_words"] = float(index.longest(words)) if words else None
    if reference is not None:
        values["reference_rouge_l"] = rouge_l(words, words_of(reference))
    return _in_order(values)


def _in_order(values: Mapping[str, float | None]) -> dict[str, float]:
    taken = ((name, values.get(name)) for name in BY_NAME)
    return {name: float(value) for name, value in taken if value is not None and math.isfinite(value)}
