"""What a continuation scores: its prose against the author's, whether the round is healthy, its figures in a line.

A mean over rounds hides collapse, so the safe cap is tested on the share of rounds that are healthy: none lies further
from the author than the author's own passages do. Each of these windows is judged as a continuation is, by the norms of
the others: by norms that it is part of, it would look closer than a new passage by the same hand."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import chain
from typing import Literal

import numpy as np

from contextcliff.records.corpus import Document
from contextcliff.records.generation import Generation, Score
from contextcliff.records.sample import Passage, Sample
from contextcliff.tasks.task import ScoringContext
from contextcliff.text.tokens import is_between_words
from contextcliff.writing.author_norms import SHORTEST, author_windows, measures_at, norms_of, step_of, z_scores
from contextcliff.writing.measures.measure import AUTHOR_LIMIT, COMPOSITE, HEALTHY
from contextcliff.writing.measures.measured import coherence
from contextcliff.writing.measures.readability import WordList, reading_level
from contextcliff.writing.measures.words import prose_of
from contextcliff.writing.passage import composed, judge_prose, parts_of, with_coherence

PERCENTILE = 0.99
"""Share of the author's own passages that are within the limit."""
_ENOUGH = 200
"""Windows from which on no further length is added: by so many the share of new passages within their 99th percentile
is 99% give or take one percent."""

Parts = tuple[float, ...]
"""The part of each family of measures in one window's composite, 0-1."""


@lru_cache(maxsize=1024)
def author_parts(text: str, language: str, word_list: WordList, characters: int) -> tuple[Parts, ...]:
    """The parts of the composites of the author's windows of about `characters` characters. Windows of the two lengths
    next to it at which norms are measured, and of shorter ones until they are 200."""
    longest = math.floor(step_of(characters)) + 1
    shortest = math.floor(step_of(SHORTEST))
    parts: list[Parts] = []
    for step in range(longest, shortest - 1, -1):
        if len(parts) >= _ENOUGH:
            break
        parts += _parts_at(text, language, word_list, step)
    return tuple(parts)


@lru_cache(maxsize=1024)
def author_limit(text: str, language: str, word_list: WordList, characters: int) -> float | None:
    """The 99th percentile of the author's own composites at this length, without coherence; None of too few windows."""
    return limit_of([composed(parts) for parts in author_parts(text, language, word_list, characters)])


def limit_with_coherence(parts: Sequence[Parts], coherence: Sequence[Mapping[str, float]]) -> float | None:
    """The same with coherence, which is measured of fewer windows (`coherence`, the measures of each).

    Taken over all pairs of a window of the one kind and one of the other, as if the two had nothing to do with each
    other. None where either has too few windows."""
    own = [part for window in _left_out(coherence) for part in window]
    return limit_of([composed([*window, part]) for window in parts for part in own])


def limit_of(composites: Sequence[float]) -> float | None:
    """The quantile at p (n + 1), within which a new passage lies with 99% on average (E. J. Gumbel)."""
    return float(np.quantile(composites, PERCENTILE, method="weibull")) if composites else None


@lru_cache(maxsize=64)
def _parts_at(text: str, language: str, word_list: WordList, step: int) -> tuple[Parts, ...]:
    return tuple(_left_out(measures_at(text, language, word_list, step)))


def _left_out(windows: Sequence[Mapping[str, float]]) -> Iterator[Parts]:
    """The parts of each window by the norms of the others."""
    for place, window in enumerate(windows):
        parts = parts_of(z_scores(window, norms_of([*windows[:place], *windows[place + 1 :]])))
        if parts:
            yield tuple(parts.values())


Fault = Literal["too_short", "loop", "beyond_author", "unmeasured"]
"""Why a round is not healthy: too little text, text in a loop, further from the author than the author's own passages
are, or an author of whom too little is known to say."""

LOOP = "repetition"
"""The failure tag of a text in a loop: more than half of its trigrams have occurred before."""
_SHORT = frozenset({"empty", "too_short"})


def fault_of(details: Mapping[str, float], failure: str | None) -> Fault | None:
    """What is wrong with a round: the first of what applies."""
    if failure in _SHORT:
        return "too_short"
    if failure == LOOP:
        return "loop"
    if COMPOSITE not in details or AUTHOR_LIMIT not in details:
        return "unmeasured"
    return "beyond_author" if details[COMPOSITE] > details[AUTHOR_LIMIT] else None


_MOST_CHARACTERS = 600
"""Of a sentence: a model that runs on without an end must not outgrow the embedder's window."""


def _with_coherence(
    details: Mapping[str, float], texts: Sequence[Sequence[str]], vectors: Mapping[str, Sequence[float]]
) -> tuple[Mapping[str, float], list[Mapping[str, float]]]:
    """The details with their coherence, and the coherence of the author's windows. `texts` are the sentences of
    `compared_sentences`. Without a vector for each the details stay as they are."""
    if not texts[0] or any(sentence not in vectors for sentence in chain(*texts)):
        return details, []
    written, original, *windows = (np.array([vectors[each] for each in text], dtype=float) for text in texts)
    found = with_coherence(details, vectors=written, reference_vectors=original, window_vectors=windows)
    return found, [coherence(window) for window in windows]


_MOST = 0.5
"""Share of a text that may be in another language, repeated or copied."""
_SHOWN_CHARACTERS = 160
_EMBEDDED_WINDOWS = 24
"""Windows of the author's text whose coherence is the norm: embedding is the costly part."""


def score_continuation(
    sample: Sample, generation: Generation, context: ScoringContext, *, word_list: WordList, least_tokens: float
) -> Score:
    """1 − composite / 100, with every measure in the details, the author's limit, and whether the text is healthy.
    `least_tokens` is what a continuation must not fall short of."""
    document, text = _document(sample, context), generation.text.strip()
    written = _written_tokens(sample, generation)
    details: Mapping[str, float] = judge_prose(
        text,
        prompt=prompt_text(sample, document),
        reference=original_of(sample, generation, document),
        document=document.text,
        language=document.language,
        word_list=word_list,
        shortfall=max(0.0, 1.0 - written / least_tokens) if least_tokens else 0.0,
    )
    failure = _failure(text, details) if COMPOSITE in details else "unmeasured"
    known = (document.text, document.language, word_list, len(text))
    limit = author_limit(*known)
    details = details if limit is None else {**details, AUTHOR_LIMIT: limit}
    if context.vectors is not None and COMPOSITE in details:
        texts = compared_sentences(sample, generation, context)
        details, windows = _with_coherence(details, texts, context.vectors)
        limit = limit_with_coherence(author_parts(*known), windows)
        details = details if limit is None else {**details, AUTHOR_LIMIT: limit}
    details = {**details, HEALTHY: float(fault_of(details, failure) is None)}
    composite = details.get(COMPOSITE)
    return Score(
        value=0.0 if composite is None else 1.0 - composite / 100.0,
        prediction=text[:_SHOWN_CHARACTERS],
        failure=failure,
        details=details,
    )


def compared_sentences(sample: Sample, generation: Generation, context: ScoringContext) -> list[tuple[str, ...]]:
    """The sentences of the continuation, of the author's own next words, and of windows of the author's text."""
    document, text = _document(sample, context), generation.text.strip()

    def split(text: str) -> tuple[str, ...]:
        sentences = prose_of(text, language=document.language).sentences
        return tuple(sentence[:_MOST_CHARACTERS] for sentence in sentences)

    windows = author_windows(document.text, language=document.language, characters=len(text), most=_EMBEDDED_WINDOWS)
    return [split(each) for each in (text, original_of(sample, generation, document), *windows)]


def original_of(sample: Sample, generation: Generation, document: Document) -> str:
    """The author's own next words, as many tokens as the answer has, by the passage's own rate; whole words."""
    span = sample.reference.evidence[0]
    share = min(1.0, _written_tokens(sample, generation) / (sample.answer_tokens or 1))
    end = span.start + round(share * (span.end - span.start))
    while span.start < end < span.end and not is_between_words(document.text, end):
        end += 1
    return document.text[span.start : end].strip()


def prompt_text(sample: Sample, document: Document) -> str:
    """The part of the document that the prompt holds."""
    passage = next(piece for piece in sample.recipe.user if isinstance(piece, Passage))
    return document.text[passage.start : passage.end]


def _failure(text: str, details: Mapping[str, float]) -> str | None:
    if not any(map(str.isalnum, text)):
        return "empty"
    if details.get("shortfall", 0.0) > 0.0:
        return "too_short"
    if details.get("language_drift", 0.0) > _MOST:
        return "language_drift"
    if details.get("trigram_repetition_rate", 0.0) > _MOST:
        return LOOP
    return "copied" if details.get("copied_share", 0.0) > _MOST else None


def _document(sample: Sample, context: ScoringContext) -> Document:
    if context.document is None:
        raise ValueError(f"{sample.sample_id}: a continuation is measured against its document")
    return context.document


def _written_tokens(sample: Sample, generation: Generation) -> float:
    """Tokens of the answer, without what a thinking model thought before it. By the server's count, else by the
    answer's share of the characters, else by the rate of the author's next words."""
    said, thought = len(generation.text), len(generation.reasoning)
    if not generation.server_counted:
        span = sample.reference.evidence[0]
        return said * (sample.answer_tokens or 1) / max(1, span.end - span.start)
    if generation.reasoning_tokens is not None:
        return max(0, generation.completion_tokens - generation.reasoning_tokens)
    return generation.completion_tokens * said / (said + thought) if said + thought else 0


_FIGURES = {
    "cloze_score": "Cloze {:.2f}",
    "vocabulary_diversity": "vocabulary {:.3f}",
    "bigram_repetition_rate": "bigram repetition {:.3f}",
    "adjacent_coherence": "coherence {:.3f}",
    "word_count": "{:,.0f} words",
}


def answer_figures(details: Mapping[str, float]) -> tuple[str, ...]:
    """What was measured of an answer, a name and a number each."""
    figures: list[str] = []
    for name, shown in _FIGURES.items():
        if name in details:
            figures.append(shown.format(details[name]))
            if name == "cloze_score":
                figures.append(f"level {reading_level(details[name])}")
    if COMPOSITE in details:
        limit = f" of at most {details[AUTHOR_LIMIT]:.1f}" if AUTHOR_LIMIT in details else ""
        figures.append(f"composite {details[COMPOSITE]:.1f}{limit}")
    return tuple(figures)
