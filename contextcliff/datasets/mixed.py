"""Dataset `mixed`: several datasets as one, for example one of short and one of long documents."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import fields, replace
from typing import Annotated, Any

from pydantic import PlainValidator

from contextcliff.datasets.dataset import Dataset
from contextcliff.errors import ConfigError, RunError
from contextcliff.records.corpus import Corpus, Document, Question
from contextcliff.settings import settings

_NAME = re.compile(r"\w[\w-]{0,39}", re.ASCII)


def _checked_parts(parts: Any) -> Mapping[str, Dataset]:
    """Check parts that Hydra has built already. Raises `ValueError` for what is not a dataset."""
    if not isinstance(parts, Mapping) or not parts:
        raise ValueError("dataset.parts: must not be empty; add one with +dataset@dataset.parts.NAME=OPTION")
    for name, part in parts.items():
        if not isinstance(name, str) or not _NAME.fullmatch(name):
            raise ValueError(f"dataset.parts.{name}: a name is up to 40 letters, digits, hyphens and underscores")
        if not callable(getattr(part, "corpus", None)):
            raise ValueError(
                f"dataset.parts.{name}={part}: is not a dataset; choose one with dataset@dataset.parts.{name}=OPTION"
            )
    return dict(parts)


@settings
class Mixed:
    """All documents and questions of its parts. Ids begin with the part's name; the metadata `part` has it too."""

    name = "mixed"

    parts: Annotated[Mapping[str, Dataset], PlainValidator(_checked_parts)]

    def identity(self) -> Mapping[str, object]:
        return {"dataset": self.name, "parts": {name: _identity(name, part) for name, part in self.parts.items()}}

    def corpus(self, *, tokens: int, seed: int, count: int = 1) -> Corpus:
        documents: list[Document] = []
        questions: list[Question] = []
        notes: list[str] = []
        for name, part in self.parts.items():
            with _errors_naming(name, part):
                corpus = part.corpus(tokens=tokens, seed=seed, count=count)
            documents += [replace(item, document_id=f"{name}/{item.document_id}") for item in corpus.documents]
            questions += [
                replace(
                    item,
                    question_id=f"{name}/{item.question_id}",
                    document_id=f"{name}/{item.document_id}",
                    metadata={**item.metadata, "part": name},
                )
                for item in corpus.questions
            ]
            notes += [f"{name}: {note}" for note in corpus.notes]
        return Corpus(documents=tuple(documents), questions=tuple(questions), notes=tuple(notes))


def _identity(name: str, part: Dataset) -> Mapping[str, object]:
    with _errors_naming(name, part):
        return part.identity()


@contextmanager
def _errors_naming(name: str, part: Dataset) -> Iterator[None]:
    """Errors of a part name its keys as `dataset.path`; rename them to `dataset.parts.NAME.path`."""
    try:
        yield
    except (ConfigError, RunError) as error:
        keys = "|".join(field.name for field in fields(part))  # type: ignore[arg-type]  # a class of settings
        # Paths in the message stay as they are, although they can contain the same words.
        key = rf"(?<![\w./~-])dataset\.(?=(?:{keys})\b)"
        raise type(error)(re.sub(key, f"dataset.parts.{name}.", str(error))) from error
