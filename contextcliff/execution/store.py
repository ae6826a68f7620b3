"""`state.db`: every generation at once and for good, found again by what was asked of whom.

SQLite in WAL mode with full synchronisation: a generation that `keep` has returned from survives the
process and the power. The key is a digest of engine, weights, policy, sampling, seed, label and
prompt, so that the same question to the same model is never paid twice, whichever run asks it.
"""

from __future__ import annotations

import hashlib
import json
import zlib
from array import array
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import cast

from pydantic import TypeAdapter

from contextcliff.errors import ConfigError
from contextcliff.execution.database import Database, explained
from contextcliff.execution.packing import json_of_packed, packed_digest, packed_json, packed_planned, planned_of_packed
from contextcliff.execution.stored_rows import (
    cache_strings,
    embedder_strings,
    facts_from_json,
    facts_to_strings,
    generation_from_json,
    generation_to_json,
    judge_strings,
    notes_strings,
    sample_from_json,
    sample_to_json,
    server_strings,
)
from contextcliff.records.corpus import Document
from contextcliff.records.generation import Generation
from contextcliff.records.kv_cache import CacheFacts
from contextcliff.records.report import RunFacts
from contextcliff.records.sample import Sample

STORE_NAME = "state.db"
_document = TypeAdapter(Document)


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
class Answered:
    """A sample of a schedule with its generation."""

    planned: PlannedSample
    generation: Generation


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

    def generation(self, key: str) -> Generation | None:
        """The generation under this key."""
        row = self.first("SELECT generation FROM generations WHERE key = ?", packed_digest(key))
        with explained(self.file):
            return None if row is None else generation_from_json(json_of_packed(row[0]))

    def missing(self, planned: Iterable[PlannedSample]) -> list[PlannedSample]:
        """Those of a schedule that have no generation yet, in its order; of equal keys the first."""
        first: dict[str, PlannedSample] = {}
        for item in planned:
            first.setdefault(item.key, item)
        return [
            item
            for key, item in first.items()
            if self.first("SELECT 1 FROM generations WHERE key = ?", packed_digest(key)) is None
        ]

    def keep(self, *answered: Answered) -> None:
        """Make generations durable, all of them or none.

        An earlier one under the same key, from another process, is kept instead.
        """
        self.write(
            "INSERT OR IGNORE INTO generations (key, generation) VALUES (?, ?)",
            [(packed_digest(each.planned.key), packed_json(generation_to_json(each.generation))) for each in answered],
            creates=True,
        )

    def begin(self, run: StoredRun, planned: Sequence[PlannedSample], documents: Iterable[Document] = ()) -> None:
        """Record a run, its schedule and the documents that scoring reads.

        A run that is begun again keeps its wall time.
        """
        packed = {document.document_id: _pack(document) for document in documents}
        self.write(
            "INSERT OR IGNORE INTO documents (sha256, document) VALUES (?, ?)",
            [(hashlib.sha256(data).hexdigest(), zlib.compress(data)) for data in packed.values()],
        )
        self.write(
            "INSERT OR REPLACE INTO run_documents (run_id, document_id, sha256) VALUES (?, ?, ?)",
            [(run.run_id, name, hashlib.sha256(data).hexdigest()) for name, data in packed.items()],
        )
        self.write(
            "INSERT INTO runs (run_id, fingerprint, label, facts) VALUES (?, ?, ?, ?) "
            "ON CONFLICT (run_id) DO UPDATE SET facts = excluded.facts",
            [(run.run_id, run.fingerprint, run.label, json.dumps(facts_to_strings(run.facts)))],
        )
        self.write("DELETE FROM run_samples WHERE run_id = ?", [(run.run_id,)])
        self.write(
            "INSERT INTO run_samples (run_id, position, key, prompt_sha256, sample) VALUES (?, ?, ?, ?, ?)",
            [(run.run_id, position, *_planned_row(item)) for position, item in enumerate(planned)],
        )

    def extend(self, run_id: str, planned: Sequence[PlannedSample]) -> None:
        """Add samples to the end of the schedule of a run that was begun, however long another process has made it."""
        self.write(
            "INSERT INTO run_samples (run_id, position, key, prompt_sha256, sample) "
            "SELECT ?, coalesce(max(position) + 1, 0), ?, ?, ? FROM run_samples WHERE run_id = ?",
            [(run_id, *_planned_row(item), run_id) for item in planned],
        )

    def record_notes(self, run_id: str, notes: Sequence[str]) -> None:
        """Say what a reader has to know of how the samples of a run were made."""
        self._change_facts(run_id, notes_strings(notes))

    def record_cache(self, run_id: str, cache: CacheFacts) -> None:
        """Keep what is known of the KV cache."""
        self._change_facts(run_id, cache_strings(cache))

    def record_server(self, run_id: str, lines: Sequence[str]) -> None:
        """Say what the server of a run said of itself, in the place of what was known before."""
        self._change_facts(run_id, server_strings(lines))

    def record_judge(self, run_id: str, name: str, *, served: str | None) -> None:
        """Say which model judges a run, and what its server calls it."""
        self._change_facts(run_id, judge_strings(name, served=served))

    def record_embedder(self, run_id: str, name: str) -> None:
        """Say what embedded the texts of a run."""
        self._change_facts(run_id, embedder_strings(name))

    def add_wall_time(self, run_id: str, wall_s: float) -> None:
        """Add an invocation's seconds to the run's."""
        self.write("UPDATE runs SET wall_s = wall_s + ? WHERE run_id = ?", [(wall_s, run_id)])

    def vectors(self, keys: Iterable[str]) -> Mapping[str, tuple[float, ...]]:
        """The embeddings that are kept under these keys."""
        rows = {key: self.first("SELECT vector FROM embeddings WHERE key = ?", key) for key in keys}
        with explained(self.file):
            return {key: tuple(array("f", cast(bytes, row[0]))) for key, row in rows.items() if row is not None}

    def without_vector(self, keys: Iterable[str]) -> list[str]:
        """Those of the keys under which no embedding is kept, in their order."""
        return [key for key in keys if self.first("SELECT 1 FROM embeddings WHERE key = ?", key) is None]

    def keep_vectors(self, vectors: Mapping[str, Sequence[float]]) -> None:
        """Keep embeddings, in single precision."""
        self.write(
            "INSERT OR IGNORE INTO embeddings (key, vector) VALUES (?, ?)",
            [(key, array("f", vector).tobytes()) for key, vector in vectors.items()],
        )

    def record_fault(self, run_id: str, sample_id: str, fault: Fault) -> None:
        """Count a failed attempt."""
        self.write(
            "INSERT INTO faults (run_id, sample_id, kind, detail) VALUES (?, ?, ?, ?)",
            [(run_id, sample_id, fault.kind, fault.detail)],
        )

    def run(self, run_id: str) -> StoredRun | None:
        """A run by its id."""
        row = self.first("SELECT run_id, fingerprint, label, facts, wall_s FROM runs WHERE run_id = ?", run_id)
        with explained(self.file):
            return None if row is None else _stored_run(row)

    def same_run(self, fingerprint: str, *, label: str) -> StoredRun | None:
        """The latest run of a configuration, whatever its options were called then."""
        row = self.first(
            "SELECT run_id, fingerprint, label, facts, wall_s FROM runs WHERE fingerprint = ? AND label = ? "
            "ORDER BY created_at DESC LIMIT 1",
            fingerprint,
            label,
        )
        with explained(self.file):
            return None if row is None else _stored_run(row)

    def labelled(self, label: str) -> StoredRun | None:
        """The run that holds a label."""
        row = self.first("SELECT run_id, fingerprint, label, facts, wall_s FROM runs WHERE label = ? LIMIT 1", label)
        with explained(self.file):
            return None if row is None else _stored_run(row)

    def models(self) -> tuple[str, ...]:
        """The models of all stored runs, each once."""
        rows = self.all("SELECT DISTINCT json_extract(facts, '$.model') FROM runs ORDER BY 1")
        return tuple(name for (name,) in rows if name)

    def schedule(self, run_id: str) -> tuple[PlannedSample, ...]:
        """What a run planned, in order, each sample once."""
        rows = self.all("SELECT key, prompt_sha256, sample FROM run_samples WHERE run_id = ? ORDER BY position", run_id)
        with explained(self.file):
            planned = (
                PlannedSample(sample=sample_from_json(sample), prompt_sha256=sha256, key=key)
                for key, sha256, sample in (planned_of_packed(*row) for row in rows)
            )
            # A search that is under way while another store is merged may add what that one brought.
            once: dict[tuple[str, str], PlannedSample] = {}
            for item in planned:
                once.setdefault((item.sample.sample_id, item.key), item)
            return tuple(once.values())

    def documents(self, run_id: str) -> Mapping[str, Document]:
        """The documents that were kept with a run, by their id."""
        rows = self.all(
            "SELECT document_id, document FROM run_documents JOIN documents USING (sha256) WHERE run_id = ?", run_id
        )
        with explained(self.file):
            return {name: _document.validate_json(zlib.decompress(cast(bytes, data))) for name, data in rows}

    def rates(self, *, model: str, engine: str) -> Rates | None:
        """How fast a model on an engine has been so far, over all its stored runs; None where it has not run."""
        rows = self.all(
            "SELECT DISTINCT generations.key, generation FROM runs JOIN run_samples USING (run_id) "
            "JOIN generations USING (key) "
            "WHERE json_extract(facts, '$.model') = ? AND json_extract(facts, '$.engine') = ?",
            model,
            engine,
        )
        with explained(self.file):
            generations = [generation_from_json(json_of_packed(row[1])) for row in rows]
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
        rows = self.all(
            "SELECT sample_id, kind, detail FROM faults WHERE run_id = ? ORDER BY created_at, rowid", run_id
        )
        return {sample_id: Fault(kind=kind, detail=detail) for sample_id, kind, detail in rows}

    def count_faults(self, run_id: str) -> Mapping[str, int]:
        """Failed attempts by kind, retried ones included."""
        return Counter(kind for (kind,) in self.all("SELECT kind FROM faults WHERE run_id = ?", run_id))

    def failed_attempts(self, run_id: str) -> Mapping[str, int]:
        """Failed attempts of each sample that had one, of every invocation."""
        return Counter(sample for (sample,) in self.all("SELECT sample_id FROM faults WHERE run_id = ?", run_id))

    def _change_facts(self, run_id: str, changed: Mapping[str, str]) -> None:
        self.write("UPDATE runs SET facts = json_patch(facts, ?) WHERE run_id = ?", [(json.dumps(changed), run_id)])


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


def _planned_row(item: PlannedSample) -> tuple[object, ...]:
    return packed_planned(item.key, item.prompt_sha256, sample_to_json(item.sample))


def _pack(document: Document) -> bytes:
    return _document.dump_json(document)


def _stored_run(row: tuple[str, ...]) -> StoredRun:
    run_id, fingerprint, label, facts, wall_s = row
    return StoredRun(
        run_id=run_id, fingerprint=fingerprint, label=label, facts=facts_from_json(facts), wall_s=float(wall_s)
    )
