"""The figures of one continuation in a line."""

from __future__ import annotations

from contextcliff.writing.task.continuation_scoring import answer_figures


def test_every_figure_that_was_measured_is_named() -> None:
    details = {
        "cloze_score": 14.66,
        "vocabulary_diversity": 0.5641,
        "bigram_repetition_rate": 0.02,
        "adjacent_coherence": 0.4,
        "word_count": 1234.0,
        "composite": 12.34,
    }
    assert answer_figures(details) == (
        *("Cloze 14.66", "level 16+", "vocabulary 0.564", "bigram repetition 0.020", "coherence 0.400"),
        *("1,234 words", "composite 12.3"),
    )


def test_an_answer_that_was_not_measured_has_none() -> None:
    assert answer_figures({}) == ()
    assert answer_figures({"em": 1.0}) == ()
