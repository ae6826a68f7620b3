"""Dataset `stories`: texts written for this project, which no model has seen, with questions and their evidence.

Notices, letters, reports and tales from a page to a chapter in length, and the chapters and parts of the built-in
novella.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from importlib.resources import files
from importlib.resources.abc import Traversable

from contextcliff.datasets.entries import Entry, assemble
from contextcliff.datasets.own_schema import entry_of, rows_of_lines
from contextcliff.records.corpus import Corpus, Document
from contextcliff.seeding import digest_of
from contextcliff.settings import settings

_NOVELLA = "the_tide_clerk"
_HEADING = re.compile(r"(?m)^[IVX]+\. \S.*$")
_CHAPTERS_A_PART = 5
_BREAK = "\n\n"


@settings
class Stories:
    """All of them; `domain` tells what kind of text a question is asked of."""

    @property
    def name(self) -> str:
        """Name in reports."""
        return "stories"

    def identity(self) -> Mapping[str, object]:
        """Texts and questions by their digest."""
        questions = {file.name: file.read_text(encoding="utf-8") for file in _question_files()}
        return {"dataset": self.name, "sha256": digest_of(dict(_texts()), questions)}

    def corpus(self, *, tokens: int, seed: int, count: int = 1) -> Corpus:  # noqa: ARG002 - all that there is
        """Every text and every question."""
        documents = {name: Document(document_id=name, title=_title(name, text), text=text) for name, text in _texts()}
        return assemble(_entries(documents), source="dataset=stories", documents=documents.values())


def _entries(documents: Mapping[str, Document]) -> Iterator[Entry]:
    for file in _question_files():
        lines = file.read_text(encoding="utf-8").split("\n")
        for row in rows_of_lines(lines, place=f"dataset=stories: {file.name}"):
            name = row.text("document_id")
            if name not in documents:
                raise row.fault(f"asks about {name}, which is no text of this dataset")
            document = documents[name]
            yield entry_of(row, context=document.text, document_id=name, metadata=("domain",))


def _texts() -> Iterator[tuple[str, str]]:
    """Every text by its id: the stories by name, then the novella's chapters and parts."""
    for file in _in_folder("stories", ".txt"):
        yield file.name.removesuffix(".txt"), file.read_text(encoding="utf-8").strip()
    novella = files("contextcliff.datasets").joinpath("texts", f"{_NOVELLA}.txt").read_text(encoding="utf-8")
    chapters = _chapters(novella)
    for number, chapter in enumerate(chapters, start=1):
        yield f"{_NOVELLA}_ch{number:02d}", chapter
    for number, start in enumerate(range(0, len(chapters), _CHAPTERS_A_PART), start=1):
        yield f"{_NOVELLA}_part{number}", _BREAK.join(chapters[start : start + _CHAPTERS_A_PART])


def _title(name: str, text: str) -> str:
    _, is_part, number = name.partition(f"{_NOVELLA}_part")
    return f"The Tide Clerk, part {number}" if is_part else text.split("\n", 1)[0]


def _chapters(novella: str) -> list[str]:
    starts = [found.start() for found in _HEADING.finditer(novella)]
    return [novella[start:end].strip() for start, end in zip(starts, [*starts[1:], len(novella)], strict=True)]


def _question_files() -> list[Traversable]:
    return [file for file in _in_folder("stories", ".jsonl") if file.name.startswith("questions_")]


def _in_folder(folder: str, suffix: str) -> list[Traversable]:
    found = files("contextcliff.datasets").joinpath(folder).iterdir()
    return sorted((file for file in found if file.name.endswith(suffix)), key=lambda file: file.name)
