"""Lists of words: how often each occurs by RULER's parameters, and what an answer is worth."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from contextcliff.records.sample import Recipe, Sample, Words
from contextcliff.tasks.lists import english_words
from contextcliff.tasks.task import ScoringContext, TaskPlan
from tests.make import scored_sample
from tests.tasks.made_tasks import materials, shipped
from tests.tasks.needles import said

ZETA_2 = 1.6449340668482264


def built(option: str, length: int, *, seed: int = 0) -> Sample:
    plan: TaskPlan = shipped(option, lengths=[length], trials=1).build(materials(seed=seed))
    (sample,) = plan.samples
    return sample


def pieces(sample: Sample) -> tuple[str, str, str]:
    """What stands before the list, the list, and what stands after it."""
    before, inside, after = (piece.text for piece in sample.recipe.user if isinstance(piece, Words))
    return before, inside, after


def entries(numbered: str) -> list[str]:
    """The words of a numbered list; its numbers go up by one."""
    found = re.findall(r"(\d+)\. (\S+)", numbered)
    assert [int(number) for number, _ in found] == list(range(1, len(found) + 1))
    assert numbered == " ".join(f"{number}. {word}" for number, word in found)
    return [word for _, word in found]


@settings(max_examples=25)
@given(length=st.integers(700, 9_000), seed=st.integers(0, 1_000))
def test_common_words_occur_as_often_as_in_the_paper_at_every_length(length: int, seed: int) -> None:
    sample = built("ruler_cwe", length, seed=seed)
    common, other = (30, 3) if length >= 4_096 else (6, 1)
    before, numbered, after = pieces(sample)
    counts = Counter(entries(numbered))
    assert len(sample.answers) == 10
    assert {word for word, count in counts.items() if count == common} == set(sample.answers)
    assert {count for word, count in counts.items() if word not in sample.answers} == {other}
    # Nothing of it stands anywhere else: the worked example has words of its own.
    assert not counts.keys() & set(re.findall(r"\w+", before + after))


@settings(max_examples=25)
@given(length=st.integers(500, 9_000), seed=st.integers(0, 1_000))
def test_coded_words_occur_as_often_as_a_zeta_distribution_has_them(length: int, seed: int) -> None:
    sample = built("ruler_fwe", length, seed=seed)
    before, text, after = pieces(sample)
    counts = Counter(text.split())
    (dots, most), *ranked = counts.most_common()
    # N is not known from the text: every one of these is possible for the number of dots that stand there.
    possible = range(int(most * ZETA_2), int((most + 1) * ZETA_2) + 2)
    expected = [[int(n * rank**-2 / ZETA_2) for rank in range(1, length // 50 + 1)] for n in possible]
    assert [most, *(count for _, count in ranked)] in [[count for count in each if count] for each in expected]
    assert dots == "..."
    assert {word for word, _ in ranked[:3]} == set(sample.answers)
    assert ranked[2][1] > ranked[3][1]
    assert all(re.fullmatch("[a-z]{6}", word) for word, _ in ranked)
    assert not counts.keys() & set(re.findall(r"\w+", before + after))


def test_a_list_that_needs_more_words_than_there_are_has_coined_words_alone() -> None:
    shorter, longer = built("ruler_cwe", 32_768), built("ruler_cwe", 100_000)
    known = set(english_words())
    assert set(entries(pieces(shorter)[1])) <= known
    words = Counter(entries(pieces(longer)[1]))
    assert len(words) > 4_000
    assert not words.keys() & known
    assert {word for word, count in words.items() if count == 30} == set(longer.answers)
    assert 100_000 - longer.built_tokens <= 1_000


def test_the_words_are_plain_and_none_of_them_is_one_that_an_answer_opens_with() -> None:
    words = english_words()
    assert len(words) == len(set(words)) > 4_000
    assert all(re.fullmatch("[a-z]{4,10}", word) for word in words)
    assert not set(words) & set("the most common words that appear often list above here are answer these".split())
    plan = shipped("ruler_cwe", lengths=[30_000], trials=1, question="Any harbour?").build(materials())
    assert "harbour" in words
    assert "harbour" not in entries(pieces(plan.samples[0])[1])


WANTED, LISTED = ("pear", "lamp", "rope"), "pear lamp rope bell tide crow"


@pytest.mark.parametrize(
    ("answer", "value", "failure"),
    [
        ("1. pear 2. lamp 3. rope", 1.0, None),
        ("The most frequent words are **Rope**, Pear and lamp.", 1.0, None),
        ("pear, lamp", 2 / 3, "partial"),
        ("pear, pears, lampshade, rope", 2 / 3, "partial"),  # whole words: RULER finds `lamp` in `lampshade`
        ("bell, pear, lamp, rope", 2 / 3, "partial"),  # the first three words of the list count
        ("pear pear pear lamp rope", 1.0, None),  # each once
        ("bell tide crow pear lamp rope", 0.0, "wrong_words"),  # the list recited
        ("apple", 0.0, "missing"),
        ("", 0.0, "empty"),
        ("I'm sorry, I can't count that.", 0.0, "refusal"),
    ],
)
def test_an_answer_is_worth_the_share_of_words_that_it_names(answer: str, value: float, failure: str | None) -> None:
    recipe = Recipe(user=(Words(text="Count."), Words(text=LISTED)))
    sample = replace(scored_sample(500, 1.0).sample, answers=WANTED, recipe=recipe)
    score = shipped("ruler_cwe").score(sample, said(answer), ScoringContext())
    assert score.value == pytest.approx(value)
    assert score.failure == failure
