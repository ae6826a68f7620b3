"""Answers to questions by F1, exact match and the share that contains an accepted answer, on runs worked by hand."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from contextcliff.analysis.bins import group
from contextcliff.findings.answer_measures import AnswerMeasures, answer_measures
from contextcliff.records.generation import ScoredSample
from contextcliff.statistics.intervals import wilson
from tests.make import known, scored_sample


def answer(length: int, f1: float, em: float, contains: float | None, *, document: str = "") -> ScoredSample:
    made = scored_sample(length, f1)
    details = {"f1": f1, "em": em} | ({} if contains is None else {"contains_reference": contains})
    return replace(made, details=details, sample=replace(made.sample, cluster=document))


def measured(samples: Sequence[ScoredSample], confidence: float = 0.95) -> AnswerMeasures:
    return known(answer_measures(group(samples, designed_lengths=True, bins=1), confidence))


def answers(n: int, length: int, f1: float, em: float, contains: float) -> list[ScoredSample]:
    return [answer(length, f1, em, contains) for _ in range(n)]


VERBOSE = answers(15, 500, 0.25, 0.0, 1.0) + answers(3, 500, 1.0, 1.0, 1.0) + answers(2, 500, 0.0, 0.0, 0.0)


def test_right_answers_in_too_many_words_are_contained_and_seldom_exact() -> None:
    f1, em, contains = measured(VERBOSE).measures
    assert (f1.name, em.name, contains.name) == ("f1", "em", "contains_reference")
    assert (f1.mean, em.mean, contains.mean) == pytest.approx((0.3375, 0.15, 0.9))
    assert (contains.ci_low, contains.ci_high) == pytest.approx(wilson(18, 20, 0.95))
    assert (em.ci_low, em.ci_high) == pytest.approx(wilson(3, 20, 0.95))
    assert [each.n for each in (f1, em, contains)] == [20] * 3


def test_each_length_has_its_own_share_and_one_without_an_answer_has_none() -> None:
    samples = [*VERBOSE, scored_sample(900, None), *answers(10, 1_000, 0.0, 0.0, 0.0)]
    contains = measured(samples).measures[2]
    assert [(each.asked_tokens, each.n, each.mean) for each in contains.lengths] == [(500, 20, 0.9), (1_000, 10, 0.0)]
    assert (contains.n, contains.mean) == (30, 0.6)


def test_repeats_of_a_question_are_one_of_n() -> None:
    repeats = [
        replace(item, sample=replace(item.sample, item=f"q{number}", repeat=repeat))
        for number in range(10)
        for repeat in range(3)
        for item in [answer(500, 0.5, 0.0, float(repeat > 0))]
    ]
    contains = measured(repeats).measures[2]
    assert contains.n == 10
    assert contains.mean == pytest.approx(2 / 3)


def test_questions_on_few_texts_have_a_wider_interval() -> None:
    alone = [answer(500, 0.5, 0.0, float(i % 20 < 12)) for i in range(40)]
    shared = [answer(500, 0.5, 0.0, float(i % 20 < 12), document=f"text {i // 5}") for i in range(40)]
    one, other = (measured(samples).measures[2] for samples in (alone, shared))
    assert one.mean == other.mean
    assert other.ci_high - other.ci_low > one.ci_high - one.ci_low
