"""Sentence starts: where a needle may go in."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contextcliff.text.sentences import nearest_start, sentence_starts


def beginnings(text: str, language: str = "en") -> list[str]:
    return [text[start : start + 4] for start in sentence_starts(text, language=language)]


def test_abbreviations_and_quotations_end_no_sentence() -> None:
    text = 'Mr. Pask looked up. "Did he?" she said. Nobody knew!\n\nAnother paragraph. The end'
    assert beginnings(text) == ["Mr. ", '"Did', "Nobo", "Anot", "The "]


def test_japanese_sentences_end_at_their_full_stop() -> None:
    assert beginnings("今日は晴れ。明日は雨。", "ja") == ["今日は晴", "明日は雨"]


@given(st.text(alphabet="abc .!?\n", max_size=120))
def test_starts_ascend_from_zero(text: str) -> None:
    starts = sentence_starts(text)
    assert starts[0] == 0
    assert list(starts) == sorted(set(starts))


@given(st.sets(st.integers(0, 500), min_size=1), st.integers(0, 600), st.integers(1, 600))
def test_the_nearest_start_is_the_nearest_of_those_before_the_end(found: set[int], target: int, before: int) -> None:
    starts = sorted(found)
    allowed = [start for start in starts if start < before]
    if not allowed:
        with pytest.raises(ValueError, match="no sentence starts before"):
            nearest_start(starts, target, before=before)
        return
    expected = min(allowed, key=lambda start: (abs(start - target), start))
    assert nearest_start(starts, target, before=before) == expected
