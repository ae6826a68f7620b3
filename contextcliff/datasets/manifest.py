"""Dataset `manifest`: the documents and questions of an earlier run, read from its `manifest.json`."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter, ValidationError

from contextcliff.datasets.local_files import MAX_BYTES, UnreadableFile, opened, whole
from contextcliff.errors import ConfigError
from contextcliff.records.corpus import Corpus
from contextcliff.settings import GivenPath, settings

_corpus = TypeAdapter(Corpus)


@settings
class Manifest:
    """Repeats a draw: the same documents, questions and bins, hence the same samples."""

    name = "manifest"

    path: GivenPath | None = None

    def identity(self) -> Mapping[str, object]:
        identity: Mapping[str, object] = self._corpus["dataset"]
        return identity

    def corpus(self, *, tokens: int, seed: int, count: int = 1) -> Corpus:  # noqa: ARG002 - a manifest is finite
        try:
            kept = {key: self._corpus[key] for key in ("documents", "questions", "drawn")}
            return _corpus.validate_python(kept)
        except (KeyError, ValidationError) as error:
            raise ConfigError(f"dataset.path={self.path}: this manifest is damaged; take another copy of it") from error

    @cached_property
    def _corpus(self) -> Mapping[str, Any]:
        if self.path is None:
            raise ConfigError("dataset.path: missing; give dataset.path=FILE, the manifest.json of a run of task=qa")
        path = Path(self.path).expanduser()
        try:
            with opened(path, most=MAX_BYTES) as stream:
                manifest = json.loads(whole(stream).decode())
        except UnreadableFile as error:
            raise ConfigError(
                f"dataset.path={self.path}: can't be read ({error}); give a run's manifest.json"
            ) from error
        corpus = manifest.get("corpus") if isinstance(manifest, dict) else None
        if not isinstance(corpus, dict) or not isinstance(corpus.get("dataset"), dict):
            raise ConfigError(
                f"dataset.path={self.path}: holds no documents; give the manifest.json of a run of task=qa"
            )
        return corpus
