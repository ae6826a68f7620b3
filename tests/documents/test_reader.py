"""Hostile documents cost a bound of time and memory, and one line: the files after them are read."""

from __future__ import annotations

import os
import resource
from collections.abc import Callable
from pathlib import Path

import pytest

from contextcliff.datasets.documents import Documents
from contextcliff.datasets.essays import Essays
from contextcliff.documents import reader as module
from contextcliff.documents.containers import UnreadableError
from contextcliff.documents.reader import DocumentReader
from contextcliff.errors import ConfigError
from tests.documents.test_reading import book, open_document, word_file

pytest.importorskip("docx", reason="the extra docs-in is not installed")
pytest.importorskip("pypdfium2", reason="the extra docs-in is not installed")

BOXES = 60
"""Text boxes in text boxes, which were read 2^60 times."""


def nested(before: str, text: str, after: str) -> str:
    return before * BOXES + text + after * BOXES


def word_boxes() -> bytes:
    box = "<w:p><w:r><w:txbxContent>", "</w:txbxContent></w:r></w:p>"
    return word_file(nested(box[0], "<w:p><w:r><w:t>x</w:t></w:r></w:p>", box[1]))


def said(file: Path, *, reader: DocumentReader, cleaned: bool = False) -> str:
    """The text, or why there is none."""
    try:
        return reader.text(file, cleaned=cleaned)
    except UnreadableError as error:
        return error.reason


def open_document_boxes() -> bytes:
    box = "<text:p><draw:frame><draw:text-box>", "</draw:text-box></draw:frame></text:p>"
    return open_document(nested(box[0], "<text:p>x</text:p>", box[1]))


PARAGRAPHS = 20_000
HOSTILE: dict[str, tuple[str, Callable[[], bytes], str]] = {
    "boxes in boxes of Word": ("a.docx", word_boxes, "x"),
    "boxes in boxes of OpenDocument": ("a.odt", open_document_boxes, "x"),
    "scripts": ("a.epub", lambda: book({"a": "<p>It rained.</p>" + "<script " * 130_000}), "It rained."),
    "a page that is named often": (
        "a.epub",
        lambda: book({"a": "<p>a</p>" * PARAGRAPHS}, times=20_000),
        "\n\n".join("a" * PARAGRAPHS),
    ),
    "line ends": ("a.txt", lambda: b"a" + b"\n" * 20_000_000 + b"b", "a\n\nb"),
    "punycode": (
        "a.html",
        lambda: b"<meta charset=punycode>" + b"a" * 600_000,
        "declares the character set punycode, which is unknown",
    ),
}


@pytest.mark.parametrize(("name", "data", "text"), HOSTILE.values(), ids=HOSTILE)
def test_a_file_that_asks_for_much_work_is_read_quickly(
    tmp_path: Path, name: str, data: Callable[[], bytes], text: str
) -> None:
    (tmp_path / name).write_bytes(data())
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    with DocumentReader() as reader:
        assert said(tmp_path / name, reader=reader) == text
    assert resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before < 5


def test_a_file_that_takes_too_long_is_refused_and_the_next_one_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "slow.txt").write_bytes(b"a\n" * 500_000)
    (tmp_path / "good.txt").write_text("It rained.")
    with DocumentReader() as reader:
        monkeypatch.setattr(module, "_LEAST_SECONDS", 1)
        assert said(tmp_path / "slow.txt", reader=reader, cleaned=True) == "takes longer than 1 s to read"
        monkeypatch.setattr(module, "_LEAST_SECONDS", 30)
        assert said(tmp_path / "good.txt", reader=reader) == "It rained."


@pytest.mark.parametrize(
    ("failure", "reason"),
    [
        ("import os; os.abort()", "is damaged, or takes more than 2 GiB of memory to read"),
        ("raise RuntimeError", "is damaged, or takes more than 2 GiB of memory to read"),
        ("bytes(3 << 30)", "takes more than 2 GiB of memory to read"),
    ],
)
def test_a_library_that_fails_costs_its_file_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, failure: str, reason: str
) -> None:
    folder = tmp_path / "papers"
    folder.mkdir()
    (tmp_path / "pypdfium2.py").write_text(failure)
    monkeypatch.syspath_prepend(tmp_path)
    for name in ("a.txt", "b.pdf", "c.txt"):
        (folder / name).write_text("It rained.")
    corpus = Documents(path=str(folder)).corpus(tokens=1, seed=0)
    assert [document.document_id for document in corpus.documents] == ["a.txt", "c.txt"]
    assert corpus.notes == (f"documents: 1 of 3 files are left out: b.pdf {reason}; give their texts as UTF-8",)
    with pytest.raises(ConfigError) as raised:
        Essays(path=str(folder)).identity()
    assert str(raised.value) == (f"dataset.path: {folder / 'b.pdf'} {reason}; give another file, or its text as UTF-8")


def test_a_text_that_is_too_long_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_MAX_CHARACTERS", 9)
    (tmp_path / "a.txt").write_text("It rained.")
    with pytest.raises(UnreadableError, match="holds more than 9 characters"):
        module._text(tmp_path / "a.txt", cleaned=False)


def test_a_name_that_is_not_utf_8_is_shown_with_escapes(tmp_path: Path) -> None:
    (tmp_path / os.fsdecode(b"caf\xe9.txt")).write_text("It rained.")
    documents, essays = Documents(path=str(tmp_path)), Essays(path=str(tmp_path))
    (document,) = documents.corpus(tokens=1, seed=0).documents
    assert (document.document_id, document.text) == ("caf\\xe9.txt", "It rained.")
    (document,) = essays.corpus(tokens=1, seed=0).documents
    assert (document.title, document.parts) == ("caf\\xe9", ("caf\\xe9.txt",))
    assert documents.identity()["sha256"]
