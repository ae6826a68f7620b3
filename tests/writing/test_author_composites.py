"""How far the author's own passages lie from their author, and the limit for a healthy text."""

from __future__ import annotations

import random
from importlib.resources import files

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contextcliff.text.sentences import sentence_starts
from contextcliff.writing.measures.measure import COMPOSITE
from contextcliff.writing.measures.readability import dale_chall
from contextcliff.writing.passage import judge_prose
from contextcliff.writing.task.continuation_scoring import author_limit, author_parts, limit_of, limit_with_coherence

STORY = files("contextcliff.datasets").joinpath("texts", "the_tide_clerk.txt").read_text(encoding="utf-8")
LENGTH = 2_000


def test_the_limit_is_the_value_within_which_a_new_one_lies_with_99_percent() -> None:
    assert limit_of([float(k) for k in range(1, 200)]) == pytest.approx(198.0)
    assert limit_of([3.0, 1.0, 2.0]) == 3.0
    assert limit_of([]) is None


@given(st.lists(st.floats(0, 100), min_size=1, max_size=300), st.floats(0, 100))
def test_the_limit_lies_within_the_composites_and_follows_them(composites: list[float], step: float) -> None:
    limit = limit_of(composites)
    assert limit is not None
    assert min(composites) <= limit <= max(composites)
    moved = limit_of([value + step for value in composites])
    assert moved is not None
    assert moved >= limit - 1e-9


def test_a_text_with_too_few_windows_has_no_limit() -> None:
    assert author_limit("It was late. " * 8, "en", dale_chall(), 400) is None


def test_coherence_is_one_family_more() -> None:
    window = {"adjacent_coherence": 0.4, "global_coherence": 0.6, "local_coherence_3sent": 0.4}
    assert limit_with_coherence([(0.3, 0.3)], [window] * 8) == pytest.approx(100 * (2 * 0.3**2 / 3) ** 0.5)
    assert limit_with_coherence([(0.3, 0.3)], []) is None


@pytest.mark.slow
def test_the_authors_passages_are_within_the_limit_and_loops_are_not() -> None:
    starts, drawn = sentence_starts(STORY, language="en"), random.Random(5)
    limit = author_limit(STORY, "en", dale_chall(), LENGTH)
    assert limit is not None
    assert len(author_parts(STORY, "en", dale_chall(), LENGTH)) >= 150

    def composite(text: str, before: int) -> float:
        return judge_prose(
            text, prompt=STORY[:before], reference=text, document=STORY, language="en", word_list=dale_chall(),
            shortfall=0.0,
        )[COMPOSITE]  # fmt: skip

    places = [drawn.choice([at for at in starts if 1_000 < at < len(STORY) - LENGTH]) for _ in range(100)]
    passages = [STORY[at : at + LENGTH] for at in places]
    assert sum(composite(text, at) <= limit for text, at in zip(passages, places, strict=True)) >= 97
    loops = [text[:150] * (LENGTH // 150) for text in passages[:20]]
    halves = [text[: LENGTH // 2] + text[: LENGTH // 8] * 4 for text in passages[:20]]
    assert all(composite(text, at) > limit for text, at in zip((*loops, *halves), places[:20] * 2, strict=True))
