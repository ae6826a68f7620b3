"""Copying: verbatim runs from the prompt, and ROUGE-L with the original."""

from __future__ import annotations

import time
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rouge_score.rouge_scorer import RougeScorer

from contextcliff.writing.measures.words import COPIED_RUN, PromptIndex, copied_share, prompt_index, rouge_l

WORDS = st.lists(st.sampled_from("ab"), max_size=40) | st.lists(st.sampled_from("abcdef"), max_size=40)


def _runs(words: list[str], n: int) -> set[tuple[str, ...]]:
    return {tuple(words[start : start + n]) for start in range(len(words) - n + 1)}


def _longest_naively(words: list[str], prompt: list[str]) -> int:
    return max((n for n in range(1, len(words) + 1) if _runs(words, n) & _runs(prompt, n)), default=0)


def _copied_naively(words: list[str], prompt: list[str]) -> float:
    there = _runs(prompt, COPIED_RUN)
    copied = {
        place
        for start in range(len(words) - COPIED_RUN + 1)
        if tuple(words[start : start + COPIED_RUN]) in there
        for place in range(start, start + COPIED_RUN)
    }
    return len(copied) / len(words)


@given(WORDS, WORDS)
def test_the_index_finds_what_a_naive_search_finds(words: list[str], prompt: list[str]) -> None:
    index = PromptIndex(prompt)
    assert index.longest(words) == _longest_naively(words, prompt)
    assert copied_share(words, index) == (pytest.approx(_copied_naively(words, prompt)) if words else None)


@given(WORDS, WORDS, st.integers(1, 20))
def test_every_run_is_found_where_it_is(words: list[str], prompt: list[str], run: int) -> None:
    there = _runs(prompt, run)
    expected = [tuple(words[start : start + run]) in there for start in range(len(words) - run + 1)]
    assert PromptIndex(prompt).copied_runs(words, run).tolist() == expected


def test_a_sentence_of_the_prompt_is_copied_and_chance_is_not() -> None:
    index = prompt_index("It was the best of times, it was the worst of times. The end.")
    words = "She said: it was the best of times; it was the worst! Of course it was the end.".lower().split()
    cleaned = [word.strip(":;!.") for word in words]
    # "it was the best of times it was the worst of" is a run of 11 of its 18 words.
    assert index.longest(cleaned) == 11
    assert copied_share(cleaned, index) == 11 / 18


def test_seven_words_in_a_row_are_chance() -> None:
    prompt = [f"w{number}" for number in range(50)]
    assert copied_share([*prompt[10:17], "new"], PromptIndex(prompt)) == 0.0
    assert copied_share([*prompt[10:18], "new"], PromptIndex(prompt)) == 8 / 9


def test_nothing_in_common_is_zero() -> None:
    assert PromptIndex(["a"]).longest(["b", "c"]) == 0
    assert PromptIndex([]).longest(["b", "c"]) == 0
    assert copied_share(["b"] * 20, PromptIndex([])) == 0.0
    assert copied_share([], PromptIndex(["a"])) is None


@given(st.lists(st.sampled_from("abcde"), min_size=1, max_size=40), st.lists(st.sampled_from("abcde"), min_size=1))
def test_rouge_l_is_googles(words: list[str], reference: list[str]) -> None:
    scorer = RougeScorer(["rougeL"])
    expected = scorer.score(" ".join(reference), " ".join(words))["rougeL"].fmeasure
    assert rouge_l(words, reference) == pytest.approx(expected)


def test_rouge_l_needs_two_texts() -> None:
    assert rouge_l([], ["a"]) is None
    assert rouge_l(["a"], []) is None
    assert rouge_l(["a", "b", "c"], ["a", "x", "c", "y"]) == pytest.approx(4 / 7)


def test_a_prompt_of_three_quarters_of_a_million_words_takes_seconds() -> None:
    words = Random(1).choices([f"w{number}" for number in range(20_000)], k=750_000)
    began = time.process_time()
    index = PromptIndex(words)
    assert index.longest(words[5000:5800]) == 800
    assert index.longest(words[100:900][::-1]) < 5
    assert time.process_time() - began < 10.0


def test_rouge_l_of_two_pages_takes_milliseconds(story: str) -> None:
    words = story.lower().split()
    began = time.process_time()
    rouge_l(words[:800], words[3000:3800])
    assert time.process_time() - began < 0.05
