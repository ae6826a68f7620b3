"""The built-in stories are prose that a haystack can be cut from: long enough, and nowhere the same."""

from __future__ import annotations

from collections import Counter

import pytest

from contextcliff.datasets.essays import Essays
from contextcliff.text.sentences import sentence_starts
from tests.compositions import built

STORIES = {"the_tide_clerk": "en", "shiomachi_no_kirokugakari": "ja"}


def text_of(story: str) -> str:
    return Essays(story=story, language=STORIES[story]).corpus(tokens=1, seed=0).documents[0].text


@pytest.mark.parametrize("story", STORIES)
def test_no_paragraph_occurs_twice(story: str) -> None:
    paragraphs = Counter(part for part in text_of(story).split("\n") if part)
    assert [part for part, times in paragraphs.items() if times > 1] == []


def test_no_sentence_of_the_japanese_story_occurs_twice() -> None:
    text = text_of("shiomachi_no_kirokugakari")
    starts = sentence_starts(text, language="ja")
    ends = (*starts[1:], len(text))
    sentences = Counter(text[start:end].strip() for start, end in zip(starts, ends, strict=True))
    assert [sentence for sentence, times in sentences.items() if times > 1] == []
    assert len(sentences) > 800


def test_the_japanese_story_holds_8000_tokens_of_any_tokenizer_several_times() -> None:
    """The most economical vocabularies need 0.8 tokens a character of it."""
    assert len(text_of("shiomachi_no_kirokugakari")) * 0.8 > 2 * 8000


@pytest.mark.parametrize("experiment", ["task=niah_static_ja", "experiment=context_rot_ja"])
def test_no_needle_of_a_shipped_japanese_task_stands_in_it_already(experiment: str) -> None:
    needle = built(experiment).task.needle  # type: ignore[attr-defined]
    text = text_of("shiomachi_no_kirokugakari")
    assert [keyword for keyword in needle.keywords if keyword in text] == []
