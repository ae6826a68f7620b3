"""A wrong answer has one tag, by a fixed order; a refusal is known in six languages."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from contextcliff.findings.answer_measures import TAGS
from contextcliff.records.sample import Reference
from contextcliff.tasks.questions.answers import Format, contains_reference, parse_answer
from contextcliff.tasks.questions.qa_scoring import context_words_of, failure_of
from contextcliff.tasks.values import is_refusal
from tests.make import scored_sample
from tests.tasks.needles import said

SAMPLE = scored_sample(1_000, 1.0).sample
TEXT = (
    "The lighthouse of Skerrow was built in 1,817 by the engineer Otto Lindqvist. The keeper's daughter Marit lit "
    "the lamp herself on the night of the storm, because her father lay ill with a fever."
)
RAMBLING = (
    "Marit lit the lamp, and the lamp of the lighthouse was lit by Marit on the night of the storm, " * 3 + "again."
)


def failure(
    reply: str,
    *,
    references: tuple[str, ...] = ("the engineer Otto Lindqvist",),
    finish_reason: str = "stop",
    format: Format = "plain",
    context: str = TEXT,
    kind: str = "short",
    question: str = "Who built the lighthouse of Skerrow?",
    control: str | None = None,
) -> tuple[str, bool]:
    answer = parse_answer(reply, format=format, whole=kind == "summary")
    return failure_of(
        replace(SAMPLE, question=question, answers=references, reference=Reference(kind=kind), control=control),
        said(reply, finish_reason),
        answer,
        format=format,
        context_words=context_words_of(context),
        contains_reference=contains_reference(answer or "", references, question=question),
    )


def tag_of(reply: str, **values: Any) -> str:
    return failure(reply, **values)[0]


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
    assert failure("I don't know.") == ("refusal", True)
    assert failure("I don't know.", control="floor") == ("refusal", False)
    assert failure("I'm sorry, it isn't mentioned.", format="json") == ("schema", True)
    assert failure("Marit", format="json") == ("schema", False)


def test_what_a_reference_says_too_is_no_refusal() -> None:
    assert tag_of("His name is unknown", references=("unknown",)) != "refusal"
    assert tag_of("Unknown to Otto", references=("His name is unknown",), context="") == "wrong"


def test_words_of_a_reference_are_never_invented_and_an_unknown_text_accuses_nobody() -> None:
    assert tag_of("a Swede", references=("a man from Sweden, a Swede by birth",)) == "wrong"
    assert tag_of("Brunel") == "hallucination"
    assert tag_of("Brunel", context="") == "wrong"


def test_a_choice_is_never_partly_right_nor_a_summary_right_in_too_many_words() -> None:
    assert tag_of("Otto Lindqvist", kind="choice") == "wrong"
    assert tag_of("It was the engineer Otto Lindqvist", kind="choice") == "wrong"
    assert tag_of("It was the engineer Otto Lindqvist", kind="summary") == "wrong"


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
