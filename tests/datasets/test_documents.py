"""A folder of documents and questions on them."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from contextcliff.datasets.documents import Documents
from contextcliff.datasets.essays import Essays
from contextcliff.errors import ConfigError
from tests.datasets.made_files import encrypted_pdf, json_lines, printed_pdf

pytest.importorskip("docx", reason="the extra docs-in is not installed")
pytest.importorskip("pypdfium2", reason="the extra docs-in is not installed")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Three documents that can be read and two that can't."""
    made = tmp_path / "papers"
    made.mkdir()
    (made / "a.txt").write_text("The ship came back in May.")
    (made / "b.HTML").write_text("<p>It was late.</p>")
    (made / "c.pdf").write_bytes(printed_pdf([[(50, 500, "A printed page.")]]))
    (made / "locked.pdf").write_bytes(encrypted_pdf())
    (made / "scan.pdf").write_bytes(printed_pdf([[]]))
    (made / ".hidden.txt").write_text("hidden")
    (made / "picture.png").write_bytes(b"\x89PNG")
    return made


def questions(folder: Path, *documents: str) -> str:
    rows = [{"document": name, "question": "When?", "answers": ["May"]} for name in documents]
    return json_lines(folder.parent / "questions.jsonl", rows)


def refusal(dataset: Documents) -> str:
    with pytest.raises(ConfigError) as raised:
        dataset.corpus(tokens=1, seed=0)
    return str(raised.value)


def test_each_question_is_asked_of_the_file_that_it_names(folder: Path) -> None:
    asked = {"document": "a.txt", "id": "q", "question": "When?", "answers": ["May"], "sea": "calm"}
    path = json_lines(folder.parent / "questions.jsonl", [{**asked, "evidence": ["in May"]}])
    corpus = Documents(path=str(folder), questions=path, metadata=("sea",)).corpus(tokens=1, seed=0)
    assert [document.document_id for document in corpus.documents] == ["a.txt", "b.HTML", "c.pdf"]
    (question,) = corpus.questions
    assert (question.question_id, question.document_id, question.metadata) == ("q", "a.txt", {"sea": "calm"})
    assert [(span.start, span.end) for span in question.evidence] == [(19, 25)]


def test_what_can_not_be_read_is_left_out_and_named(folder: Path) -> None:
    corpus = Documents(path=str(folder), questions=questions(folder, "a.txt")).corpus(tokens=1, seed=0)
    assert corpus.notes == (
        "documents: 2 of 5 files are left out: locked.pdf is encrypted; scan.pdf holds no text (it is scanned or "
        "empty, and needs OCR first); give their texts as UTF-8",
    )


@pytest.mark.parametrize(
    ("name", "told"),
    [("locked.pdf", ", which is encrypted"), ("d.txt", ", and dataset.path={folder} has no such document")],
)
def test_a_question_on_what_is_not_read_is_refused(folder: Path, name: str, told: str) -> None:
    path = questions(folder, "a.txt", name)
    assert refusal(Documents(path=str(folder), questions=path)) == (
        f"dataset.questions={path}: line 2: asks about {name}{told.format(folder=folder)}"
    )


def test_a_name_is_the_same_however_its_accents_are_written(folder: Path) -> None:
    (folder / "re\u0301sume\u0301.txt").write_text("In May.")
    corpus = Documents(path=str(folder), questions=questions(folder, "r\u00e9sum\u00e9.txt")).corpus(tokens=1, seed=0)
    assert corpus.questions[0].document_id == "r\u00e9sum\u00e9.txt"


def test_a_folder_of_scans_alone_is_refused(folder: Path) -> None:
    for name in ("a.txt", "b.HTML", "c.pdf"):
        (folder / name).unlink()
    assert refusal(Documents(path=str(folder))).startswith(
        f"dataset.path={folder}: none of its files can be read; documents: 2 of 2 files are left out: locked.pdf is "
    )


def test_what_is_no_folder_of_documents_is_refused(tmp_path: Path) -> None:
    assert refusal(Documents()) == "dataset.path: missing; give dataset.path=FOLDER, which holds the documents"
    assert refusal(Documents(path=str(tmp_path / "absent"))) == (
        f"dataset.path={tmp_path / 'absent'}: there is no such folder; give one that holds the documents"
    )
    assert refusal(Documents(path=str(tmp_path))) == (
        f"dataset.path={tmp_path}: holds no document; these are read: .pdf, .docx, .odt, .rtf, .epub, .html, .htm, "
        ".xhtml, .md, .txt"
    )


def test_the_identity_is_the_contents_of_files_and_questions(folder: Path) -> None:
    copied = folder.parent / "copy"
    shutil.copytree(folder, copied)
    path = questions(folder, "a.txt")
    first, second = (Documents(path=str(place), questions=path).identity() for place in (folder, copied))
    assert first == second
    (copied / "a.txt").write_text("Changed.")
    assert Documents(path=str(copied), questions=path).identity() != first
    assert Documents(path=str(folder)).identity() != first


def test_links_that_lead_out_of_the_folder_are_left_out_and_a_given_link_is_read(folder: Path) -> None:
    (folder.parent / "secret.txt").write_text("A secret.")
    (folder / "passwd.txt").symlink_to(folder.parent / "secret.txt")
    (folder / "up.txt").symlink_to(Path("..", "secret.txt"))
    (folder / "again.txt").symlink_to("a.txt")
    given = folder.parent / "given"
    given.symlink_to(folder)
    note = (
        "links that lead out of their folder are left out: 2, one of them passwd.txt; copy into the folder what they "
        "name"
    )
    for name in ("locked.pdf", "scan.pdf"):
        (folder / name).unlink()
    for path in (folder, given):
        corpus = Documents(path=str(path)).corpus(tokens=1, seed=0)
        assert [document.document_id for document in corpus.documents] == ["a.txt", "again.txt", "b.HTML", "c.pdf"]
        assert corpus.notes == (f"documents: {note}",)
        essays = Essays(paths=(str(path),)).corpus(tokens=1, seed=0)
        assert "secret" not in essays.documents[0].text
        assert essays.notes == (f"essays: {note}",)
    alone = Essays(path=str(folder / "passwd.txt")).corpus(tokens=1, seed=0)
    assert (alone.documents[0].text, alone.notes) == ("A secret.\n", ())
    for name in ("a.txt", "again.txt", "b.HTML", "c.pdf"):
        (folder / name).unlink()
    assert refusal(Documents(path=str(folder))) == f"dataset.path={folder}: holds no document; {note}"
