"""What an embedder is: texts in, one vector each out."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Protocol

from contextcliff.execution.store import Store
from contextcliff.seeding import digest_of

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


def embed_missing(embedder: Embedder, texts: Iterable[str], store: Store, *, done: Callable[[int], None]) -> None:
    """Embed every text without a vector and keep each batch; `done` is called with its size. Raises `RunError`."""
    identity = _identity(embedder)
    wanted = {_key(identity, text): text for text in texts}
    there = store.vectors(wanted)
    missing = [(key, text) for key, text in wanted.items() if key not in there]
    if not missing:
        return
    with embedder.open() as session:
        for start in range(0, len(missing), embedder.batch):
            batch = missing[start : start + embedder.batch]
            vectors = session.embed([text for _, text in batch])
            store.keep_vectors({key: vector for (key, _), vector in zip(batch, vectors, strict=True)})
            done(len(batch))


class KeptVectors:
    """The vectors of one embedder that a store keeps, each read once."""

    def __init__(self, embedder: Embedder, store: Store) -> None:
        self._identity = _identity(embedder)
        self._store = store
        self._known: dict[str, Vector] = {}

    def of(self, texts: Sequence[str]) -> Mapping[str, Vector]:
        """The vectors of those texts that have one."""
        keys = {text: _key(self._identity, text) for text in texts}
        self._known.update(self._store.vectors(key for key in keys.values() if key not in self._known))
        return {text: self._known[key] for text, key in keys.items() if key in self._known}


def _identity(embedder: Embedder) -> str:
    return digest_of(dict(embedder.identity()))


def _key(identity: str, text: str) -> str:
    return digest_of("embedding", identity, text)
