"""The sentences of continuations as vectors: what is missing is embedded and kept, what is kept is measured.

Like a judge's ratings, vectors come after the answers and change none of them: without an embedder, coherence is not
measured.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from contextcliff.engines.openai.openai_embedding import Embedder
from contextcliff.execution.store import Store
from contextcliff.records.generation import ScoredSample
from contextcliff.seeding import digest_of
from contextcliff.tasks.task import Compared, ProseTask

EMBEDDER_FACT = "embedder"
"""The fact of a run that holds the name of what embedded its sentences."""
_MOST_CHARACTERS = 600
"""Of a sentence: a model that runs on without an end must not outgrow the embedder's window."""


@dataclass(frozen=True, kw_only=True, slots=True)
class _Sentences:
    written: tuple[str, ...]
    original: tuple[str, ...]
    windows: tuple[tuple[str, ...], ...]

    def all(self) -> Iterator[str]:
        """Every sentence."""
        yield from self.written
        yield from self.original
        for window in self.windows:
            yield from window


def embed_missing(
    embedder: Embedder, task: ProseTask, scored: Iterable[ScoredSample], store: Store, *, told: Callable[[int], None]
) -> None:
    """Embed and keep every sentence that has no vector yet; `told` hears how many of a batch are done.

    Raises `RunError` where the embedder fails; what was embedded by then is kept.
    """
    identity = digest_of(dict(embedder.identity()))
    wanted = {_key(identity, text): text for item in scored for text in _sentences(task, item).all()}
    missing = [(key, wanted[key]) for key in store.without_vector(wanted)]
    if not missing:
        return
    with embedder.open() as session:
        for start in range(0, len(missing), embedder.batch):
            batch = missing[start : start + embedder.batch]
            vectors = session.embed([text for _, text in batch])
            store.keep_vectors({key: vector for (key, _), vector in zip(batch, vectors, strict=True)})
            told(len(batch))


def with_vectors(
    embedder: Embedder, task: ProseTask, scored: Sequence[ScoredSample], store: Store
) -> tuple[ScoredSample, ...]:
    """The samples with their coherence measured and their score taken anew, where all their sentences have vectors."""
    identity = digest_of(dict(embedder.identity()))
    known: dict[str, tuple[float, ...]] = {}
    return tuple(_with_vectors(identity, task, item, store, known) for item in scored)


def _with_vectors(
    identity: str, task: ProseTask, item: ScoredSample, store: Store, known: dict[str, tuple[float, ...]]
) -> ScoredSample:
    import numpy as np

    from contextcliff.writing.measures.measure import COMPOSITE
    from contextcliff.writing.passage import with_coherence

    if item.score is None or COMPOSITE not in item.details:
        return item
    found = _sentences(task, item)
    if not found.written:
        return item
    keys = {text: _key(identity, text) for text in found.all()}
    known.update(store.vectors(key for key in keys.values() if key not in known))
    if any(key not in known for key in keys.values()):
        return item

    def vectors(sentences: Sequence[str]) -> Any:
        return np.array([known[keys[text]] for text in sentences], dtype=float)

    details: Mapping[str, float] = with_coherence(
        item.details,
        vectors=vectors(found.written),
        reference_vectors=vectors(found.original),
        window_vectors=[vectors(window) for window in found.windows],
    )
    return replace(item, details=details, score=1.0 - details[COMPOSITE] / 100.0)


def _sentences(task: ProseTask, item: ScoredSample) -> _Sentences:
    if item.score is None or item.generation is None:
        return _Sentences(written=(), original=(), windows=())
    compared = task.compared(item.sample, item.generation)
    return _Sentences(
        written=_split(compared, compared.written),
        original=_split(compared, compared.original),
        windows=tuple(_split(compared, window) for window in compared.windows),
    )


def _split(compared: Compared, text: str) -> tuple[str, ...]:
    from contextcliff.writing.measures.prose_words import prose_of

    return tuple(sentence[:_MOST_CHARACTERS] for sentence in prose_of(text, language=compared.language).sentences)


def _key(identity: str, text: str) -> str:
    return digest_of("embedding", identity, text)
