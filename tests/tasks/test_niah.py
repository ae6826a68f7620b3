"""Needles: where they go, how long the prompts are, what counts as found."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from contextcliff.errors import ConfigError
from contextcliff.records.sample import Words
from contextcliff.tasks.task import ContextBudget, ScoringContext
from contextcliff.tasks.values import score_value
from contextcliff.text.sentences import sentence_starts
from contextcliff.text.tokenizers import WordTokenizer
from contextcliff.text.value_forms import NUMBER
from tests.make import known, scored_sample
from tests.tasks.needles import TEXT, build, niah, passages, prompt, said

lengths = st.integers(min_value=120, max_value=2_800)
depths = st.floats(min_value=0.0, max_value=1.0)


@settings(max_examples=25)
@given(lengths, depths)
def test_the_needle_stands_whole_between_two_sentences_and_the_length_is_the_one_asked_for(
    length: int, depth: float
) -> None:
    (sample,) = build(niah(lengths=[length], depths=[depth], trials=1, haystacks=1))
    counted = WordTokenizer().count_prompt(prompt(sample))
    assert counted <= length
    assert length - counted <= max(16, length // 100)
    assert abs(counted - sample.built_tokens) <= 2
    before, after = passages(sample)
    needle = sample.recipe.user[2]
    city = known(re.search(r"What is the special magic (\w+) number\?", sample.question))
    assert isinstance(needle, Words)
    assert needle.text == f"The special magic {city[1]} number is: {sample.answers[0]}. "
    assert before.end == after.start
    assert before.end in sentence_starts(TEXT.text)
    assert prompt(sample).user.count(sample.answers[0]) == 1


def test_the_needle_lies_at_the_sentence_nearest_to_its_depth() -> None:
    samples = build(niah(lengths=[2500], depths=[0.0, 0.25, 0.5, 0.75, 1.0], trials=1, haystacks=1))
    text_end = passages(samples[0])[1].end
    places = [passages(sample)[0].end / text_end for sample in samples]
    assert places[0] == 0.0
    for place, depth in zip(places, [0.0, 0.25, 0.5, 0.75, 1.0], strict=True):
        assert abs(place - depth) < 0.03


def test_every_sample_has_its_own_number_and_the_cities_vary() -> None:
    samples = build(niah(lengths=[400, 800], trials=4))
    assert len({sample.answers for sample in samples}) == len(samples) == 88
    assert all(re.fullmatch(r"[1-9]\d{6}", sample.answers[0]) for sample in samples)
    assert len({sample.question for sample in samples}) > 40
    assert len({sample.sample_id for sample in samples}) == len(samples)


def test_a_length_that_the_frame_fills_is_refused() -> None:
    with pytest.raises(ConfigError, match=r"task.lengths: 50 is too short: .* takes \d+ tokens"):
        build(niah(lengths=[50]))


def test_the_longest_length_leaves_room_for_the_answer() -> None:
    task = niah(lengths=[7_900], reserve_tokens=200)
    assert task.longest_context(ContextBudget(context_window=8_192, answer_tokens=48)) == 7_900
    with pytest.raises(ConfigError, match="the longest that fits is 7,168"):
        task.longest_context(ContextBudget(context_window=8_192, answer_tokens=1_024))


@pytest.mark.parametrize(
    ("answer", "finish_reason", "tag"),
    [
        ("", "stop", "empty"),
        (" \n", "stop", "empty"),
        ("It is 7654321.", "stop", "wrong_needle"),
        ("It is 1111111.", "stop", "hallucination"),
        ("The number is 12345", "length", "incomplete"),
        ("I'm sorry, the text does not mention it.", "stop", "refusal"),
        ("The harbour is quiet.", "stop", "missing"),
        ("About 42.", "stop", "missing"),
    ],
)
def test_a_wrong_answer_gets_one_tag(answer: str, finish_reason: str, tag: str) -> None:
    sample = replace(scored_sample(500, 1.0).sample, answers=("1234567",))
    context = ScoringContext(foreign_answers=frozenset({"1234567", "7654321"}))
    score = score_value(sample, said(answer, finish_reason), context, NUMBER)
    assert (score.value, score.failure) == (0.0, tag)
