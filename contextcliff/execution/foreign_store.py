"""Another output folder's `state.db`, read and checked row by row into a database of our own making.

It may be anybody's, of an earlier version, or in use. Nothing of it is changed, and what is merged later is this copy:
rows that our own code could have written, under names that stay inside an output folder.
"""

from __future__ import annotations

import hashlib
import re
import sqlite3
import zlib
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from pathlib import Path

from pydantic import TypeAdapter

from contextcliff.datasets.local_files import MAX_BYTES
from contextcliff.errors import RunError
from contextcliff.execution.database import VERSION, check, migrate
from contextcliff.execution.packing import digest_of_packed, json_of_packed, planned_of_packed
from contextcliff.execution.stored_rows import facts_from_json, sample_from_json
from contextcliff.records.generation import Generation

_Row = tuple[object, ...]
_BUSY_S = 30.0
_FOLDER = re.compile(r"\w[\w.-]{0,254}")
"""What a run id may be: the name of its folder."""
_LABEL = re.compile(r"[\w.-]{0,64}", re.ASCII)
_FLOAT_BYTES = 4
_generation = TypeAdapter(Generation)

COLUMNS = {
    "generations": ("key", "generation", "created_at"),
    "embeddings": ("key", "vector"),
    "documents": ("sha256", "document"),
    "runs": ("run_id", "fingerprint", "label", "facts", "wall_s", "created_at"),
    "run_samples": ("run_id", "position", "key", "prompt_sha256", "sample"),
    "run_documents": ("run_id", "document_id", "sha256"),
    "faults": ("run_id", "sample_id", "kind", "detail", "created_at"),
}
"""All that a store holds."""


def checked_copy(file: Path, copy: Path) -> None:
    """Copy every row of a store into the new database `copy`. Raises `RunError` that names the file."""
    problem = "is damaged, or no database"
    way_out = "nothing of it was taken: mend it there (sqlite3 FILE .recover), or leave it out"
    try:
        with closing(_readable(file)) as given, closing(sqlite3.connect(copy)) as made:
            migrate(made, copy)
            source: sqlite3.Connection = given
            version = check(given, file)
            _refuse_programs(given, file)
            if version < VERSION:
                source = sqlite3.connect(":memory:")
                given.backup(source)
                migrate(source, file)
            source.execute("PRAGMA trusted_schema = OFF")
            source.execute("BEGIN")  # one state of it, whoever writes to it meanwhile
            with made:
                for table, columns in COLUMNS.items():
                    holes = ", ".join("?" * len(columns))
                    made.executemany(
                        f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({holes})",  # noqa: S608 - our own names
                        _checked(source, table),
                    )
            source.close()
    except sqlite3.Error as error:
        raise RunError(f"{file}: {problem} ({error}); {way_out}") from error
    except (ValueError, TypeError, zlib.error) as error:
        raise RunError(f"{file}: {problem} (a row can't be read: {type(error).__name__}); {way_out}") from error
    except OSError as error:
        raise RunError(f"{file}: {error.strerror or error}; {way_out}") from error


def _readable(file: Path) -> sqlite3.Connection:
    """A connection that changes nothing. On a medium that can't be written SQLite has to be told that nobody writes."""
    address = file.resolve().as_uri()
    waiting = file.with_name(f"{file.name}-wal")
    for asked in ("mode=ro", "immutable=1"):
        connection = sqlite3.connect(f"{address}?{asked}", uri=True, timeout=_BUSY_S)
        try:
            connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
            return connection
        except sqlite3.Error as error:
            connection.close()
            refused = getattr(error, "sqlite_errorcode", 0) & 0xFF
            with suppress(OSError):
                if waiting.stat().st_size > 0:
                    raise
            if asked != "mode=ro" or refused not in (sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY):
                raise
    raise AssertionError("the last attempt returns or raises")


def _refuse_programs(source: sqlite3.Connection, file: Path) -> None:
    """Raise `RunError` for views, triggers and virtual tables: no store has any, and reading them runs them."""
    found = source.execute(
        "SELECT name FROM sqlite_master WHERE type IN ('view', 'trigger') OR sql LIKE 'CREATE VIRTUAL%' LIMIT 1"
    ).fetchone()
    if found is not None:
        raise RunError(f"{file}: is none of ContextCliff's stores (it has {found[0]}); leave it out")


def _checked(source: sqlite3.Connection, table: str) -> Iterator[_Row]:
    check_row = _CHECKS[table]
    for row in source.execute(f"SELECT {', '.join(COLUMNS[table])} FROM {table}"):  # noqa: S608 - our own names
        check_row(row)
        yield row


def _texts(*values: object) -> None:
    if not all(isinstance(value, str) for value in values):
        raise ValueError("a text is something else")


def _check_generation(row: _Row) -> None:
    key, generation, created_at = row
    _texts(created_at)
    digest_of_packed(key)
    _generation.validate_json(json_of_packed(generation))


def _check_vector(row: _Row) -> None:
    key, vector = row
    _texts(key)
    if not isinstance(vector, bytes) or len(vector) % _FLOAT_BYTES:
        raise ValueError("a vector is something else")


def _check_document(row: _Row) -> None:
    digest, packed = row
    if not isinstance(packed, bytes):
        raise ValueError("a document is something else")
    unpacking = zlib.decompressobj()
    data = unpacking.decompress(packed, MAX_BYTES)
    if unpacking.unconsumed_tail or hashlib.sha256(data).hexdigest() != digest:
        raise ValueError("a document is not the one that its key names")


def _check_run(row: _Row) -> None:
    run_id, fingerprint, label, facts, wall_s, created_at = row
    _texts(run_id, fingerprint, label, facts, created_at)
    if not _FOLDER.fullmatch(str(run_id)) or not _LABEL.fullmatch(str(label)):
        raise ValueError("a run has a name that no run can have")
    if not isinstance(wall_s, int | float) or not 0 <= wall_s < float("inf"):
        raise ValueError("a run took a time that no run can take")
    facts_from_json(str(facts))


def _check_sample(row: _Row) -> None:
    run_id, position, *planned = row
    _texts(run_id)
    if not isinstance(position, int):
        raise ValueError("a position is something else")
    _, _, sample = planned_of_packed(*planned)
    sample_from_json(sample)


def _check_texts(row: _Row) -> None:
    _texts(*row)


_CHECKS: dict[str, Callable[[_Row], None]] = {
    "generations": _check_generation,
    "embeddings": _check_vector,
    "documents": _check_document,
    "runs": _check_run,
    "run_samples": _check_sample,
    "run_documents": _check_texts,
    "faults": _check_texts,
}
