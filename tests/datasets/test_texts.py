"""The built-in texts: what they have to be for a haystack and a continuation; and texts of one's own."""

from __future__ import annotations

from pathlib import Path

import pytest

from contextcliff.datasets.essays import Essays
from contextcliff.datasets.stories import Stories
from contextcliff.errors import ConfigError


def test_own_files_are_joined_in_the_order_given(tmp_path: Path) -> None:
    for name, text in (("one.txt", "\ufeffFirst.\r\n\r\nStill.\r\n"), ("two.txt", "Second.")):
        (tmp_path / name).write_text(text, encoding="utf-8", newline="")
    both = Essays(paths=(str(tmp_path / "one.txt"), str(tmp_path / "two.txt")))
    (document,) = both.corpus(tokens=1, seed=0).documents
    assert document.text == "First.\n\nStill.\n\nSecond.\n"
    assert document.title == "one, two"


def own(*paths: Path) -> str:
    (document,) = Essays(paths=tuple(map(str, paths))).corpus(tokens=1, seed=0).documents
    return document.text


def refusal(path: Path) -> str:
    with pytest.raises(ConfigError) as raised:
        Essays(path=str(path)).identity()
    return str(raised.value)


@pytest.mark.parametrize("name", ["text", "book.v2", "notes.TXT", "read.me"])
def test_a_file_of_no_known_kind_is_read_as_text(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text("\u3000夜が明けた。\n\u3000海は静かだった。", encoding="utf-16")
    assert own(tmp_path / name) == "\u3000夜が明けた。\n\u3000海は静かだった。\n"


def test_a_file_without_text_says_why(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes("\ufeff\u200b".encode())
    assert refusal(tmp_path / "a.txt") == (
        f"dataset.path: {tmp_path / 'a.txt'} holds no text once it is cleaned; give another file, or its text as UTF-8"
    )


def test_a_missing_package_is_named_with_the_file_and_the_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "pypdfium2.py").write_text("raise ImportError")
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "a.pdf").write_bytes(b"%PDF")
    assert refusal(tmp_path / "a.pdf") == (
        f"dataset.path: {tmp_path / 'a.pdf'}: PDF files are read with pypdfium2, which is not installed; run pip "
        "install 'contextcliff[docs-in]'"
    )


CORPUS = Stories().corpus(tokens=1, seed=0)
TEXTS = {document.document_id: document.text for document in CORPUS.documents}


def test_every_text_is_asked_about_and_every_question_has_evidence() -> None:
    assert {question.document_id for question in CORPUS.questions} == set(TEXTS)
    for question in CORPUS.questions:
        assert question.evidence
        assert question.metadata["domain"]
        assert question.level in (1, 2)
