"""Dataset `mixed`: several datasets as one, so that short and long documents come together."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import fields, is_dataclass, replace
from typing import Annotated, Any

from pydantic import PlainValidator

from contextcliff.datasets.dataset import Dataset
from contextcliff.errors import ConfigError, ContextCliffError, RunError
from contextcliff.records.corpus import Corpus, Document, Question
from contextcliff.settings import settings

_NAME = re.compile(r"\w[\w-]{0,39}", re.ASCII)


def _checked(parts: Any) -> Mapping[str, Dataset]:
    """Parts that are built by their own groups already."""
    if not isinstance(parts, Mapping) or not parts:
        raise ValueError("dataset.parts: must not be empty; add one with +dataset@dataset.parts.NAME=OPTION")
    for name, part in parts.items():
        if not isinstance(name, str) or not _NAME.fullmatch(name):
            raise ValueError(f"dataset.parts.{name}: up to 40 letters, digits, hyphens and underscores make a name")
        if not callable(getattr(part, "corpus", None)):
            raise ValueError(
                f"dataset.parts.{name}={part}: is no dataset; choose one with dataset@dataset.parts.{name}=OPTION"
            )
    return dict(parts)


@settings
class Mixed:
    """Every document and question of its parts, by name. Ids begin with the name of the part, `short/…`.

    The part is a fact of each question (`part`), so that scores are told apart by it.
    """

    parts: Annotated[Mapping[str, Dataset], PlainValidator(_checked)]

    @property
    def name(self) -> str:
        """Name in reports."""
        return "mixed"

    def identity(self) -> Mapping[str, object]:
        """Those of its parts, by name. Raises `ConfigError` for absent files."""
        return {"dataset": self.name, "parts": {name: _identity(name, part) for name, part in self.parts.items()}}

    def corpus(self, *, tokens: int, seed: int, count: int = 1) -> Corpus:
        """Those of its parts, one after the other. Raises `ConfigError` and `RunError` that name the part."""
        documents: list[Document] = []
        questions: list[Question] = []
        notes: list[str] = []
        for name, part in self.parts.items():
            with _named(name, part):
                found = part.corpus(tokens=tokens, seed=seed, count=count)
            documents += [replace(item, document_id=f"{name}/{item.document_id}") for item in found.documents]
            questions += [_of_part(item, name) for item in found.questions]
            notes += [f"{name}: {note}" for note in found.notes]
        return Corpus(documents=tuple(documents), questions=tuple(questions), notes=tuple(notes))


def _identity(name: str, part: Dataset) -> Mapping[str, object]:
    with _named(name, part):
        return part.identity()


def _of_part(question: Question, name: str) -> Question:
    return replace(
        question,
        question_id=f"{name}/{question.question_id}",
        document_id=f"{name}/{question.document_id}",
        metadata={**question.metadata, "part": name},
    )


@contextmanager
def _named(name: str, part: Dataset) -> Iterator[None]:
    """A part speaks of its keys as `dataset.path`; here they are called `dataset.parts.NAME.path`."""
    try:
        yield
    except (ConfigError, RunError) as error:
        raise _renamed(error, name, part) from error


def _renamed(error: ContextCliffError, name: str, part: Dataset) -> ContextCliffError:
    keys = "|".join(field.name for field in fields(part)) if is_dataclass(part) else ""
    # Not inside of a path, which may hold such words too.
    said = (
        re.sub(rf"(?<![\w./~-])dataset\.(?=(?:{keys})\b)", f"dataset.parts.{name}.", str(error)) if keys else str(error)
    )
    return type(error)(said)
