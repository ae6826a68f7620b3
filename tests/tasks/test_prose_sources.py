"""Which texts a task of prose takes: one that is chosen, and never the words of a question set."""

from __future__ import annotations

from pathlib import Path

import pytest

from contextcliff.datasets.documents import Documents
from contextcliff.datasets.essays import Essays
from contextcliff.datasets.stories import Stories
from contextcliff.errors import ConfigError
from contextcliff.records.corpus import Corpus, Document
from contextcliff.tasks.task import one_text, several_texts, unused_notes
from tests.compositions import line_of
from tests.tasks.needles import TEXT

NOVELS = tuple(Document(document_id=name, title=name, text=TEXT.text) for name in ("emma.txt", "persuasion.txt"))


def novels(folder: Path) -> Path:
    (folder / "novels").mkdir()
    for name in ("emma", "persuasion"):
        (folder / "novels" / f"{name}.txt").write_text(f"{TEXT.text}\n\nThe end of {name}.", encoding="utf-8")
    return folder / "novels"


def test_a_folder_of_novels_is_refused_with_their_names_and_the_way_out() -> None:
    with pytest.raises(ConfigError) as raised:
        one_text(Corpus(documents=NOVELS), task="continuation")
    assert str(raised.value) == (
        "dataset: holds 2 texts (emma.txt, persuasion.txt), and task=continuation goes on with one; choose it with "
        "dataset=essays dataset.path=FILE, or list the files of one long text in order, dataset.paths=[FILE,FILE]"
    )


def test_one_novel_in_a_folder_is_taken_and_files_that_are_listed_are_one_text(tmp_path: Path) -> None:
    folder = novels(tmp_path)
    listed = tuple(str(folder / f"{name}.txt") for name in ("persuasion", "emma"))
    assert one_text(Essays(paths=listed).corpus(tokens=1, seed=0), task="continuation").title == "persuasion, emma"
    (folder / "emma.txt").unlink()
    for dataset in (Essays(path=str(folder)), Documents(path=str(folder))):
        assert one_text(dataset.corpus(tokens=1, seed=0), task="continuation").title.startswith("persuasion")


def test_a_folder_is_still_one_haystack_for_needles(tmp_path: Path) -> None:
    corpus = Essays(path=str(novels(tmp_path))).corpus(tokens=1, seed=0)
    assert several_texts(corpus, task="niah", count=1) == corpus.documents
    assert not list(unused_notes(corpus, count=1))


def test_more_haystacks_than_texts_are_refused() -> None:
    with pytest.raises(ConfigError) as raised:
        several_texts(Corpus(documents=NOVELS), task="niah", count=5)
    assert str(raised.value) == (
        "task.haystacks=5: the dataset has 2 texts; ask for no more, or take dataset=essays, which joins them and "
        "begins anywhere"
    )


@pytest.mark.parametrize("task", ["continuation", "niah"])
def test_a_question_set_is_no_prose(task: str) -> None:
    corpus = Stories().corpus(tokens=1, seed=0)
    expected = (
        f"dataset: this one has {len(corpus.questions)} questions on {len(corpus.documents)} texts, and task={task} "
        "asks none of them; take task=qa, or a dataset of prose: essays, documents without questions, synthetic"
    )
    assert line_of(f"task={task}", "dataset=stories", "engine=simulated", "action=plan") == expected


NO_PROSE = "and no prose; give a text, or ask the questions of a JSON Lines or Parquet file with dataset=jsonl task=qa"


@pytest.mark.parametrize(
    ("name", "data"), [("q.jsonl", '{"question": "Who?"}'), ("q.csv", "question,answers"), ("q.parquet", "PAR1\0")]
)
def test_a_file_of_questions_is_no_novel(tmp_path: Path, name: str, data: str) -> None:
    file = tmp_path / name
    file.write_text(data, encoding="utf-8")
    with pytest.raises(ConfigError) as raised:
        Essays(path=str(file)).corpus(tokens=1, seed=0)
    assert str(raised.value) == f"dataset.path: {file} holds rows {NO_PROSE}"
