"""`state.db`: every generation at once and for good, by a key of what was asked of whom.

SQLite in WAL mode with full synchronisation: a generation that `keep` has returned from survives the process and the
power. The same question to the same model is never paid twice, whichever run asks it."""

from __future__ import annotations

import hashlib
import json
import sqlite3
import zlib
from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import asdict, dataclass, fields
from math import isfinite
from pathlib import Path
from threading import RLock
from typing import Self

from pydantic import TypeAdapter
from pydantic_core import from_json

from contextcliff.datasets.local_files import MAX_BYTES
from contextcliff.errors import ConfigError, EngineFault, RunError
from contextcliff.execution.database import (
    NO_SAMPLES,
    Row,
    explained,
    insert,
    kept_rows,
    migrate,
    opened,
    rows,
    samples_of,
    verify,
    with_samples,
)
from contextcliff.models.sampling import Sampling
from contextcliff.records.corpus import Document
from contextcliff.records.generation import Generation
from contextcliff.records.report import RunFacts
from contextcliff.records.sample import Reference, Sample
from contextcliff.seeding import digest_of

STORE_NAME = "state.db"
_Change = Callable[[sqlite3.Connection], None]


@dataclass(frozen=True, kw_only=True, slots=True)
class Respondent:
    """Who answers: engine, weights and KV policy (`identity`), how tokens are drawn, and the label."""

    identity: Mapping[str, object]
    sampling: Sampling
    label: str

    def key(self, sample: Sample, prompt_sha256: str, *, served: str | None = None) -> str:
        """The store's key of this respondent's answer; `served` is the model's name as a server reports it. The seed
        enters only where tokens are drawn: a greedy answer to the same prompt is the same."""
        samplers = asdict(self.sampling.for_answer(sample.answer_tokens))
        given = samplers.pop("seed")
        seed = (sample.seed if given is None else given) if self.sampling.temperature > 0.0 else None
        again = (sample.repeat,) if sample.repeat else ()
        return digest_of(dict(self.identity), served, samplers, self.label, prompt_sha256, seed, *again)


@dataclass(frozen=True, kw_only=True, slots=True)
class StoredRun:
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


class Store:
    """What is kept of the runs of one folder. `keep` makes the database; what is written before that waits in memory.
    Threads may share it: what they write while one waits for the disk goes in with the next transaction."""

    def __init__(self, folder: Path) -> None:
        self.file = folder / STORE_NAME
        self._turn = RLock()
        self._open: sqlite3.Connection | None = None
        self._waiting: list[_Change] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._open is not None:
            self._open.close()
            self._open = None

    def verify(self) -> None:
        """Raise `RunError` unless the store holds what was written, and all of it."""
        with self._reading() as connection:
            verify(connection)

    def generation(self, key: str, *, prompt_sha256: str | None = None) -> Generation | None:
        """The answer under this key. Raises `RunError` for one to another prompt."""
        with self._reading() as connection:
            for row in rows(connection, "generations", "key = ?", key):
                if None not in (prompt_sha256, row["prompt_sha256"]) and prompt_sha256 != row["prompt_sha256"]:
                    raise sqlite3.DatabaseError("an answer is to another prompt")
                return generation_from_json(row["generation"])
        return None

    def answered_at(self, keys: Iterable[str]) -> str | None:
        """When the first answer under one of these keys came, in ISO 8601; None without one."""
        with self._reading() as connection:
            found = (row["created_at"] for key in keys for row in rows(connection, "generations", "key = ?", key))
            return min(found, default=None)

    def missing(self, planned: Iterable[PlannedSample]) -> list[PlannedSample]:
        """Those without a generation, in their order; of equal keys the first."""
        first: dict[str, PlannedSample] = {}
        for item in planned:
            first.setdefault(item.key, item)
        query = "SELECT 1 FROM generations WHERE key = ?"
        with self._reading() as connection:
            return [each for key, each in first.items() if connection.execute(query, (key,)).fetchone() is None]

    def keep(self, item: PlannedSample, generation: Generation) -> None:
        """Make a generation durable, unless another process has kept one under its key."""
        text = generation_to_json(generation)
        row = {"key": item.key, "prompt_sha256": item.prompt_sha256, "generation": text}
        self._write(lambda connection: insert(connection, "generations", [row], otherwise="IGNORE"), creates=True)

    def begin(self, run: StoredRun, planned: Sequence[PlannedSample], documents: Iterable[Document] = ()) -> None:
        """Record a run, its schedule and the documents that scoring reads. Begun again, it keeps its wall time."""
        run_id, texts = run.run_id, {each.document_id: _document.dump_json(each) for each in documents}
        digests = {name: hashlib.sha256(text).hexdigest() for name, text in texts.items()}
        facts = json.dumps(facts_to_strings(run.facts))
        given = {"run_id": run_id, "fingerprint": run.fingerprint, "label": run.label, "facts": facts}

        def change(connection: sqlite3.Connection) -> None:
            packed = [{"sha256": digests[name], "document": zlib.compress(text)} for name, text in texts.items()]
            insert(connection, "documents", packed, otherwise="IGNORE")
            read = [{"run_id": run_id, "document_id": name, "sha256": digest} for name, digest in digests.items()]
            insert(connection, "run_documents", read, otherwise="REPLACE")
            connection.execute("DELETE FROM run_samples WHERE run_id = ?", (run_id,))
            before = next(rows(connection, "runs", "run_id = ?", run_id), {"wall_s": 0.0})
            insert(connection, "runs", [{**before, **given, **NO_SAMPLES, "at_least": "{}"}], otherwise="REPLACE")

        self._write(change)
        self.extend(run_id, planned)

    def extend(self, run_id: str, planned: Sequence[PlannedSample]) -> None:
        """Add samples to the end of a run's schedule, however long another process has made it."""
        added = [
            {"key": item.key, "prompt_sha256": item.prompt_sha256, "sample": sample_to_json(item.sample)}
            for item in planned
        ]

        def change(connection: sqlite3.Connection, run: Row) -> Row:
            last = "SELECT coalesce(max(position), -1) FROM run_samples WHERE run_id = ?"
            start = connection.execute(last, (run_id,)).fetchone()[0] + 1
            samples = [{"run_id": run_id, "position": i, **row} for i, row in enumerate(added, start)]
            insert(connection, "run_samples", samples)
            return with_samples(run, samples)

        self._change_run(run_id, change)

    def change_facts(self, run_id: str, change: Callable[[RunFacts], RunFacts]) -> None:

        def changed(_: sqlite3.Connection, run: Row) -> Row:
            return {"facts": json.dumps(facts_to_strings(change(facts_from_json(run["facts"]))))}

        self._change_run(run_id, changed)

    def add_wall_time(self, run_id: str, wall_s: float) -> None:
        """Add the seconds of an invocation to the run's, and note how much there is of it by now."""

        def changed(connection: sqlite3.Connection, run: Row) -> Row:
            return {"wall_s": run["wall_s"] + wall_s, "at_least": json.dumps(kept_rows(connection, run_id))}

        self._change_run(run_id, changed)

    def vectors(self, keys: Iterable[str]) -> Mapping[str, tuple[float, ...]]:
        with self._reading() as connection:
            found = (row for key in keys for row in rows(connection, "embeddings", "key = ?", key))
            return {row["key"]: vector_of(row["vector"]) for row in found}

    def keep_vectors(self, vectors: Mapping[str, Sequence[float]]) -> None:
        packed = {key: array("f", vector).tobytes() for key, vector in vectors.items()}
        try:
            for data in packed.values():
                vector_of(data)
        except ValueError as error:
            raise RunError(f"{error}: it is not stored") from error
        new = [{"key": key, "vector": data} for key, data in packed.items()]
        self._write(lambda connection: insert(connection, "embeddings", new, otherwise="IGNORE"))

    def run(self, run_id: str) -> StoredRun | None:
        return next(iter(self._runs("run_id = ?", run_id)), None)

    def same_run(self, fingerprint: str, *, label: str) -> StoredRun | None:
        """The latest run of a configuration, however its options were called."""
        latest = "fingerprint = ? AND label = ? ORDER BY created_at DESC LIMIT 1"
        return next(iter(self._runs(latest, fingerprint, label)), None)

    def runs_that_asked(self, keys: Sequence[str]) -> list[StoredRun]:
        """The runs that have a sample under one of these keys."""
        asked = f"run_id IN (SELECT run_id FROM run_samples WHERE key IN ({', '.join('?' * len(keys))}))"  # noqa: S608
        return self._runs(asked, *keys)

    def refuse_taken_label(self, label: str, *, fingerprint: str) -> None:
        """Raise `ConfigError` if a label names other configurations only. Merged stores may have one for several."""
        named = self._runs("label = ?", label) if label else []
        if named and fingerprint not in {run.fingerprint for run in named}:
            raise ConfigError(
                f"label={label}: is the name of another configuration ({named[0].run_id}); "
                "choose another label, or repeat that configuration"
            )

    def models(self) -> tuple[str, ...]:
        return tuple(sorted({run.facts.model for run in self._runs("true")} - {""}))

    def schedule(self, run_id: str) -> tuple[PlannedSample, ...]:
        # A search that is under way while another store is merged may add what that one brought.
        once: dict[tuple[str, str], PlannedSample] = {}
        with self._reading() as connection:
            for run in rows(connection, "runs", "run_id = ?", run_id):
                for row in samples_of(connection, run):
                    sample = sample_from_json(row["sample"])
                    item = PlannedSample(sample=sample, prompt_sha256=row["prompt_sha256"], key=row["key"])
                    once.setdefault((sample.sample_id, item.key), item)
        return tuple(once.values())

    def documents(self, run_id: str) -> Mapping[str, Document]:
        found = {}
        with self._reading() as connection:
            for row in rows(connection, "run_documents", "run_id = ?", run_id):
                (kept,) = rows(connection, "documents", "sha256 = ?", row["sha256"])  # `ValueError` where it is missing
                found[row["document_id"]] = document_of(**kept)
        return found

    def rates(self, *, model: str, engine: str) -> tuple[float | None, float | None]:
        """Tokens a second of a model's prompts (those computed) and answers on an engine, over its stored runs."""
        of_model = "json_extract(facts, '$.model') = ? AND json_extract(facts, '$.engine') = ?"
        where = f"key IN (SELECT key FROM runs JOIN run_samples USING (run_id) WHERE {of_model})"  # noqa: S608 - ours
        with self._reading() as connection:
            found = rows(connection, "generations", where, model, engine)
            generations = [generation_from_json(row["generation"]) for row in found]
        prefill_ms = sum(each.ttft_ms for each in generations)
        decode_ms = sum(each.latency_ms - each.ttft_ms for each in generations)
        if prefill_ms <= 0 or decode_ms <= 0:
            return None, None
        computed = sum(each.prompt_tokens - (each.cached_tokens or 0) for each in generations)
        completed = sum(each.completion_tokens for each in generations)
        return computed / prefill_ms * 1000, completed / decode_ms * 1000

    def record_fault(self, run_id: str, sample_id: str, fault: EngineFault) -> None:
        row = {"run_id": run_id, "sample_id": sample_id, "kind": fault.kind, "detail": fault.detail}
        self._write(lambda connection: insert(connection, "faults", [row]))

    def faults(self, run_id: str) -> list[tuple[str, EngineFault]]:
        """The failed attempts of a run in their order, retried ones included, each with the id of its sample."""
        with self._reading() as connection:
            found = rows(connection, "faults", "run_id = ? ORDER BY created_at, rowid", run_id)
            return [(row["sample_id"], EngineFault(row["kind"], row["detail"])) for row in found]

    def _runs(self, where: str, *values: object) -> list[StoredRun]:
        names = ("run_id", "fingerprint", "label", "wall_s")
        with self._reading() as connection:
            return [
                StoredRun(facts=facts_from_json(row["facts"]), **{name: row[name] for name in names})
                for row in rows(connection, "runs", where, *values)
            ]

    @contextmanager
    def _reading(self) -> Iterator[sqlite3.Connection]:
        """One state of the database, whoever writes to it meanwhile; an empty one where there is no file."""
        with self._turn, explained(self.file):
            if self._open is None and not self.file.exists():
                with closing(sqlite3.connect(":memory:")) as nothing:
                    migrate(nothing, self.file)
                    yield nothing
            else:
                connection = self._connection()
                connection.execute("BEGIN")
                with connection:
                    yield connection

    def _write(self, change: _Change, *, creates: bool = False) -> None:
        """Make a change, in one transaction with all that wait."""
        self._waiting.append(change)
        with self._turn:
            if change not in self._waiting or not (creates or self.file.exists()):
                return  # another thread has written it, or there is no database yet
            with explained(self.file):
                connection = self._connection()
                connection.execute("BEGIN IMMEDIATE")
                with connection:  # commits, or rolls back
                    waiting = tuple(self._waiting)
                    for each in waiting:
                        each(connection)
            del self._waiting[: len(waiting)]

    def _change_run(self, run_id: str, changed: Callable[[sqlite3.Connection, Row], Row]) -> None:

        def change(connection: sqlite3.Connection) -> None:
            for run in list(rows(connection, "runs", "run_id = ?", run_id)):
                insert(connection, "runs", [{**run, **changed(connection, run)}], otherwise="REPLACE")

        self._write(change)

    def _connection(self) -> sqlite3.Connection:
        if self._open is None:
            self._open = opened(self.file)
        return self._open


_facts = TypeAdapter(RunFacts)
_strings, _object = TypeAdapter(dict[str, str]), TypeAdapter(dict[str, object])
_sample = TypeAdapter(Sample)
_generation = TypeAdapter(Generation)
generation_from_json = _generation.validate_json
_document = TypeAdapter(Document)
_LINES = ("notes", "server")
_OBJECTS = ("audit", "search", "replay", "cache", "positions", "control_tokens")
_DRAWN = ("analysis.bins", "analysis.binning")


def facts_to_strings(facts: RunFacts) -> dict[str, str]:
    """Numbers as digits, lines joined, records as JSON; what is None or False is left out. `manifest.json` has them."""
    values = {name: value for name, value in asdict(facts).items() if value is not None and value is not False}
    values["window"] = values.pop("context_window", "")
    values |= dict(zip(_DRAWN, values.pop("drawn", ()), strict=False))
    values |= {name: "\n".join(values[name]) for name in _LINES}
    values |= {name: _json(values[name]) for name in _OBJECTS if name in values}
    return {name: "true" if value is True else str(value) for name, value in values.items()}


def facts_from_json(text: str) -> RunFacts:
    """Read them back; those of early versions lack some. Raises `ValueError` where a fact can't be read."""
    strings = _strings.validate_json(text)
    values: dict[str, object] = {"dataset": "", **strings}
    values |= {name: strings.get(name, "").splitlines() for name in _LINES}
    # Earlier versions wrote an empty text for none.
    values |= {name: from_json(strings[name]) if strings[name] else None for name in _OBJECTS if name in strings}
    values["judge_served"] = strings.get("judge_served") or None
    if "window" in strings:
        values["context_window"] = strings["window"] or None
    if strings.keys() >= {*_DRAWN}:
        values["drawn"] = [strings[name] for name in _DRAWN]
    return _facts.validate_python(values)


def sample_to_json(sample: Sample) -> str:
    values = _sample.dump_python(sample, mode="json", exclude_defaults=True)
    return _json({**values.pop("reference", {}), **values})


def sample_from_json(text: str) -> Sample:
    values = _object.validate_json(text)
    reference = {field.name: values.pop(field.name) for field in fields(Reference) if field.name in values}
    return _sample.validate_python({**values, "reference": reference})


def generation_to_json(generation: Generation) -> str:
    return _json(_generation.dump_python(generation, mode="json", exclude_defaults=True))


def _json(values: Mapping[str, object]) -> str:
    try:
        return json.dumps(values, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    except ValueError as error:
        raise RunError(f"a number that is not finite is not stored ({error})") from error


def document_of(sha256: str, document: bytes) -> Document:
    """Unpack and read it. Raises `ValueError` or `zlib.error` for bytes that this digest does not name."""
    data = zlib.decompressobj().decompress(document, MAX_BYTES)
    if hashlib.sha256(data).hexdigest() != sha256:
        raise ValueError("a document is not the one that its digest names")
    return _document.validate_json(data)


def vector_of(data: bytes) -> tuple[float, ...]:
    """The numbers of an embedding. Raises `ValueError`."""
    vector = tuple(array("f", data))
    if not all(map(isfinite, vector)):
        raise ValueError("a number of an embedding is not finite")
    return vector
