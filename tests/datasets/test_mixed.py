"""Several datasets as one."""

from __future__ import annotations

from pathlib import Path

import pytest
from pydantic import ValidationError

from contextcliff.datasets.hub_sets import Squad
from contextcliff.datasets.jsonl import Jsonl
from contextcliff.datasets.mixed import Mixed
from contextcliff.datasets.stories import Stories
from contextcliff.errors import ConfigError
from tests.datasets.made_files import json_lines

ROW = {
    "id": "q", "doc_id": "d", "context": "In May.", "question": "When?", "answers": ["May"], "metadata": {"sea": "x"},
}  # fmt: skip


def test_ids_begin_with_the_part(tmp_path: Path) -> None:
    path = json_lines(tmp_path / "a.jsonl", [ROW])
    corpus = Mixed(parts={"one": Jsonl(path=path), "two": Jsonl(path=path)}).corpus(tokens=1, seed=0)
    assert [document.document_id for document in corpus.documents] == ["one/d", "two/d"]
    assert [(item.question_id, item.document_id) for item in corpus.questions] == [
        ("one/q", "one/d"),
        ("two/q", "two/d"),
    ]
    assert [item.metadata for item in corpus.questions] == [{"sea": "x", "part": "one"}, {"sea": "x", "part": "two"}]


def test_an_error_names_the_key_of_the_part_and_leaves_paths_alone() -> None:
    mixed = Mixed(parts={"stories": Stories(), "own": Jsonl(path="/x/dataset.path/dataset.limit.jsonl")})
    message = (
        "dataset.parts.own.path=/x/dataset.path/dataset.limit.jsonl: there is no such file; give a .jsonl or .parquet "
        "file"
    )
    for asking in (mixed.identity, lambda: mixed.corpus(tokens=1, seed=0)):
        with pytest.raises(ConfigError) as raised:
            asking()
        assert str(raised.value) == message


def test_the_identity_is_that_of_the_parts() -> None:
    one = Mixed(parts={"a": Squad(split="train")}).identity()
    assert one == {"dataset": "mixed", "parts": {"a": dict(Squad(split="train").identity())}}
    assert one != Mixed(parts={"b": Squad(split="train")}).identity()


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        ({}, "dataset.parts: must not be empty; add one with +dataset@dataset.parts.NAME=OPTION"),
        ({"a": None}, "dataset.parts.a=None: is not a dataset; choose one with dataset@dataset.parts.a=OPTION"),
        ({"a b": Stories()}, "dataset.parts.a b: a name is up to 40 letters, digits, hyphens and underscores"),
    ],
)
def test_what_is_no_dataset_is_no_part(parts: object, message: str) -> None:
    with pytest.raises(ValidationError) as raised:
        Mixed(parts=parts)  # type: ignore[arg-type]
    assert str(raised.value.errors()[0]["ctx"]["error"]) == message
