"""Texts as vectors in the store: what is missing is embedded and kept, what is kept is read back."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from contextcliff.annotation.embedder import Embedder, Vector
from contextcliff.execution.store import Store
from contextcliff.seeding import digest_of


def embed_missing(embedder: Embedder, texts: Iterable[str], store: Store, *, done: Callable[[int], None]) -> None:
    """Embed and keep every text that has no vector yet; `done` is called with the size of each batch.

    Raises `RunError` where the embedder fails; what was embedded by then is kept.
    """
    identity = _identity(embedder)
    wanted = {_key(identity, text): text for text in texts}
    missing = [(key, wanted[key]) for key in store.without_vector(wanted)]
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
