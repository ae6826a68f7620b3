"""Dataset `stories`: texts written for this project, from a notice to parts of a novel, with questions on each.

No model has seen them, and every fact in them is invented, so that an answer comes from the text or not at all.
Chapters and parts of *The Tide Clerk* are documents of their own beside the stories.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Mapping
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable

from contextcliff.records import Corpus, Document, Question, Span
from contextcliff.settings import settings

_NOVEL = "the_tide_clerk"
_HEADING = re.compile(r"(?m)^[IVX]+\. \S.*$")
_CHAPTERS_A_PART = 5
_BLANK = "\n\n"


@settings
class Stories:
    """All of it; there is nothing to set."""

    @property
    def name(self) -> str:
        """Name in reports."""
        return "stories"

    def identity(self) -> Mapping[str, object]:
        """The texts and questions by their digest."""
        whole = "\0".join([*(f"{document.document_id}\0{document.text}" for document in _documents()), *_lines()])
        return {"dataset": self.name, "sha256": hashlib.sha256(whole.encode()).hexdigest()}

    def corpus(self, *, tokens: int, seed: int, count: int = 1) -> Corpus:  # noqa: ARG002 - a finite set
        """Every document and every question."""
        documents = {document.document_id: document for document in _documents()}
        questions = tuple(_question(position, line, documents) for position, line in enumerate(_lines()))
        return Corpus(documents=tuple(documents.values()), questions=questions)


@cache
def _documents() -> tuple[Document, ...]:
    stories = (
        Document(document_id=file.name.removesuffix(".txt"), title=_title(text), text=text)
        for file in _files(".txt")
        for text in [file.read_text(encoding="utf-8").strip()]
    )
    return (*stories, *_of_the_novel())


def _of_the_novel() -> Iterator[Document]:
    text = files("contextcliff.datasets").joinpath("texts", f"{_NOVEL}.txt").read_text(encoding="utf-8")
    starts = [match.start() for match in _HEADING.finditer(text)]
    ends = [*starts[1:], len(text)]
    chapters = [text[start:end].strip() for start, end in zip(starts, ends, strict=True)]
    for number, chapter in enumerate(chapters, start=1):
        yield Document(document_id=f"{_NOVEL}_ch{number:02d}", title=_title(chapter), text=chapter)
    for number, start in enumerate(range(0, len(chapters), _CHAPTERS_A_PART), start=1):
        part = _BLANK.join(chapters[start : start + _CHAPTERS_A_PART])
        yield Document(document_id=f"{_NOVEL}_part{number}", title=f"The Tide Clerk, part {number}", text=part)


@cache
def _lines() -> tuple[str, ...]:
    return tuple(
        line for file in _files(".jsonl") for line in file.read_text(encoding="utf-8").splitlines() if line.strip()
    )


def _files(suffix: str) -> list[Traversable]:
    folder = files("contextcliff.datasets").joinpath("stories")
    return sorted((file for file in folder.iterdir() if file.name.endswith(suffix)), key=lambda file: file.name)


def _question(position: int, line: str, documents: Mapping[str, Document]) -> Question:
    told = json.loads(line)
    text = documents[told["document_id"]].text
    starts = [(text.index(quote), quote) for quote in told["evidence"]]
    return Question(
        question_id=f"{told['document_id']}-q{position:03d}",
        document_id=told["document_id"],
        text=told["question"],
        answers=tuple(told["answers"]),
        evidence=tuple(Span(start=start, end=start + len(quote)) for start, quote in starts),
        level=told["level"],
        metadata={"domain": told["domain"]},
    )


def _title(text: str) -> str:
    return text.split("\n", 1)[0]
