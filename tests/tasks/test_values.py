"""What counts as the right value, count or copy in an answer, and which tag a wrong answer gets."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from contextcliff.records.corpus import Document
from contextcliff.records.generation import Generation, Score
from contextcliff.records.sample import Reference
from contextcliff.tasks.needles.niah import Needle
from contextcliff.tasks.task import ScoringContext
from contextcliff.tasks.values import score_value, stands_in
from contextcliff.text.value_forms import NUMBER, UUID, WORD, ValueForm
from tests.make import scored_sample
from tests.tasks.made_tasks import shipped
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


SAMPLE = scored_sample(500, 1.0).sample


def worth(
    option: str, answer: str, *expected: str, finish_reason: str = "stop", text: str = "", **changes: Any
) -> Score:
    """What a task as it is shipped gives for an answer."""
    sample, document = replace(SAMPLE, question="", answers=expected), Document(document_id="d", title="d", text=text)
    generation, context = said(answer, finish_reason), ScoringContext(document=document)
    score: Score = shipped(option, **changes).score(sample, generation, context)
    return score


def scored(generation: Generation, form: ValueForm, expected: str, *distractors: str, foreign: str = "") -> Score:
    asked = replace(SAMPLE, question="", answers=(expected,), reference=Reference(distractors=distractors))
    return score_value(asked, generation, ScoringContext(foreign_answers=frozenset({expected, foreign})), form)


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
    assert scored(said(answer), form, expected).value == value


@pytest.mark.parametrize(
    ("answer", "form", "tag"),
    [
        (SECOND, UUID, "wrong_needle"),
        (f"{FIRST} or {SECOND}", UUID, "hedged"),
        ("11111111-2222-4333-8444-555555555555", UUID, "hallucination"),
        ("It is not mentioned.", UUID, "refusal"),
        ("Kralina", WORD, "missing"),
        ("dunolra", WORD, "wrong_needle"),
        (" \n", NUMBER, "empty"),
        ("It is 7654321.", NUMBER, "wrong_needle"),  # another sample's
        ("It is 1111111.", NUMBER, "hallucination"),
        ("I'm sorry, the text does not mention it.", NUMBER, "refusal"),
        ("The harbour is quiet.", NUMBER, "missing"),
        ("About 42.", NUMBER, "missing"),
    ],
)
def test_a_wrong_answer_gets_one_tag(answer: str, form: ValueForm, tag: str) -> None:
    expected, distractors = {
        UUID: (FIRST, [SECOND]), WORD: ("brelonska", ["dunolra"]), NUMBER: ("1234567", []),
    }[form]  # fmt: skip
    score = scored(said(answer), form, expected, *distractors, foreign="7654321")
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


STATIC: dict[str, Any] = {"kind": "static", "question": "Which?", "match": "answer"}


@given(st.text(max_size=20), st.text(max_size=20))
def test_a_needle_is_refused_or_its_own_text_scores(text: str, answer: str) -> None:
    try:
        needle = {**STATIC, "text": text, "answer": answer}
        Needle(**needle)
    except ValidationError:
        assert not text.strip() or not stands_in(answer, text)
    else:
        assert worth("niah_static", text, needle=needle).value == 1.0


def test_what_has_to_be_worked_out_is_said_to_be_and_is_no_part_of_what_is_asked() -> None:
    values = {**STATIC, "text": "Two cats, three dogs.", "answer": "five"}
    with pytest.raises(ValidationError, match=r"task.needle.inferred=true where it has to be worked out"):
        Needle(**values)
    assert worth("niah_static", "There are five.", needle={**values, "inferred": True}).value == 1.0
    plain, inferred = shipped("niah_static"), shipped("niah_static", needle={"inferred": True})
    assert (plain.identity(), plain.asked()) == (inferred.identity(), inferred.asked())


def test_a_count_is_right_in_digits_or_letters() -> None:
    expected = {
        "4": (1.0, None),
        "Four times.": (1.0, None),
        "At hours 1 and 2 and later: 4": (1.0, None),
        "4.0": (1.0, None),
        "٤": (1.0, None),
        "４回": (1.0, None),
        "4.5": (0.0, "missing"),
        "14": (0.0, "miscount"),
        "5": (0.0, "miscount"),
        "often": (0.0, "missing"),
    }
    found = {answer: worth("aggregation", answer, "4", mode="count") for answer in expected}
    assert {key: (score.value, score.failure) for key, score in found.items()} == expected


LIST = "1. plum\n2. plums\n3. plum\n4. plum\nOdd line: 2"


@pytest.mark.parametrize(
    ("answer", "finish_reason", "value", "tag"),
    [
        (LIST, "stop", 1.0, None),
        (LIST.replace("Odd line: 2", "**Odd Line:** 2."), "stop", 1.0, None),
        (LIST.replace("1", "１").replace("2", "٢"), "stop", 1.0, None),
        (LIST.replace("4. plum\n", ""), "stop", 0.75, "miscopied"),
        (LIST.replace(": 2", ": 3"), "stop", 0.0, "wrong_place"),
        (LIST.replace("plums", "plum"), "stop", 0.0, "odd_lost"),
        ("1. plum\n2. plums", "length", 0.0, "incomplete"),
        ("1. plum\n2. plums", "stop", 0.0, "no_place"),
        ("Odd line: 2", "stop", 0.0, "odd_lost"),
    ],
)
def test_a_copy_is_worth_its_lines_where_the_odd_one_is_named(
    answer: str, finish_reason: str, value: float, tag: str | None
) -> None:
    score = worth("repeat", answer, LIST, finish_reason=finish_reason)
    assert (score.value, score.failure) == (value, tag)


NAMES = ("ABCDE", "FGHIJ", "KLMNO", "PQRST", "UVWXY")
VALUES = ("1111111", "2222222", "3333333", "4444444")


@pytest.mark.parametrize(
    ("option", "answers", "answer", "value", "failure"),
    [
        ("ruler_vt", NAMES, "ABCDE, FGHIJ, KLMNO, PQRST, UVWXY", 1.0, None),
        ("ruler_vt", NAMES, "abcde fghij klmno pqrst uvwxy and ZZZZZ", 1.0, None),
        ("ruler_vt", NAMES, "ABCDE, FGHIJ and KLMNO.", 0.6, "partial"),
        ("ruler_vt", NAMES, "ABCDEF, XFGHIJ", 0.0, "missing"),
        ("ruler_vt", NAMES, "", 0.0, "empty"),
        ("ruler_niah_multivalue", VALUES, "1111111, 2222222, 3333333 and 4444444", 1.0, None),
        ("ruler_niah_multivalue", VALUES, "1111111,2222222,3333333,4444444,5555555", 1.0, None),
        ("ruler_niah_multivalue", VALUES, "2222222; 1,111,111; 9999999", 0.5, "partial"),
        ("ruler_niah_multivalue", VALUES, "11111112 2222222", 0.25, "partial"),
        ("ruler_niah_multivalue", VALUES, "I don't know", 0.0, "refusal"),
    ],
)
def test_names_and_values_are_worth_the_share_that_is_named_whole(
    option: str, answers: tuple[str, ...], answer: str, value: float, failure: str | None
) -> None:
    score = worth(option, answer, *answers)
    assert score.value == pytest.approx(value)
    assert score.failure == failure


def test_a_needle_of_the_text_is_told_from_a_value_that_stands_nowhere() -> None:
    text = "The secret number of oak is 1111111. The secret number of elm is 2222222."
    expected = {
        ("2222222", "allowed"): (0.0, "wrong_needle"),
        ("9999999", "allowed"): (0.0, "hallucination"),
        ("1111111 or 2222222", "allowed"): (1.0, None),
        ("1111111 or 2222222", "wrong"): (0.0, "hedged"),
    }
    found = {
        (answer, hedging): worth("ruler_niah_multikey_2", answer, "1111111", text=text, hedging=hedging)
        for answer, hedging in expected
    }
    assert {key: (score.value, score.failure) for key, score in found.items()} == expected


def test_whether_hedging_is_allowed_is_a_rule_of_judging_and_no_part_of_what_is_asked() -> None:
    allowed, wrong = (shipped("niah_multikey", hedging=hedging) for hedging in ("allowed", "wrong"))
    assert (allowed.identity(), allowed.asked()) == (wrong.identity(), wrong.asked())
    assert "hedging" not in {*allowed.traits.idle, *wrong.traits.idle}  # what is idle is no part of the rule either
