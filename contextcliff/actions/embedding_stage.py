"""The writing of a run: sentences embedded where that is asked for, and what is said of the prose."""

from __future__ import annotations

import sys

from contextcliff.actions.action import Identity, Invocation
from contextcliff.actions.asking_judge import answered
from contextcliff.engines.openai.openai_embedding import Embedder
from contextcliff.errors import RunError
from contextcliff.execution.sentence_vectors import EMBEDDER_FACT, embed_missing, with_vectors
from contextcliff.execution.store import Store, StoredRun
from contextcliff.records.generation import ScoredSample
from contextcliff.reporting.progress import counting_bar
from contextcliff.tasks.task import ProseTask


def check_embedder(embedder: Embedder) -> None:
    """Embed a word, before anything is paid for. Raises `ConfigError`, `RunError` where that can't be done."""
    with embedder.open() as session:
        session.embed(["."])


def embed(embedder: Embedder, invocation: Invocation, identity: Identity, store: Store) -> bool:
    """Embed what the model wrote, what the author wrote in its place, and windows of the author's text.

    True where Ctrl-C or SIGTERM ended it. An embedder that fails is a warning: coherence is then not measured, and the
    same command goes on.
    """
    task = invocation.task
    if not isinstance(task, ProseTask):
        return False
    scored = answered(invocation, identity, store)
    try:
        with counting_bar(f"embeddings · {embedder.name}", shown=invocation.reporting.progress) as told:
            embed_missing(embedder, task, scored, store, told=told)
    except RunError as error:
        sys.stderr.write(f"warning: {error}; coherence is not measured: the same command goes on\n")
        return False
    except KeyboardInterrupt:
        return True
    store.record_facts(identity.run_id, {EMBEDDER_FACT: embedder.name})
    return False


def with_coherence(
    scored: tuple[ScoredSample, ...], invocation: Invocation, run: StoredRun, store: Store
) -> tuple[ScoredSample, ...]:
    """The samples with their coherence, where their sentences were embedded."""
    if invocation.embedder is None or EMBEDDER_FACT not in run.facts or not isinstance(invocation.task, ProseTask):
        return scored
    return with_vectors(invocation.embedder, invocation.task, scored, store)
