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
from contextcliff.tasks.values import is_refusal
from tests.make import scored_sample
from tests.tasks.needles import said

TEXT = "The stock exchange of Warsaw was established in 1817 by the governor. It closed in the autumn of 1939."
SAMPLE = scored_sample(1_000, 1.0).sample


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
    question: str = "When was the exchange established?",
    context: str = TEXT,
) -> Score:
    reference = Reference(kind=kind, choices=choices)
    return scored(
        replace(SAMPLE, question=question, answers=references, reference=reference, control=control),
        said(raw, finish_reason),
        answer=parse_answer(raw, format=format, whole=kind == "summary"),
        format=format,
        context_words=context_words_of(context),
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


SKERROW = (
    "The lighthouse of Skerrow was built in 1,817 by the engineer Otto Lindqvist. The keeper's daughter Marit lit "
    "the lamp herself on the night of the storm, because her father lay ill with a fever."
)
RAMBLING = (
    "Marit lit the lamp, and the lamp of the lighthouse was lit by Marit on the night of the storm, " * 3 + "again."
)


def failed(reply: str, **values: Any) -> tuple[str | None, bool]:
    """The tag of a wrong answer on the lighthouse of Skerrow, and whether it is a false refusal."""
    asked = {"references": ("the engineer Otto Lindqvist",), "question": "Who built the lighthouse of Skerrow?"}
    found = score(reply, **{"context": SKERROW, **asked, **values})
    return found.failure, bool(found.details["false_refusal"])


def tag_of(reply: str, **values: Any) -> str | None:
    return failed(reply, **values)[0]


def test_the_first_tag_of_the_order_that_holds() -> None:
    expected: dict[tuple[str, Format, str], str] = {
        ("  \n", "plain", "length"): "empty",
        ('{"answer": " "}', "json", "stop"): "empty",
        ("Marit", "json", "stop"): "schema",
        ('{"answer": "Ma', "json", "length"): "schema",
        ("It was the engineer Otto Lindqvist.", "plain", "stop"): "verbose",
        ('{"answer": "The engineer Otto Lindqvist, in 1817"}', "json", "stop"): "verbose",
        ("The engineer Otto Lindqvist", "json", "stop"): "schema",  # no JSON: nothing was answered
        ("I'm sorry, but it was the engineer Otto Lindqvist.", "plain", "stop"): "verbose",
        ("The engineer Otto Lindqvist built it in 1817 and the", "plain", "length"): "verbose",
        (f"The engineer Otto Lindqvist built it. {RAMBLING}", "plain", "stop"): "verbose",
        ("The text does not say whether the engineer Otto Lindqvist built it", "plain", "stop"): "refusal",
        ("It was not the engineer Otto Lindqvist", "plain", "stop"): "partial",
        ('{"answer": "unknown"}', "json", "stop"): "refusal",
        ("Marit", "plain", "length"): "incomplete",
        ("Marit\nShe lit the lamp on the night of", "plain", "length"): "wrong",  # cut behind the answer
        ('{"answer": "Marit"} She lit the', "json", "length"): "wrong",
        ("Brunel and the", "plain", "stop"): "incomplete",
        (RAMBLING, "plain", "stop"): "drift",
        ("Bananas, mangoes, papayas, oranges, cherries, apples!", "plain", "stop"): "drift",
        ("Otto Lindqvist, a keeper", "plain", "stop"): "partial",
        ("Marit", "plain", "stop"): "wrong",
        ("In 1817", "plain", "stop"): "wrong",  # the text writes 1,817
        ("the lighthouse of Skerrow", "plain", "stop"): "wrong",  # says nothing that the question doesn't
    }
    assert {
        (reply, format, finish_reason): tag_of(reply, format=format, finish_reason=finish_reason)
        for reply, format, finish_reason in expected
    } == expected


def test_the_order_decides_where_several_hold() -> None:
    several = {  # each also has what its right neighbours are tagged for
        "empty": tag_of("", format="json", finish_reason="length"),
        "schema": tag_of("I don't know Brunel,", format="json", finish_reason="length"),
        "verbose": tag_of("I'm sorry, but the engineer Otto Lindqvist and the", finish_reason="length"),
        "refusal": tag_of("I don't know Brunel,", finish_reason="length"),
        "incomplete": tag_of("Brunel", finish_reason="length"),
        "hallucination": tag_of("Brunel, Telford and Smeaton built the lighthouse " * 6 + "together."),
        "drift": tag_of(RAMBLING),
        "partial": tag_of("Otto Lindqvist, keeper"),
        "wrong": tag_of("Marit"),
    }
    assert list(several.values()) == list(several) == list(TAGS)


def test_a_refusal_is_false_where_the_evidence_was_there() -> None:
    for control, is_false in ((None, True), ("ceiling", True), ("floor", False)):
        assert failed("I don't know.", control=control) == ("refusal", is_false)
    assert failed("I'm sorry, it isn't mentioned.", format="json") == ("schema", True)
    assert failed("Marit", format="json") == ("schema", False)


def test_what_a_reference_says_too_is_no_refusal() -> None:
    assert tag_of("His name is unknown", references=("unknown",)) != "refusal"
    assert tag_of("Unknown to Otto", references=("His name is unknown",), context="") == "wrong"


def test_words_of_a_reference_are_never_invented_and_an_unknown_text_accuses_nobody() -> None:
    assert tag_of("a Swede", references=("a man from Sweden, a Swede by birth",)) == "wrong"
    assert tag_of("Brunel") == "hallucination"
    assert tag_of("Brunel", context="") == "wrong"


def test_a_choice_is_never_partly_right() -> None:
    assert tag_of("Otto Lindqvist", kind="choice") == "wrong"
    assert tag_of("It was the engineer Otto Lindqvist", kind="choice") == "wrong"


def test_words_of_a_text_without_spaces_are_pairs_of_characters() -> None:
    story = "ジョバンニは銀河鉄道に乗った。犬がいた。"
    asked = "誰が乗りましたか"
    tags = {
        answer: tag_of(answer, references=("ジョバンニ",), context=story, question=asked)
        for answer in ("銀河鉄道", "犬", "猫", "織田信長", "ジョバンニは", "ジョバンニではない")
    }
    assert tags == {
        "銀河鉄道": "wrong", "犬": "wrong", "猫": "hallucination", "織田信長": "hallucination",
        "ジョバンニは": "verbose", "ジョバンニではない": "partial",
    }  # fmt: skip


REFUSALS = """
I'm sorry, I can't help. | The passage doesn’t mention it. | Das weiß ich leider nicht. | Es tut mir leid.
Das wird im Text nicht erwähnt. | Der Text enthält keine Angaben dazu. | Aus dem Text geht das nicht hervor.
Ich kann die Frage nicht beantworten. | Je ne sais pas. | Désolé, je ne trouve pas.
Ce n'est pas mentionné dans le texte. | Le texte ne précise pas son nom. | Aucune information
Lo siento, no puedo responder. | No lo sé | No se menciona en el texto. | El texto no especifica su nombre.
desconocido | わかりません。 | 申し訳ありませんが、お答えできません。 | 本文には記載されていません。
本文には書かれていない | その情報はありません | 不明 | 我不知道 | 抱歉,我无法回答。 | 文中没有提到。
無法從文中確定 | 原文未提及
"""
NONE = """
Otto Lindqvist | He knew nothing of it | Er war nicht zu Hause | ein Bekannter | Il ne voulait pas partir
No, se fue a Madrid | nosotros | 行方不明になった人 | 彼は答えた | 他不知道真相 | 没有钱 | 信息中心
"""


def test_a_refusal_in_six_languages_and_an_answer_that_only_looks_like_one() -> None:
    for texts, expected in ((REFUSALS, True), (NONE, False)):
        answers = [answer.strip() for line in texts.strip().splitlines() for answer in line.split("|")]
        assert {answer: is_refusal(answer) for answer in answers} == dict.fromkeys(answers, expected)
