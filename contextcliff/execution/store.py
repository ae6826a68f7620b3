"""`state.db`: every generation at once and for good, found again by what was asked of whom.

SQLite in WAL mode with full synchronisation: a generation that `keep` has returned from survives the
process and the power. The key is a digest of engine, weights, policy, sampling, seed, label and
prompt, so that the same question to the same model is never paid twice, whichever run asks it.
"""

from __future__ import annotations

import hashlib
import json
import sqlite3
import zlib
from array import array
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from math import isfinite
from pathlib import Path

from contextcliff.errors import ConfigError, RunError
from contextcliff.execution.database import (
    NO_SAMPLES,
    Database,
    Row,
    insert,
    kept_rows,
    require_samples,
    row_of_run,
    rows,
    verify,
    with_samples,
)
from contextcliff.execution.stored_rows import (
    document_of,
    document_to_json,
    facts_from_json,
    facts_to_strings,
    generation_from_json,
    generation_to_json,
    sample_from_json,
    sample_to_json,
    vector_of,
)
from contextcliff.records.corpus import Document
from contextcliff.records.generation import Generation
from contextcliff.records.report import RunFacts
from contextcliff.records.sample import Sample

STORE_NAME = "state.db"


@dataclass(frozen=True, kw_only=True, slots=True)
class StoredRun:
    """A run as the store knows it."""

    run_id: str
    fingerprint: str
    label: str
    facts: RunFacts
    wall_s: float = 0.0


@dataclass(frozen=True, kw_only=True, slots=True)
class PlannedSample:
    """A sample in its place in the schedule, with the key under which its generation is kept."""

    sample: Sample
    prompt_sha256: str
    key: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Fault:
    """The last fault of a sample."""

    kind: str
    detail: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Rates:
    """Tokens a second: of prompts that are computed, and of answers (None: not known)."""

    prefill_tokens_per_s: float
    decode_tokens_per_s: float | None


class Store(Database):
    """What is kept of the runs of one folder."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder / STORE_NAME)

    def verify(self) -> None:
        """Raise `RunError` where what the store holds is not what was written, or not all of it."""
        self.ask(verify)

    def generation(self, key: str, *, prompt_sha256: str | None = None) -> Generation | None:
        """The generation under this key. Raises `RunError` for the answer to another prompt than this one."""

        def generation(row: Row) -> Generation:
            if None not in (prompt_sha256, row["prompt_sha256"]) and prompt_sha256 != row["prompt_sha256"]:
                raise sqlite3.DatabaseError("an answer is to another prompt")
            return generation_from_json(row["generation"])

        return next(iter(self.read(generation, "generations", "key = ?", key)), None)

    def missing(self, planned: Iterable[PlannedSample]) -> list[PlannedSample]:
        """Those of a schedule that have no generation yet, in its order; of equal keys the first."""
        first: dict[str, PlannedSample] = {}
        for item in planned:
            first.setdefault(item.key, item)
        return [item for key, item in first.items() if not self._has("generations", key)]

    def keep(self, item: PlannedSample, generation: Generation) -> None:
        """Make a generation durable; an earlier one under the same key, from another process, is kept instead."""
        row = {
            "key": item.key,
            "prompt_sha256": item.prompt_sha256,
            "generation": generation_to_json(generation),
        }
        self.write(lambda connection: insert(connection, "generations", [row], otherwise="IGNORE"), creates=True)

    def begin(self, run: StoredRun, planned: Sequence[PlannedSample], documents: Iterable[Document] = ()) -> None:
        """Record a run, its schedule and the documents that scoring reads.

        A run that is begun again keeps its wall time.
        """
        texts = {document.document_id: document_to_json(document) for document in documents}
        digests = {name: hashlib.sha256(text).hexdigest() for name, text in texts.items()}
        given = {
            "run_id": run.run_id,
            "fingerprint": run.fingerprint,
            "label": run.label,
            "facts": json.dumps(facts_to_strings(run.facts)),
            "at_least": "{}",
        }

        def change(connection: sqlite3.Connection) -> None:
            packed = [{"sha256": digests[name], "document": zlib.compress(text)} for name, text in texts.items()]
            insert(connection, "documents", packed, otherwise="IGNORE")
            read = [{"run_id": run.run_id, "document_id": name, "sha256": digests[name]} for name in texts]
            insert(connection, "run_documents", read, otherwise="REPLACE")
            connection.execute("DELETE FROM run_samples WHERE run_id = ?", (run.run_id,))
            before = row_of_run(connection, run.run_id) or {"wall_s": 0.0}
            insert(connection, "runs", [{**before, **given, **NO_SAMPLES}], otherwise="REPLACE")

        self.write(change)
        self.extend(run.run_id, planned)

    def extend(self, run_id: str, planned: Sequence[PlannedSample]) -> None:
        """Add samples to the end of the schedule of a run that was begun, however long another process has made it."""
        added = [
            {"key": item.key, "prompt_sha256": item.prompt_sha256, "sample": sample_to_json(item.sample)}
            for item in planned
        ]

        def change(connection: sqlite3.Connection, run: Row) -> Row:
            ((first,),) = connection.execute(
                "SELECT coalesce(max(position) + 1, 0) FROM run_samples WHERE run_id = ?", (run_id,)
            )
            samples = [{"run_id": run_id, "position": first + i, **row} for i, row in enumerate(added)]
            insert(connection, "run_samples", samples)
            return with_samples(run, samples)

        self._change_run(run_id, change)

    def change_facts(self, run_id: str, change: Callable[[RunFacts], RunFacts]) -> None:
        """Record what has become known of a run."""

        def changed(_: sqlite3.Connection, run: Row) -> Row:
            return {**run, "facts": json.dumps(facts_to_strings(change(facts_from_json(run["facts"]))))}

        self._change_run(run_id, changed)

    def add_wall_time(self, run_id: str, wall_s: float) -> None:
        """Add the seconds of an invocation that has ended to the run's, and note what there is of it by now."""

        def change(connection: sqlite3.Connection, run: Row) -> Row:
            at_least = json.dumps(kept_rows(connection, run_id))
            return {**run, "wall_s": run["wall_s"] + wall_s, "at_least": at_least}

        self._change_run(run_id, change)

    def vectors(self, keys: Iterable[str]) -> Mapping[str, tuple[float, ...]]:
        """The embeddings that are kept under these keys."""

        def vector(row: Row) -> tuple[str, tuple[float, ...]]:
            return row["key"], vector_of(row["vector"])

        return dict(chain.from_iterable(self.read(vector, "embeddings", "key = ?", key) for key in keys))

    def without_vector(self, keys: Iterable[str]) -> list[str]:
        """Those of the keys under which no embedding is kept, in their order."""
        return [key for key in keys if not self._has("embeddings", key)]

    def keep_vectors(self, vectors: Mapping[str, Sequence[float]]) -> None:
        """Keep embeddings, in single precision. Raises `RunError` for numbers that are not finite."""
        packed = {key: array("f", vector) for key, vector in vectors.items()}
        if not all(map(isfinite, chain.from_iterable(packed.values()))):
            raise RunError("an embedding has a number that is not finite: it is not stored")
        new = [{"key": key, "vector": vector.tobytes()} for key, vector in packed.items()]
        self.write(lambda connection: insert(connection, "embeddings", new, otherwise="IGNORE"))

    def record_fault(self, run_id: str, sample_id: str, fault: Fault) -> None:
        """Count a failed attempt."""
        row = {
            "run_id": run_id,
            "sample_id": sample_id,
            "kind": fault.kind,
            "detail": fault.detail,
        }
        self.write(lambda connection: insert(connection, "faults", [row]))

    def run(self, run_id: str) -> StoredRun | None:
        """A run by its id."""
        return next(iter(self.read(_stored_run, "runs", "run_id = ?", run_id)), None)

    def same_run(self, fingerprint: str, *, label: str) -> StoredRun | None:
        """The latest run of a configuration, whatever its options were called then."""
        latest = "fingerprint = ? AND label = ? ORDER BY created_at DESC LIMIT 1"
        return next(iter(self.read(_stored_run, "runs", latest, fingerprint, label)), None)

    def labelled(self, label: str) -> StoredRun | None:
        """The run that holds a label."""
        return next(iter(self.read(_stored_run, "runs", "label = ? LIMIT 1", label)), None)

    def models(self) -> tuple[str, ...]:
        """The models of all stored runs, each once."""
        return tuple(sorted({run.facts.model for run in self.read(_stored_run, "runs", "true")} - {""}))

    def schedule(self, run_id: str) -> tuple[PlannedSample, ...]:
        """What a run planned, in order, each sample once."""

        def ask(connection: sqlite3.Connection) -> tuple[PlannedSample, ...]:
            found = list(rows(connection, "run_samples", "run_id = ? ORDER BY position", run_id))
            require_samples(row_of_run(connection, run_id) or NO_SAMPLES, found)
            # A search that is under way while another store is merged may add what that one brought.
            once: dict[tuple[str, str], PlannedSample] = {}
            for row in found:
                sample = sample_from_json(row["sample"])
                item = PlannedSample(sample=sample, prompt_sha256=row["prompt_sha256"], key=row["key"])
                once.setdefault((sample.sample_id, item.key), item)
            return tuple(once.values())

        return self.ask(ask) or ()

    def documents(self, run_id: str) -> Mapping[str, Document]:
        """The documents that were kept with a run, by their id."""

        def ask(connection: sqlite3.Connection) -> Mapping[str, Document]:
            found = {}
            for row in rows(connection, "run_documents", "run_id = ?", run_id):
                (kept,) = rows(connection, "documents", "sha256 = ?", row["sha256"])  # `ValueError` where it is missing
                found[row["document_id"]] = document_of(**kept)
            return found

        return self.ask(ask) or {}

    def rates(self, *, model: str, engine: str) -> Rates | None:
        """How fast a model on an engine has been so far, over all its stored runs; None where it has not run."""
        generations = self.read(
            lambda row: generation_from_json(row["generation"]),
            "generations",
            "key IN (SELECT key FROM runs JOIN run_samples USING (run_id) "
            "WHERE json_extract(facts, '$.model') = ? AND json_extract(facts, '$.engine') = ?)",
            model,
            engine,
        )
        prefill_ms = sum(each.ttft_ms for each in generations)
        decode_ms = sum(each.latency_ms - each.ttft_ms for each in generations)
        if prefill_ms <= 0 or decode_ms <= 0:
            return None
        computed = sum(each.prompt_tokens - (each.cached_tokens or 0) for each in generations)
        completed = sum(each.completion_tokens for each in generations)
        return Rates(
            prefill_tokens_per_s=computed / prefill_ms * 1000, decode_tokens_per_s=completed / decode_ms * 1000
        )

    def last_faults(self, run_id: str) -> Mapping[str, Fault]:
        """The last fault of each sample that had one."""
        return dict(self._faults(run_id))

    def count_faults(self, run_id: str) -> Mapping[str, int]:
        """Failed attempts by kind, retried ones included."""
        return Counter(fault.kind for _, fault in self._faults(run_id))

    def failed_attempts(self, run_id: str) -> Mapping[str, int]:
        """Failed attempts of each sample that had one, of every invocation."""
        return Counter(sample_id for sample_id, _ in self._faults(run_id))

    def _faults(self, run_id: str) -> list[tuple[str, Fault]]:
        def fault(row: Row) -> tuple[str, Fault]:
            return row["sample_id"], Fault(kind=row["kind"], detail=row["detail"])

        return self.read(fault, "faults", "run_id = ? ORDER BY created_at, rowid", run_id)

    def _has(self, table: str, key: str) -> bool:
        query = f"SELECT 1 FROM {table} WHERE key = ?"  # noqa: S608 - our own names
        return self.ask(lambda connection: connection.execute(query, (key,)).fetchone()) is not None

    def _change_run(self, run_id: str, change: Callable[[sqlite3.Connection, Row], Row]) -> None:
        """Write a run's row anew, if it was begun."""

        def write(connection: sqlite3.Connection) -> None:
            run = row_of_run(connection, run_id)
            if run is not None:
                insert(connection, "runs", [change(connection, run)], otherwise="REPLACE")

        self.write(write)


def refuse_taken_label(store: Store, *, label: str, fingerprint: str) -> None:
    """Raise `ConfigError` where a label names another configuration already.

    Stores that were merged may have one label for several: each of them keeps it.
    """
    taken = store.labelled(label) if label else None
    if taken is not None and store.same_run(fingerprint, label=label) is None:
        raise ConfigError(
            f"label={label}: is the name of another configuration ({taken.run_id}); "
            "choose another label, or repeat that configuration"
        )


def _stored_run(row: Row) -> StoredRun:
    names = ("run_id", "fingerprint", "label", "wall_s")
    return StoredRun(facts=facts_from_json(row["facts"]), **{name: row[name] for name in names})
