"""Embedders: texts in, one vector each out, which the store keeps."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from typing import Literal, Protocol

from contextcliff.errors import RunError, tell
from contextcliff.execution.store import Store
from contextcliff.reporting.progress import phase
from contextcliff.seeding import digest_of

Vector = tuple[float, ...]


Embed = Callable[[Sequence[str]], tuple[Vector, ...]]
"""Gives a vector for each text, all of one length. Raises `RunError`."""


class Embedder(Protocol):
    """A way to embed texts; a dataclass in `conf/embedding/`."""

    @property
    def name(self) -> str: ...

    @property
    def batch(self) -> int: ...

    def identity(self) -> Mapping[str, object]:
        """What determines the vectors. Raises `ConfigError` for weights that are absent."""
        ...

    def open(self) -> AbstractContextManager[Embed]: ...


def embed_texts(
    embedder: Embedder, texts: Iterable[str], store: Store, *, run_id: str, progress: bool
) -> Literal["embedded", "failed", "interrupted"]:
    """Embed and keep what has no vector yet, and record in the run which embedder did it. `failed` after a warning:
    scores then do without vectors, and the same command goes on. `interrupted` by Ctrl-C or SIGTERM."""
    identity = digest_of(dict(embedder.identity()))
    wanted = {_key(identity, text): text for text in texts}
    there = store.vectors(wanted)
    missing = [(key, text) for key, text in wanted.items() if key not in there]
    try:
        with phase(f"embeddings · {embedder.name}", shown=progress) as done:
            if missing:
                with embedder.open() as embed:
                    for start in range(0, len(missing), embedder.batch):
                        batch = missing[start : start + embedder.batch]
                        vectors = embed([text for _, text in batch])
                        store.keep_vectors({key: vector for (key, _), vector in zip(batch, vectors, strict=True)})
                        done(len(batch))
    except RunError as error:
        tell(f"warning: {error}; coherence is not measured: the same command goes on")
        return "failed"
    except KeyboardInterrupt:
        return "interrupted"
    store.change_facts(run_id, lambda facts: replace(facts, embedder=embedder.name))
    return "embedded"


def kept_vectors(embedder: Embedder, store: Store) -> Callable[[Sequence[str]], Mapping[str, Vector]]:
    """What gives the vectors of those texts that have one in the store."""
    identity = digest_of(dict(embedder.identity()))

    def kept(texts: Sequence[str]) -> Mapping[str, Vector]:
        keys = {text: _key(identity, text) for text in texts}
        there = store.vectors(keys.values())
        return {text: there[key] for text, key in keys.items() if key in there}

    return kept


def _key(identity: str, text: str) -> str:
    return digest_of("embedding", identity, text)
