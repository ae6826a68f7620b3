"""What a dataset has to give."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from contextcliff.records.corpus import Corpus


class Dataset(Protocol):
    """Where text comes from; a dataclass in `conf/dataset/`."""

    @property
    def name(self) -> str:
        """Name in reports."""
        ...

    def identity(self) -> Mapping[str, object]:
        """What determines the texts, for the run's fingerprint. Raises `ConfigError` for absent files."""
        ...

    def corpus(self, *, tokens: int, seed: int, count: int = 1) -> Corpus:
        """A source of prose gives `count` different texts, or stretches of one; a question set all it has.

        A source without end gives at least `tokens` tokens a text; a finite one gives what it has.
        """
        ...
