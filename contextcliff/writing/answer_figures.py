"""The figures of one continuation in a line: beside its text, and while it is written."""

from __future__ import annotations

from collections.abc import Mapping

from contextcliff.writing.measures.measure import COMPOSITE
from contextcliff.writing.measures.readability import reading_level


def answer_figures(details: Mapping[str, float]) -> tuple[str, ...]:
    """What was measured of an answer (as in `Score.details`), a name and a number each; none: nothing was."""
    figures: list[str] = []
    if "cloze_score" in details:
        cloze = details["cloze_score"]
        figures += [f"Cloze {cloze:.2f}", f"level {reading_level(cloze)}"]
    if "vocabulary_diversity" in details:
        figures.append(f"vocabulary {details['vocabulary_diversity']:.3f}")
    if "bigram_repetition_rate" in details:
        figures.append(f"bigram repetition {details['bigram_repetition_rate']:.3f}")
    if "adjacent_coherence" in details:
        figures.append(f"coherence {details['adjacent_coherence']:.3f}")
    if "word_count" in details:
        figures.append(f"{details['word_count']:,.0f} words")
    if COMPOSITE in details:
        figures.append(f"composite {details[COMPOSITE]:.1f}")
    return tuple(figures)
