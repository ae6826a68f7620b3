"""What an answer is worth by the kind of its question, and that each imperfect one has a tag."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contextcliff.tasks.questions.answer_format import Format, parse_answer
from contextcliff.tasks.questions.qa_scoring import QaScore, score_answer
from contextcliff.tasks.questions.taxonomy import context_words_of

TEXT = "The stock exchange of Warsaw was established in 1817 by the governor. It closed in the autumn of 1939."


def scored(
    raw: str,
    *,
    kind: str = "short",
    references: tuple[str, ...] = ("in 1817", "1817"),
    choices: tuple[str, ...] = (),
    format: Format = "plain",
    finish_reason: str = "stop",
    metric: str = "f1",
    evidence_present: bool = True,
) -> QaScore:
    return score_answer(
        raw,
        parsed=parse_answer(raw, format=format, whole=kind == "summary"),
        question_kind=kind,
        references=references,
        choices=choices,
        format=format,
        context_words=context_words_of(TEXT),
        question="When was the exchange established?",
        finish_reason=finish_reason,
        metric=metric,
        evidence_present=evidence_present,
    )


def test_a_right_phrase_has_the_full_score_and_no_tag_however_it_ended() -> None:
    right = QaScore(
        value=1.0, em=1.0, f1=1.0, contains_reference=1.0, prediction="1817", failure=None, false_refusal=False
    )
    assert scored("1817\nIt stands in the first sen", finish_reason="length") == right
    assert scored('{"answer": 1817}', format="json") == right
    assert scored("In 1817.").em == 1.0


@pytest.mark.parametrize(
    ("raw", "value", "failure"),
    [
        ("in 1939", 0.5, "wrong"),  # all that it shares with a reference is "in"
        ("the autumn of 1817", 0.5, "verbose"),
        ("It was established in the year 1817", 0.5, "verbose"),
        ("It was established by the governor in the year 1817", 0.4, "verbose"),
        ("It was established by the governor, not in 1817", 0.4, "wrong"),
        ("1939", 0.0, "wrong"),
        ("1492", 0.0, "hallucination"),
        ("", 0.0, "empty"),
    ],
)
def test_a_phrase_is_scored_by_f1_and_tagged_where_it_is_no_exact_match(raw: str, value: float, failure: str) -> None:
    found = scored(raw)
    assert found.value == pytest.approx(value)
    assert (found.em, found.failure) == (0.0, failure)
    assert found.contains_reference == float(failure == "verbose")


def test_a_reply_that_cannot_be_parsed_is_worth_nothing_and_is_shown_as_it_is() -> None:
    assert scored(" 1817 ", format="json") == QaScore(
        value=0.0, em=0.0, f1=0.0, contains_reference=0.0, prediction="1817", failure="schema", false_refusal=False
    )


def test_a_false_refusal_is_marked_and_one_without_evidence_is_not() -> None:
    assert scored("It is not mentioned.").false_refusal
    withheld = scored("It is not mentioned.", evidence_present=False)
    assert (withheld.failure, withheld.false_refusal) == ("refusal", False)


@pytest.mark.parametrize(
    ("raw", "value", "prediction", "failure"),
    [
        ("B", 1.0, "No", None),
        ("(b) No", 1.0, "No", None),
        ("no", 1.0, "No", None),
        ("A", 0.0, "Yes", "wrong"),
        ("C", 0.0, "It cannot be determined", "wrong"),  # an option that reads like a refusal is none
        ("D", 0.0, "In Atlantis, by the king of the sea", "wrong"),  # nor is one invented by who takes it
        ("I don't know", 0.0, "I don't know", "refusal"),
        ("Perhaps", 0.0, "Perhaps", "hallucination"),
        ("", 0.0, "", "empty"),
    ],
)
def test_a_choice_is_right_or_wrong(raw: str, value: float, prediction: str, failure: str | None) -> None:
    choices = ("Yes", "No", "It cannot be determined", "In Atlantis, by the king of the sea")
    found = scored(raw, kind="choice", references=("No",), choices=choices)
    assert (found.value, found.em, found.f1) == (value, value, value)
    assert (found.prediction, found.failure) == (prediction, failure)


def test_a_choice_comes_in_json_too() -> None:
    choices = ("1817", "1939")
    assert scored('{"answer": "A"}', kind="choice", references=("1817",), choices=choices, format="json").value == 1.0
    assert scored("A", kind="choice", references=("1817",), choices=choices, format="json").failure == "schema"


def test_a_summary_is_scored_by_rouge_l_and_has_no_line_between_right_and_wrong() -> None:
    told = "The exchange was established in 1817.\n\nIt closed in 1939."
    found = scored(told, kind="summary", references=(TEXT, told), metric="em")
    assert (found.value, found.failure, found.prediction) == (1.0, None, told.replace("\n\n", "\n"))
    assert found.contains_reference is None
    near = scored("The exchange closed.", kind="summary", references=(told,))
    assert 0.0 < near.value < 1.0
    assert near.failure is None
    assert scored("The exchange closed in", kind="summary", references=(told,), finish_reason="length").failure == (
        "incomplete"
    )


@pytest.mark.parametrize(
    ("metric", "value", "failure"),
    [
        ("em", 0.0, "verbose"), ("f1", 0.5, "verbose"), ("rouge_l", 0.4, "verbose"),
        ("contains", 1.0, None), ("auto", 1.0, None), ("judge", 1.0, None),
    ],
)  # fmt: skip
def test_a_phrase_can_be_scored_by_another_metric(metric: str, value: float, failure: str | None) -> None:
    found = scored("the autumn of 1817", metric=metric)
    assert found.value == pytest.approx(value)
    assert (found.em, found.f1, found.contains_reference, found.failure) == (0.0, 0.5, 1.0, failure)


@pytest.mark.parametrize(
    "raw", ["It was not in 1817, but in 1939.", "1817 or 1939", "The text does not say whether it was in 1817."]
)
def test_by_contains_an_answer_that_is_taken_back_is_wrong(raw: str) -> None:
    found = scored(raw, metric="contains")
    assert (found.value, found.contains_reference) == (0.0, 0.0)
    assert found.failure is not None


@given(
    said=st.text(max_size=30) | st.sampled_from(["1817", "in the year 1817", "B", "unknown", "the governor"]),
    kind=st.sampled_from(["short", "choice", "summary"]),
    format=st.sampled_from(["plain", "json"]),
    wrapped=st.booleans(),
)
def test_scores_lie_between_0_and_1_and_only_a_right_answer_has_no_tag(
    said: str, kind: str, format: Format, wrapped: bool
) -> None:
    raw = json.dumps({"answer": said}) if wrapped else said
    found = scored(raw, kind=kind, choices=("1817", "1939"), format=format)
    assert all(0.0 <= measure <= 1.0 for measure in (found.value, found.em, found.f1))
    if kind != "summary":
        assert (found.failure is None) is (found.em == 1.0)
        assert found.contains_reference == float(found.failure in (None, "verbose"))
