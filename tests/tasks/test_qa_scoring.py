"""What an answer is worth by the kind of its question and by what decides it, and that each imperfect one has a tag."""

from __future__ import annotations

import json
from copy import deepcopy
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contextcliff.errors import ConfigError
from contextcliff.findings.answer_measures import TAGS
from contextcliff.records.generation import Score
from contextcliff.records.sample import Reference
from contextcliff.tasks.questions.answers import Format, parse_answer
from contextcliff.tasks.questions.qa_scoring import (
    OwnMetric,
    context_words_of,
    refuse_metric,
    score_by,
    scored,
    settled,
)
from tests.make import scored_sample
from tests.tasks.needles import said

TEXT = "The stock exchange of Warsaw was established in 1817 by the governor. It closed in the autumn of 1939."
SAMPLE = replace(scored_sample(1_000, 1.0).sample, question="When was the exchange established?")


def score(
    raw: str,
    *,
    kind: str = "short",
    references: tuple[str, ...] = ("in 1817", "1817"),
    choices: tuple[str, ...] = (),
    format: Format = "plain",
    finish_reason: str = "stop",
    metric: str = "f1",
    control: str | None = None,
) -> Score:
    reference = Reference(kind=kind, choices=choices)
    return scored(
        replace(SAMPLE, answers=references, reference=reference, control=control),
        said(raw, finish_reason),
        answer=parse_answer(raw, format=format, whole=kind == "summary"),
        format=format,
        context_words=context_words_of(TEXT),
        metric=metric,
    )


def measures(em: float, f1: float, contains: float, *, false_refusal: float = 0.0) -> dict[str, float]:
    return {"em": em, "f1": f1, "contains_reference": contains, "false_refusal": false_refusal}


def test_a_right_phrase_has_the_full_score_and_no_tag_however_it_ended() -> None:
    right = Score(value=1.0, prediction="1817", failure=None, details=measures(1.0, 1.0, 1.0))
    assert score("1817\nIt stands in the first sen", finish_reason="length") == right
    assert score('{"answer": 1817}', format="json") == right
    assert score("In 1817.").details["em"] == 1.0


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
    found = score(raw)
    assert found.value == pytest.approx(value)
    assert found.failure == failure
    assert found.details == measures(0.0, found.value, float(failure == "verbose"))


def test_a_false_refusal_is_marked_and_one_without_evidence_is_not() -> None:
    for control, marked in ((None, 1.0), ("ceiling", 1.0), ("floor", 0.0)):
        found = score("It is not mentioned.", control=control)
        assert (found.failure, found.details["false_refusal"]) == ("refusal", marked)


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
    found = score(raw, kind="choice", references=("No",), choices=choices)
    assert (found.value, found.prediction, found.failure) == (value, prediction, failure)
    assert found.details == measures(value, value, value, false_refusal=float(failure == "refusal"))


def test_a_summary_is_scored_by_rouge_l_and_has_no_line_between_right_and_wrong() -> None:
    told = "The exchange was established in 1817.\n\nIt closed in 1939."
    found = score(told, kind="summary", references=(TEXT, told), metric="em")
    assert (found.value, found.failure, found.prediction) == (1.0, None, told.replace("\n\n", "\n"))
    assert "contains_reference" not in found.details
    near = score("The exchange closed.", kind="summary", references=(told,))
    assert 0.0 < near.value < 1.0
    assert near.failure is None
    assert score("The exchange closed in", kind="summary", references=(told,), finish_reason="length").failure == (
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
    found = score("the autumn of 1817", metric=metric)
    assert found.value == pytest.approx(value)
    assert found.failure == failure
    assert found.details == measures(0.0, 0.5, 1.0)


@given(
    answer=st.text(max_size=40)
    | st.lists(st.sampled_from([*TEXT.split(), "Brunel", "unknown", "{", "}"]), max_size=30).map(" ".join)
    | st.sampled_from(["1817", "in the year 1817", "B", "unknown", "the governor"]),
    kind=st.sampled_from(["short", "choice", "summary"]),
    format=st.sampled_from(["plain", "json"]),
    wrapped=st.booleans(),
)
def test_scores_lie_between_0_and_1_and_all_but_a_right_answer_have_one_tag(
    answer: str, kind: str, format: Format, wrapped: bool
) -> None:
    raw = json.dumps({"answer": answer}) if wrapped else answer
    found = score(raw, kind=kind, choices=("1817", "1939"), format=format)
    assert all(0.0 <= measure <= 1.0 for measure in (found.value, *found.details.values()))
    assert found.failure in (None, *TAGS)
    assert not found.details["false_refusal"] or found.failure in ("refusal", "schema")
    if kind != "summary":
        assert (found.failure is None) is (found.details["em"] == 1.0)
        assert found.details["contains_reference"] == float(found.failure in (None, "verbose"))


@pytest.mark.parametrize(
    ("references", "metric"),
    [
        (("Otto Lindqvist",), "contains"),
        (("the very last day of the month of May",), "f1"),  # seven words without its articles
        (("the day of the first of May",), "contains"),  # six without its two articles
        (("in 1817", "it was in the year 1817 of the king"), "f1"),  # each accepted answer has to be short
        (("東京都千代田区丸の内一丁目九番一号",), "contains"),
        (("灯台守の日記に書かれていた三番目の船の名前であるはず",), "f1"),
    ],
)
def test_short_accepted_answers_are_looked_for_and_long_ones_compared(references: tuple[str, ...], metric: str) -> None:
    assert settled("auto", references) == metric
    assert settled("em", references) == "em"


def test_a_scorer_of_ones_own_is_called_with_the_answer_and_all_references() -> None:
    own = OwnMetric("mine.scorer", lambda *given: 0.25 if given == ("said", ("one", "two")) else 0.0)
    assert score_by(own, "said", ["one", "two"], contains=True) == 0.25
    assert (str(own), settled(own, ("one",)), deepcopy(own)) == ("mine.scorer", own, own)
    refuse_metric(own)


@pytest.mark.parametrize("returned", [1.5, -0.1, float("nan"), "1", None, [1.0], 1j])
def test_a_scorer_that_returns_no_number_from_0_to_1_is_named_with_the_answer(returned: Any) -> None:
    with pytest.raises(ConfigError, match=r"^task\.metric=mine\.scorer: .* the answer 'said'.* from 0 to 1$"):
        OwnMetric("mine.scorer", lambda *_: returned)("said", ("one",))


def test_a_scorer_that_raises_is_named_in_one_line() -> None:
    def scorer(prediction: str, references: tuple[str, ...]) -> float:
        raise KeyError("a\nb")

    with pytest.raises(ConfigError) as error:
        OwnMetric("mine.scorer", scorer)("said\nso", ("one",))
    assert "\n" not in str(error.value)
    assert "KeyError" in str(error.value)


@pytest.mark.parametrize("metric", ["bleu", 3, ["f1"], {"a": 1}])
def test_a_metric_that_is_not_there_is_refused_with_those_that_are(metric: object) -> None:
    with pytest.raises(ValueError, match=r"is unknown; choose one of auto, contains, f1, em, rouge_l, judge, or a "):
        refuse_metric(metric)
