"""What a dataset has to give."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from contextcliff.records import Document


class Dataset(Protocol):
    """Where text comes from; a dataclass in `conf/dataset/`."""

    @property
    def name(self) -> str:
        """Name in reports."""
        ...

    def identity(self) -> Mapping[str, object]:
        """What determines the texts, for the run's fingerprint. Raises `ConfigError` for absent files."""
        ...

    def documents(self, *, tokens: int, seed: int, count: int = 1) -> tuple[Document, ...]:
        """`count` different texts, or stretches of one.

        A source without end gives at least `tokens` tokens each; a finite one gives what it has.
        """
        ...
