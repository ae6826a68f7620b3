"""Questions of one's own: what a row may tell, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from contextcliff.datasets.jsonl import Jsonl
from contextcliff.errors import ConfigError
from contextcliff.records.corpus import Corpus, Span
from tests.datasets.made_files import SHARED, WHY_SHARED, json_lines

shared = pytest.mark.skipif(not SHARED.is_dir(), reason=WHY_SHARED)
TEXT = "The ship sailed.\r\n\r\nThe ship came back in May. It was late."
ROW = {"context": TEXT, "question": "When?", "answers": ["May", "in May"]}


def read(path: str, **settings: object) -> Corpus:
    return Jsonl(path=path, **settings).corpus(tokens=1, seed=0)  # type: ignore[arg-type]


def refusal(path: str, **settings: object) -> str:
    with pytest.raises(ConfigError) as raised:
        read(path, **settings)
    return str(raised.value)


@shared
def test_a_parquet_file_of_several_tasks() -> None:
    corpus = read(str(SHARED / "longdoc_qa.parquet"), metadata=("task", "licence"))
    assert (len(corpus.documents), len(corpus.questions)) == (30, 153)
    assert sum(question.kind == "choice" for question in corpus.questions) == 28
    assert {question.metadata["task"] for question in corpus.questions} == {"qasper", "natural_questions", "quality"}
    assert corpus.documents[0].document_id == "natural_questions-17"


def test_equal_texts_are_one_document_with_a_name_of_its_contents(tmp_path: Path) -> None:
    other = ROW | {"context": TEXT.replace("\r\n", "\n"), "question": "Was it late?"}
    corpus = read(json_lines(tmp_path / "a.jsonl", [ROW, other, ROW | {"context": "Else."}]))
    assert len(corpus.documents) == 2
    name = corpus.documents[0].document_id
    assert [question.question_id for question in corpus.questions][:2] == [f"{name}-1", f"{name}-2"]
    assert corpus.documents[0].text == "The ship sailed.\n\nThe ship came back in May. It was late."


def test_everything_that_a_row_may_tell(tmp_path: Path) -> None:
    row = ROW | {
        "id": 7,
        "doc_id": "log",
        "title": "Ship's log",
        "evidence": ["came back in May", [4, 8]],
        "level": 2,
        "metadata": {"sea": "calm", "crew": 12, "war": None},
        "port": "Hull",
        "proven": True,
    }
    corpus = read(json_lines(tmp_path / "a.jsonl", [row]), metadata=("port", "proven"), kind="summary", language="de")
    (document,), (question,) = corpus.documents, corpus.questions
    assert (document.document_id, document.title, document.language) == ("log", "Ship's log", "de")
    assert (question.question_id, question.kind, question.level) == ("7", "summary", 2)
    assert [document.text[span.start : span.end] for span in question.evidence] == ["came back in May", "ship"]
    assert question.metadata == {"sea": "calm", "crew": 12, "port": "Hull", "proven": "true"}


def test_places_are_those_of_the_file_also_where_its_lines_end_as_on_windows(tmp_path: Path) -> None:
    start = TEXT.index("May")
    corpus = read(json_lines(tmp_path / "a.jsonl", [ROW | {"evidence": [[start, start + 3]]}]))
    (span,) = corpus.questions[0].evidence
    assert corpus.documents[0].text[span.start : span.end] == "May"
    assert span == Span(start=start - 2, end=start + 1)


def test_choices_need_no_answers_beside_them(tmp_path: Path) -> None:
    row = {"context": "x", "question": "y", "choices": ["a", "b "], "answer_index": 1}
    (question,) = read(json_lines(tmp_path / "a.jsonl", [row])).questions
    assert (question.kind, question.choices, question.answers) == ("choice", ("a", "b"), ("b",))


REFUSED: dict[str, tuple[dict[str, object], str]] = {
    "no answers": ({"answers": None}, "answers is missing"),
    "an empty answer list": ({"answers": []}, "has no answer; give at least one"),
    "one answer without its list": ({"answers": "May"}, "answers must be a list, got 'May'"),
    "a negative index": (
        {"choices": ["a", "b"], "answer_index": -1},
        "answer_index=-1 is out of range: there are 2 choices, counted from 0",
    ),
    "choices without an index": (
        {"choices": ["a", "b"]},
        "answer_index is missing; it has context, question, answers, choices",
    ),
    "an index against the answers": (
        {"choices": ["May", "June"], "answer_index": 1},
        "answer_index=1 is a choice that is not among its answers",
    ),
    "equal choices": (
        {"choices": ["a", "a"], "answer_index": 0, "answers": ["a"]},
        "has two equal choices; make each of them different",
    ),
    "more choices than letters": (
        {"choices": [str(number) for number in range(27)], "answer_index": 0, "answers": ["0"]},
        "has 27 choices; give at most 26, one for each letter",
    ),
    "a quote that is not in the text": (
        {"evidence": ["The boat"]},
        "evidence 'The boat' is not in its text; quote it exactly",
    ),
    "a quote that stands twice": (
        {"evidence": ["The ship"]},
        "evidence 'The ship' occurs more than once in its text; quote more of it",
    ),
    "a place outside of the text": (
        {"evidence": [[50, 5000]]},
        "evidence [50, 5000] is outside its text of 57 characters",
    ),
    "evidence of another kind": (
        {"evidence": [{"quote": "x"}]},
        "evidence must be a list of quotes or of [start, end]",
    ),
    "a fact that is a list": ({"metadata": {"a": [1]}}, "a must be text or a number, as metadata is"),
    "a fact that is no number": ({"metadata": {"a": float("nan")}}, "a=nan is not a finite number"),
    "an id of several lines": ({"id": "a\nb"}, "id must be one line of up to 200 characters"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_a_row_that_can_not_be_asked_is_named(tmp_path: Path, case: str) -> None:
    change, message = REFUSED[case]
    (tmp_path / "a.jsonl").write_text(json.dumps(ROW | change))
    assert refusal(str(tmp_path / "a.jsonl")) == f"dataset.path={tmp_path / 'a.jsonl'}: line 1: {message}"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({}, "question id q is used twice; give each question its own"),
        ({"id": "p", "context": "Else."}, "document d has two different texts"),
    ],
)
def test_one_id_for_two_is_refused(tmp_path: Path, change: dict[str, object], message: str) -> None:
    row = ROW | {"id": "q", "doc_id": "d"}
    path = json_lines(tmp_path / "a.jsonl", [row, row | change])
    assert refusal(path) == f"dataset.path={path}: line 2: {message}"


def test_a_column_that_is_not_there_can_not_travel(tmp_path: Path) -> None:
    path = json_lines(tmp_path / "a.jsonl", [ROW])
    assert refusal(path, metadata=("port",)) == (
        f"dataset.path={path}: line 1: has no column port, which dataset.metadata names; it has context, question, "
        "answers"
    )


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (b"{]", "line 1 is no JSON object; write one object per line"),
        (b"\n[1]", "line 2 is no JSON object; write one object per line"),
        (b"[" * 100_000, "line 1 is no JSON object; write one object per line"),
        (rb'{"question": "\ud800"}', "line 1 is no JSON object; write one object per line"),
        (b"\xff", "is not UTF-8 text; convert it first"),
        (b"\n", "holds no question that can be asked; give one that does"),
        (b"", "is empty; give a file with rows in it"),
    ],
)
def test_a_file_of_something_else_is_named(tmp_path: Path, text: bytes, message: str) -> None:
    (tmp_path / "a.jsonl").write_bytes(text)
    assert refusal(str(tmp_path / "a.jsonl")) == f"dataset.path={tmp_path / 'a.jsonl'}: {message}"


def test_the_identity_holds_what_determines_a_question(tmp_path: Path) -> None:
    path = json_lines(tmp_path / "a.jsonl", [ROW])
    changes: tuple[dict[str, Any], ...] = ({}, {"limit": 1}, {"kind": "summary"}, {"language": "de"})
    assert len({str(Jsonl(path=path, **change).identity()) for change in changes}) == 4
