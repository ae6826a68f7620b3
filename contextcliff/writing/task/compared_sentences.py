"""The sentences of a continuation whose embeddings its score uses, and the coherence that their vectors give."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from contextcliff.writing.measures.coherence import Vectors
from contextcliff.writing.measures.prose_words import prose_of
from contextcliff.writing.passage import with_coherence

_MOST_CHARACTERS = 600
"""Of a sentence: a model that runs on without an end must not outgrow the embedder's window."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Sentences:
    """Those of a continuation, of what the author wrote in its place, and of windows of the author's text as long."""

    written: tuple[str, ...]
    original: tuple[str, ...]
    windows: tuple[tuple[str, ...], ...]

    def all(self) -> Iterator[str]:
        """Every sentence, in this order; one that stands in several texts comes several times."""
        yield from self.written
        yield from self.original
        for window in self.windows:
            yield from window


def sentences_of(written: str, *, original: str, windows: Sequence[str], language: str) -> Sentences:
    """Split the texts into sentences of up to 600 characters."""

    def split(text: str) -> tuple[str, ...]:
        return tuple(sentence[:_MOST_CHARACTERS] for sentence in prose_of(text, language=language).sentences)

    return Sentences(
        written=split(written), original=split(original), windows=tuple(split(window) for window in windows)
    )


def with_sentence_vectors(
    details: Mapping[str, float], sentences: Sentences, vectors: Mapping[str, Sequence[float]]
) -> Mapping[str, float]:
    """The details with their coherence, and composites that have it; as they are where a sentence has no vector."""
    if not sentences.written or any(sentence not in vectors for sentence in sentences.all()):
        return details

    def rows(texts: Sequence[str]) -> Vectors:
        return np.array([vectors[text] for text in texts], dtype=float)

    return with_coherence(
        details,
        vectors=rows(sentences.written),
        reference_vectors=rows(sentences.original),
        window_vectors=[rows(window) for window in sentences.windows],
    )
