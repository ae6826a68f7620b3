"""What is taken for the answer of a reply, and what is refused as no answer in the form asked for."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contextcliff.tasks.questions.answer_format import MAX_REPLY_CHARACTERS, chosen_letter, parse_answer

CITIES = ("Paris", "New York", "York", "Rome")


@pytest.mark.parametrize(
    ("reply", "answer"),
    [
        ('{"answer": "Paris"}', "Paris"),
        ('  \ufeff{"answer": " Paris ", "quote": "in Paris"}\n', "Paris"),
        ('{"answer": 1817}', "1817"),
        ('{"answer": 1.50}', "1.50"),  # as it was written
        ('{"answer": ""}', ""),
        ('```json\n{"answer": "Paris"}\n```', "Paris"),
        ('Here it is:\n{"answer": "Paris"}\nI hope this helps.', "Paris"),
        ('Of the set {a, b} it is {"answer": "b"}', "b"),
        ('{"answer": "a {brace}"}', "a {brace}"),
        (r'{"answer": "\u6771\u4eac"}', "東京"),
        (r'{"answer": "\ud800x"}', "?x"),  # half a surrogate pair could not be written to a file
        ("{“answer”: “Paris”}", "Paris"),  # a writer's quotes
        ('{"answer": "the “old” town"}', "the “old” town"),
        ('{"answer": ' + "9" * 5000 + "}", "9" * 5000),
    ],
)
def test_json_is_one_object_with_an_answer(reply: str, answer: str) -> None:
    parsed = parse_answer(reply, format="json")
    assert (parsed.answer, parsed.problem) == (answer, None)


@pytest.mark.parametrize(
    ("reply", "problem"),
    [
        ("", "is empty"),
        ("Paris", "holds no JSON object"),
        ("{'answer': 'Paris'}", "holds no JSON object"),
        ('"Paris"', "is JSON, but no object"),
        ('[{"answer": "Paris"}]', "is JSON, but no object"),
        ('{"Answer": "Paris"}', 'lacks the key "answer"'),
        ('Sure! {"city": "Paris"}', 'lacks the key "answer"'),
        ('{"answer": null}', '"answer" is neither a string nor a number'),
        ('{"answer": true}', '"answer" is neither a string nor a number'),
        ('{"answer": ["Paris"]}', '"answer" is neither a string nor a number'),
        ('{"answer": "Paris"} or {"answer": "Rome"}', "holds 2 JSON objects"),
        ('{"answer": "Par', "holds an object that is not JSON"),
        ('{"steps": [{"answer": "Rome"}], "answer": "Par', "holds an object that is not JSON"),  # the inner one is none
        ('{"answer": "Paris", "answer": "Rome"}', "holds an object that is not JSON"),
        ('{"answer": NaN}', "holds an object that is not JSON"),
        ('{"answer": "Paris",}', "holds an object that is not JSON"),
        ('{"a":' * 6000, "holds an object that is not JSON"),  # deeper than any parser goes
        ('{"answer": "' + "x" * MAX_REPLY_CHARACTERS + '"}', f"is longer than {MAX_REPLY_CHARACTERS:,} characters"),
    ],
)
def test_anything_else_is_a_problem_with_a_name(reply: str, problem: str) -> None:
    parsed = parse_answer(reply, format="json")
    assert (parsed.answer, parsed.problem) == (None, problem)


@given(answer=st.text(max_size=30), before=st.text(alphabet="ab\n{}[]`", max_size=8))
def test_a_well_formed_object_is_read_whatever_stands_before_it(answer: str, before: str) -> None:
    reply = json.dumps({"answer": answer})
    assert parse_answer(reply, format="json").answer == answer.strip()
    if "{}" not in before and not before.endswith("{"):
        assert parse_answer(f"{before} {reply}", format="json").answer == answer.strip() or "{" in before


@pytest.mark.parametrize(
    ("reply", "answer"),
    [
        ("Paris", "Paris"),
        ("\n\n  Paris  \nIt is the capital.", "Paris"),
        ("Answer: Paris", "Paris"),
        ("**Answer:** Paris", "Paris"),
        ("**Answer: Paris**", "Paris"),
        ("**Answer**: **Paris**", "Paris"),
        ("The answer is Paris", "Paris"),
        ("The final answer is: “Paris”", "Paris"),
        ("Answer:\nParis", "Paris"),
        ("Here is what the text says:\n- Paris", "Paris"),
        ("It stands in this sentence:", "It stands in this sentence:"),  # nothing follows
        ("```\nParis\n```", "Paris"),
        ("---\n# Paris", "Paris"),
        ("`Paris`", "Paris"),
        ('"Paris" and "Rome"', '"Paris" and "Rome"'),
        ("-5 °C", "-5 °C"),
        ("A. Lincoln", "A. Lincoln"),
        ("Antwort: Paris", "Paris"),
        ("Die Antwort lautet Paris", "Paris"),
        ("La réponse est Paris", "Paris"),
        ("答えは東京です。", "東京です"),  # the score takes the polite end off
        ("答案是北京。", "北京"),
        ("答え：「東京」。", "「東京」"),
        ("東京。", "東京"),
        (" \n\t", ""),
        ("***\n```", ""),
    ],
)
def test_plain_is_the_first_line_that_says_something_without_its_dress(reply: str, answer: str) -> None:
    parsed = parse_answer(reply, format="plain")
    assert (parsed.answer, parsed.problem) == (answer, None)


def test_a_summary_keeps_its_lines() -> None:
    reply = "Summary of the text.\n\n**Emma** marries.\nShe is not happy."
    assert parse_answer(reply, format="plain", whole=True).answer == (
        "Summary of the text.\n**Emma** marries.\nShe is not happy."
    )


@given(reply=st.text(max_size=60))
def test_every_reply_is_read_or_refused(reply: str) -> None:
    assert parse_answer(reply, format="plain").answer is not None
    parsed = parse_answer(reply, format="json")
    assert (parsed.answer is None) is (parsed.problem is not None)
    assert chosen_letter(reply, CITIES) in (None, *"ABCD")


@pytest.mark.parametrize(
    "flood", ["{" * 30_000, '{"' * 15_000, "'" * 30_000, "**" * 15_000, "{ " * 15_000, "(" * 30_000]
)
def test_a_flood_of_marks_is_read_to_its_end(flood: str) -> None:
    parse_answer(flood, format="json")
    parse_answer(flood, format="plain")
    chosen_letter(flood, CITIES)


def test_a_choice_is_taken_by_its_letter_or_by_its_full_text() -> None:
    expected = {
        "B": "B",
        "b": "B",
        "Ｂ": "B",
        "(B)": "B",
        "[B]": "B",
        "B.": "B",
        "B) New York": "B",
        "B. New York": "B",
        "B New York": "B",
        "B: because the text says so": "B",
        "Answer: B": "B",
        "**B**": "B",
        "Option B": "B",
        "The correct answer is (B).": "B",
        "New York": "B",
        "york.": "C",
        "E": None,  # there are four choices
        "Berlin": None,
        "A or B": None,
        "(A) or (B)": None,
        "A. Rome": None,  # a letter with the text of another choice
        "A cat": None,
        "not Paris": None,
        "": None,
    }
    assert {answer: chosen_letter(answer, CITIES) for answer in expected} == expected


def test_a_text_that_begins_like_a_letter_is_its_own_choice_and_equal_texts_need_the_letter() -> None:
    assert chosen_letter("A. Lincoln", ("G. Washington", "A. Lincoln")) == "B"
    assert chosen_letter("No", ("Yes", "No", "no")) is None
    assert chosen_letter("C", ("Yes", "No", "no")) == "C"
