"""What counts as the hidden value in an answer, and which tag a wrong answer gets."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

from contextcliff.records.sample import Reference, Sample
from contextcliff.tasks.task import ScoringContext
from contextcliff.tasks.values import score_value, stands_in
from contextcliff.text.value_forms import FORMS, NUMBER, UUID, WORD, ValueForm
from tests.make import scored_sample
from tests.tasks.needles import said

FIRST, SECOND = "6f1c7f0e-52a1-4d3b-9b63-0c5b8c1f7a11", "0b7d2a90-9f1e-4a38-8a10-5d3c2e1f0a99"

WRITTEN = (
    *("1{,}234{,}567", "$1\\,234\\,567$", "1'234'567", "1’234’567", "1.234.567", "1 234 567", "1\u202f234\u202f567"),
    *("1234567", "The number is 1234567.", "**1234567**", "1,234,567", "Paris: 1234567, of course", "x=1234567;"),
    *("1_234_567", "1234567.0", "1.234.567,00", "1,234,567.00", "12\u200b34\u200b567", "①1234567", "1234567²"),
    *("١٢٣٤٥٦٧", "١٬٢٣٤٬٥٦٧", "１，２３４，５６７", "7654321,1234567", "1234567,7654321", "2 1234567", "1234567 100"),
)
OTHER_NUMBERS = (
    *("91234567", "123456", "1234568", "1,234,567,890", "12,345,678"),
    *("12345678", "1.234.567.890", "1 234 567 890", "11'234'567", "12{,}345{,}678", "1234567.5", "0.1234567"),
    *("1,234,567.89", "1234567,5", "3.1234567", "１２３４５６７８", "1,234,5678"),
)


def asking(expected: str, *distractors: str) -> Sample:
    sample = scored_sample(500, 1.0).sample
    return replace(sample, question="", answers=(expected,), reference=Reference(distractors=distractors))


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
def test_a_drawn_value_is_found_in_a_sentence_and_no_two_draws_are_alike(form: ValueForm) -> None:
    rng = random.Random(3)
    drawn = [form.draw(rng) for _ in range(200)]
    assert len(set(drawn)) > 190
    assert all(form.found(f"It is “{value}”.") == [value] or value in form.found(f"It is {value}.") for value in drawn)


@pytest.mark.parametrize(
    ("answer", "form", "expected", "value"),
    [
        (f"The key is {FIRST.upper()}.", UUID, FIRST, 1.0),
        (f"{FIRST}0", UUID, FIRST, 0.0),
        (f"{FIRST[:-1]}", UUID, FIRST, 0.0),
        ("It is Brelonska's.", WORD, "brelonska", 1.0),
        ("Brelonskan", WORD, "brelonska", 0.0),
        ("１２３４５６７", NUMBER, "1234567", 1.0),  # full-width digits
        *((right, NUMBER, "1234567", 1.0) for right in WRITTEN),
        *((longer, NUMBER, "1234567", 0.0) for longer in OTHER_NUMBERS),
        (FIRST.replace("-", "\u2011"), UUID, FIRST, 1.0),  # hyphens that do not break
        (FIRST.replace("-", "–"), UUID, FIRST, 1.0),
        (f"\u2060{FIRST[:9]}\u200b{FIRST[9:]}\ufeff", UUID, FIRST, 1.0),
        ("Brel\u00adonska", WORD, "brelonska", 1.0),  # a soft hyphen
        ("Marlene", WORD, "Marlene", 1.0),
        ("Anna-Marlene", WORD, "Marlene", 0.0),
    ],
)
def test_a_value_is_found_whole_in_any_writing(answer: str, form: ValueForm, expected: str, value: float) -> None:
    assert score_value(asking(expected), said(answer), ScoringContext(), form).value == value


@pytest.mark.parametrize(
    ("answer", "form", "tag"),
    [
        (SECOND, UUID, "wrong_needle"),
        (f"{FIRST} or {SECOND}", UUID, "hedged"),
        ("11111111-2222-4333-8444-555555555555", UUID, "hallucination"),
        ("It is not mentioned.", UUID, "refusal"),
        ("Kralina", WORD, "missing"),
        ("dunolra", WORD, "wrong_needle"),
    ],
)
def test_a_distractor_is_its_own_tag_and_does_not_pass_beside_the_right_value(
    answer: str, form: ValueForm, tag: str
) -> None:
    expected, distractor = (FIRST, SECOND) if form is UUID else ("brelonska", "dunolra")
    score = score_value(asking(expected, distractor), said(answer), ScoringContext(), form)
    assert (score.value, score.failure) == (0.0, tag)


def test_a_phrase_stands_whole_in_an_answer_of_any_script() -> None:
    expected = {
        ("brass herring", "Inside the Brass\n Herring."): True,
        ("brass herring", "brass herrings"): False,
        ("herring", "a herring, of brass"): True,
        ("水差し", "銅の水差しの底です。"): True,
        ("C++", "It is C++."): True,
        ("the clerk’s key", "It is the clerk's key!"): True,
        ("ten", "often"): False,
        ("Anna-Marlene", "Anna\u2011Marlene"): True,
    }
    assert {(phrase, answer): stands_in(phrase, answer) for phrase, answer in expected} == expected
