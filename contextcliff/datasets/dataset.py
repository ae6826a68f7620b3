"""The interface of a dataset."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from contextcliff.records.corpus import Corpus


class Dataset(Protocol):
    """A source of texts, and maybe of questions on them. A class of settings, named by a YAML in `conf/dataset/`."""

    @property
    def name(self) -> str:
        """Name in reports."""

    def identity(self) -> Mapping[str, object]:
        """What determines the texts and questions, for the run's fingerprint. Raises `ConfigError` for absent files."""

    def corpus(self, *, tokens: int, seed: int, count: int = 1) -> Corpus:
        """The texts and questions. Raises `ConfigError`, `RunError`.

        A source of prose gives `count` documents, each a different text or a rotation of the same one; a question set
        gives all that it has. An endless source gives documents of at least `tokens` tokens, a finite one all its text.
        """
