"""Dataset `stories`: texts written for this project, with questions and evidence. No model has been trained on them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from importlib.resources import files
from importlib.resources.abc import Traversable

from contextcliff.datasets.entries import Entry, build_corpus, entry_of
from contextcliff.datasets.jsonl import read_json_lines
from contextcliff.records.corpus import Corpus, Document
from contextcliff.seeding import digest_of
from contextcliff.settings import settings

_NOVELLA = "the_tide_clerk"
_HEADING = re.compile(r"(?m)^[IVX]+\. \S.*$")
_CHAPTERS_PER_PART = 5
_BREAK = "\n\n"


@settings
class Stories:
    """All texts and questions. The metadata `domain` names the kind of text."""

    name = "stories"

    def identity(self) -> Mapping[str, object]:
        questions = {file.name: file.read_text(encoding="utf-8") for file in _question_files()}
        return {"dataset": self.name, "sha256": digest_of(dict(_texts()), questions)}

    def corpus(self, *, tokens: int, seed: int, count: int = 1) -> Corpus:  # noqa: ARG002 - a finite set
        documents = {name: Document(document_id=name, title=_title(name, text), text=text) for name, text in _texts()}
        return build_corpus(_entries(documents), source="dataset=stories", documents=documents.values())


def _entries(documents: Mapping[str, Document]) -> Iterator[Entry]:
    for file in _question_files():
        for row in read_json_lines(file, place=f"dataset=stories: {file.name}"):
            name = row.text("document_id")
            yield entry_of(row, context=documents[name].text, document_id=name, metadata=("domain",))


def _texts() -> Iterator[tuple[str, str]]:
    """Pairs of id and text: the stories by name, then the chapters and the parts of the novella."""
    for file in _in_folder("stories", ".txt"):
        yield file.name.removesuffix(".txt"), file.read_text(encoding="utf-8").strip()
    novella = files("contextcliff.datasets").joinpath("texts", f"{_NOVELLA}.txt").read_text(encoding="utf-8")
    chapters = _chapters(novella)
    for number, chapter in enumerate(chapters, start=1):
        yield f"{_NOVELLA}_ch{number:02d}", chapter
    for number, start in enumerate(range(0, len(chapters), _CHAPTERS_PER_PART), start=1):
        yield f"{_NOVELLA}_part{number}", _BREAK.join(chapters[start : start + _CHAPTERS_PER_PART])


def _title(name: str, text: str) -> str:
    _, is_part, number = name.partition(f"{_NOVELLA}_part")
    return f"The Tide Clerk, part {number}" if is_part else text.split("\n", 1)[0]


def _chapters(novella: str) -> list[str]:
    starts = [heading.start() for heading in _HEADING.finditer(novella)]
    return [novella[start:end].strip() for start, end in zip(starts, [*starts[1:], len(novella)], strict=True)]


def _question_files() -> list[Traversable]:
    return [file for file in _in_folder("stories", ".jsonl") if file.name.startswith("questions_")]


def _in_folder(folder: str, suffix: str) -> list[Traversable]:
    entries = files("contextcliff.datasets").joinpath(folder).iterdir()
    return sorted((file for file in entries if file.name.endswith(suffix)), key=lambda file: file.name)
