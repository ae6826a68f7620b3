"""What an embedder is: texts in, one vector each out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Protocol

Vector = tuple[float, ...]


class EmbeddingSession(Protocol):
    """An embedder that is ready."""

    def embed(self, texts: Sequence[str]) -> tuple[Vector, ...]:
        """A vector for each text, all of one length. Raises `RunError`."""
        ...


class Embedder(Protocol):
    """A way to embed texts; a dataclass in `conf/embedding/`."""

    @property
    def name(self) -> str:
        """What embeds, for the report."""
        ...

    @property
    def batch(self) -> int:
        """Texts that are sent at once."""
        ...

    def identity(self) -> Mapping[str, object]:
        """What determines the vectors. Raises `ConfigError` for weights that are absent."""
        ...

    def open(self) -> AbstractContextManager[EmbeddingSession]:
        """Load the model, or connect to where it is served."""
        ...
