"""The built-in texts: what they have to be for a haystack and a continuation; and texts of one's own."""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest

from contextcliff.datasets.essays import Essays
from contextcliff.datasets.stories import Stories
from contextcliff.documents.reader import DocumentReader
from contextcliff.errors import ConfigError

STORY = Essays().corpus(tokens=1, seed=0).documents[0].text
PARAGRAPHS = STORY.strip().split("\n\n")


def test_own_files_are_joined_in_the_order_given(tmp_path: Path) -> None:
    for name, text in (("one.txt", "\ufeffFirst.\r\n\r\nStill.\r\n"), ("two.txt", "Second.")):
        (tmp_path / name).write_text(text, encoding="utf-8", newline="")
    both = Essays(paths=(str(tmp_path / "one.txt"), str(tmp_path / "two.txt")))
    (document,) = both.corpus(tokens=1, seed=0).documents
    assert document.text == "First.\n\nStill.\n\nSecond.\n"
    assert document.title == "one, two"


def own(*paths: Path) -> str:
    """The text that these files are."""
    (document,) = Essays(paths=tuple(map(str, paths))).corpus(tokens=1, seed=0).documents
    return document.text


def refusal(path: Path) -> str:
    with pytest.raises(ConfigError) as raised:
        Essays(path=str(path)).identity()
    return str(raised.value)


def test_own_files_are_cleaned(tmp_path: Path) -> None:
    story = "\n\n".join("\n".join(textwrap.wrap(paragraph, 72)) for paragraph in PARAGRAPHS)
    (tmp_path / "book.txt").write_text(
        f"Header\n*** START OF THE PROJECT GUTENBERG EBOOK X ***\n\nProduced by Y\n\n{story.replace('’', 'â€™')}\n\n"
        "*** END OF THE PROJECT GUTENBERG EBOOK X ***\nLicence\n",
        encoding="utf-8",
    )
    assert own(tmp_path / "book.txt") == STORY


@pytest.mark.parametrize("name", ["text", "book.v2", "notes.TXT", "read.me"])
def test_a_file_of_no_known_kind_is_read_as_text(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text("\u3000夜が明けた。\n\u3000海は静かだった。", encoding="utf-16")
    assert own(tmp_path / name) == "\u3000夜が明けた。\n\u3000海は静かだった。\n"


def test_a_file_is_read_once_for_identity_and_text(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    reads: list[Path] = []

    def read(_: DocumentReader, path: Path, *, cleaned: bool) -> str:
        assert cleaned
        reads.append(path)
        return "Once."

    monkeypatch.setattr(DocumentReader, "text", read)
    (tmp_path / "a.pdf").write_bytes(b"%PDF")
    dataset = Essays(path=str(tmp_path / "a.pdf"))
    dataset.identity()
    dataset.corpus(tokens=1, seed=0)
    assert reads == [tmp_path / "a.pdf"]


@pytest.mark.parametrize(
    ("name", "data", "reason"),
    [
        ("a.txt", b"It rained.\0", "is binary, not text"),
        ("a.txt", b" \n", "holds no text"),
        ("a.txt", b"\xef\xbb\xbf\xe2\x80\x8b", "holds no text once it is cleaned"),
        ("a.txt", b"caf\xe9", "is not UTF-8 text, and declares no other character set"),
        ("a.doc", b"\xd0\xcf\x11\xe0", "is not UTF-8 text, and declares no other character set"),
        ("a.md", b"<!-- nothing -->", "holds no text"),
    ],
)
def test_a_file_without_text_says_why(tmp_path: Path, name: str, data: bytes, reason: str) -> None:
    (tmp_path / name).write_bytes(data)
    assert refusal(tmp_path / name) == (
        f"dataset.path: {tmp_path / name} {reason}; give another file, or its text as UTF-8"
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
