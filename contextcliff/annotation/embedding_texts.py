"""The round of a run that has an embedder: the texts that scores use are embedded, and every vector kept."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import Literal

from contextcliff.annotation.embedder import Embedder
from contextcliff.annotation.text_vectors import embed_missing
from contextcliff.errors import RunError
from contextcliff.execution.store import Store
from contextcliff.reporting.progress import counting_bar

Embedding = Literal["embedded", "failed", "interrupted"]


def check_embedder(embedder: Embedder) -> None:
    """Embed one short text, before anything is paid for. Raises `ConfigError`, `RunError` where that can't be done."""
    with embedder.open() as session:
        session.embed(["."])


def embed_texts(embedder: Embedder, texts: Iterable[str], store: Store, *, run_id: str, progress: bool) -> Embedding:
    """Embed and keep what has no vector yet, and record in the run which embedder did it.

    `failed` after a warning: scores then do without vectors, and the same command goes on.
    `interrupted` by Ctrl-C or SIGTERM.
    """
    try:
        with counting_bar(f"embeddings · {embedder.name}", shown=progress) as done:
            embed_missing(embedder, texts, store, done=done)
    except RunError as error:
        sys.stderr.write(f"warning: {error}; coherence is not measured: the same command goes on\n")
        return "failed"
    except KeyboardInterrupt:
        return "interrupted"
    store.record_embedder(run_id, embedder.name)
    return "embedded"
