"""Dataset `manifest`: the documents and questions of an earlier run, from its `manifest.json` alone."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter, ValidationError

from contextcliff.errors import ConfigError
from contextcliff.records.corpus import Corpus, Document, Question
from contextcliff.settings import GivenPath, settings

_MOST_BYTES = 2 << 30
_documents = TypeAdapter(tuple[Document, ...])
_questions = TypeAdapter(tuple[Question, ...])
_drawn = TypeAdapter(tuple[tuple[str, ...], ...])


@settings
class Manifest:
    """Repeats a draw: the same documents, questions and bins, and so the same samples."""

    path: GivenPath | None = None
    """The file."""

    @property
    def name(self) -> str:
        """Name in reports."""
        return "manifest"

    def identity(self) -> Mapping[str, object]:
        """That of the dataset which the manifest was drawn from: the repeated run is the same run."""
        found: Mapping[str, object] = self._corpus["dataset"]
        return found

    def corpus(self, *, tokens: int, seed: int, count: int = 1) -> Corpus:  # noqa: ARG002 - all that it holds
        """Everything in the manifest. Raises `ConfigError` for one that is damaged."""
        try:
            return Corpus(
                documents=_documents.validate_python(self._corpus["documents"]),
                questions=_questions.validate_python(self._corpus["questions"]),
                drawn=_drawn.validate_python(self._corpus["drawn"]),
            )
        except (KeyError, ValidationError) as error:
            raise ConfigError(f"dataset.path={self.path}: this manifest is damaged; take another copy of it") from error

    @cached_property
    def _corpus(self) -> Mapping[str, Any]:
        if self.path is None:
            raise ConfigError("dataset.path: missing; give dataset.path=FILE, the manifest.json of a run of task=qa")
        path = Path(self.path).expanduser()
        try:
            if path.stat().st_size > _MOST_BYTES:
                raise ConfigError(f"dataset.path={self.path}: is larger than 2 GiB; a manifest is not")
            found = json.loads(path.read_text(encoding="utf-8"))
        except OSError as error:
            raise ConfigError(
                f"dataset.path={self.path}: can't be read ({error.strerror}); give a run's manifest.json"
            ) from error
        except (UnicodeDecodeError, json.JSONDecodeError) as error:
            raise ConfigError(f"dataset.path={self.path}: is not JSON; give a run's manifest.json") from error
        corpus = found.get("corpus") if isinstance(found, dict) else None
        if not isinstance(corpus, dict) or not isinstance(corpus.get("dataset"), dict):
            raise ConfigError(
                f"dataset.path={self.path}: holds no documents; give the manifest.json of a run of task=qa"
            )
        return corpus
