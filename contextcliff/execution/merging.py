"""Two stores become one: what is missing is inserted, in one transaction, and nothing that is there is replaced.

The other one may be anybody's, of an earlier version, or in use. Nothing of it is changed, and what is merged is a copy
that was checked row by row: rows that our own code could have written, under names that stay inside an output folder.

Keys of answers, embeddings and documents say what they are of, so that only rows that are missing go in. Of a run that
both stores have the one with more samples stays: the same command goes on with it, and asks nothing that either has.
"""

from __future__ import annotations

import sqlite3
import tempfile
import zlib
from collections.abc import Iterator
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

from pydantic import AfterValidator, ConfigDict, Field, Json, TypeAdapter

from contextcliff.errors import RunError
from contextcliff.execution.database import (
    COLUMNS,
    VERSION,
    Row,
    check,
    explained,
    insert,
    migrate,
    opened,
    rows,
    seal_runs,
    verify,
)
from contextcliff.execution.packing import MOST_BYTES
from contextcliff.execution.store import (
    STORE_NAME,
    Store,
    document_of,
    facts_from_json,
    generation_from_json,
    sample_from_json,
    vector_of,
)

_BY_CONTENT = ("generations", "embeddings", "documents")
_OF_RUNS = ("run_samples", "run_documents", "faults", "runs")
_OTHER_ANSWERS = (
    "FROM theirs.generations AS t JOIN main.generations AS m USING (key) WHERE t.generation <> m.generation"
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Merged:
    """What a store brought."""

    runs: int
    new_runs: int
    generations: int
    new_generations: int
    other_answers: int
    """Answers that both stores have under one key and that differ: the one that was here stays."""


def merge_store(store: Store, other: Path) -> Merged:
    """Insert what the store in the folder `other` has and `store` lacks, all of it or nothing.

    Raises `RunError` where it can't be read, and where a run of one id is another configuration here.
    """
    with tempfile.TemporaryDirectory(prefix="contextcliff-gather-") as folder:
        copy = Path(folder) / STORE_NAME
        _checked_copy(other / STORE_NAME, copy)
        with explained(store.file), closing(opened(store.file)) as connection:
            connection.execute("ATTACH DATABASE ? AS theirs", (str(copy),))
            connection.execute("BEGIN IMMEDIATE")
            with connection:  # commits, or rolls back
                return _merged(connection, other / STORE_NAME)


def _merged(connection: sqlite3.Connection, file: Path) -> Merged:
    verify(connection)
    _refuse_other_configurations(connection, file)
    other_answers = _count(connection, f"SELECT count(*) {_OTHER_ANSWERS}")
    new_generations, *_ = [_insert(connection, table) for table in _BY_CONTENT]
    shared = "FROM theirs.runs AS t JOIN main.runs AS m USING (run_id)"
    n_shared = _count(connection, f"SELECT count(*) {shared}")
    longer = connection.execute(f"SELECT run_id {shared} WHERE t.samples > m.samples").fetchall()
    for table in _OF_RUNS:
        connection.executemany(f"DELETE FROM main.{table} WHERE run_id = ?", longer)  # noqa: S608 - our own names
    for table in _OF_RUNS:
        _insert(connection, table, "run_id NOT IN (SELECT run_id FROM main.runs)")
    seal_runs(connection)
    return Merged(
        runs=_count(connection, "SELECT count(*) FROM theirs.runs"),
        new_runs=_count(connection, "SELECT count(*) FROM theirs.runs") - n_shared,
        generations=_count(connection, "SELECT count(*) FROM theirs.generations"),
        new_generations=new_generations,
        other_answers=other_answers,
    )


def _refuse_other_configurations(connection: sqlite3.Connection, file: Path) -> None:
    found = connection.execute(
        "SELECT run_id FROM theirs.runs AS t JOIN main.runs AS m USING (run_id) "
        "WHERE t.fingerprint <> m.fingerprint OR t.label <> m.label ORDER BY 1 LIMIT 1"
    ).fetchone()
    if found is not None:
        raise RunError(f"{file}: its run {found[0]} is another configuration than the one here; leave that store out")


def _count(connection: sqlite3.Connection, query: str) -> int:
    return int(connection.execute(query).fetchone()[0])


def _insert(connection: sqlite3.Connection, table: str, where: str = "true") -> int:
    taken = f"SELECT * FROM theirs.{table} WHERE {where}"  # noqa: S608 - our own names
    return connection.execute(f"INSERT OR IGNORE INTO main.{table} {taken}").rowcount


_BUSY_S = 30.0
_RunId = Annotated[str, Field(pattern=r"\A\w[\w.-]{0,254}\Z")]
"""The name of its folder."""
_Label = Annotated[str, Field(pattern=r"\A[A-Za-z0-9_.-]{0,64}\Z")]
_Count = Annotated[int, Field(ge=0)]
_Counted = Literal["answers", "faults", "documents", "embeddings"]
_Facts = Annotated[str, AfterValidator(facts_from_json)]
_Sample = Annotated[str, AfterValidator(sample_from_json)]
_Generation = Annotated[str, AfterValidator(generation_from_json)]
_Vector = Annotated[bytes, AfterValidator(vector_of)]
_Document = Annotated[tuple[str, bytes], AfterValidator(lambda row: document_of(*row))]
_Seconds = Annotated[float, Field(ge=0)]
_STRICT = ConfigDict(strict=True, allow_inf_nan=False, regex_engine="python-re")
_ROWS: dict[str, TypeAdapter[object]] = {
    "runs": TypeAdapter(
        tuple[_RunId, str, _Label, _Facts, _Seconds, str, _Count, str, Json[dict[_Counted, _Count]]], config=_STRICT
    ),
    "run_samples": TypeAdapter(tuple[str, int, str, str, _Sample], config=_STRICT),
    "generations": TypeAdapter(tuple[str, str | None, _Generation, str], config=_STRICT),
    "documents": TypeAdapter(_Document, config=_STRICT),
    "run_documents": TypeAdapter(tuple[str, str, str], config=_STRICT),
    "embeddings": TypeAdapter(tuple[str, _Vector], config=_STRICT),
    "faults": TypeAdapter(tuple[str, str, str, str, str], config=_STRICT),
}
"""What a row of each table is, in the order of its columns."""


def _checked_copy(file: Path, copy: Path) -> None:
    """Copy every row of a store into the new database `copy`. Raises `RunError` that names the file."""
    problem = "is damaged, or no database"
    way_out = "nothing of it was taken: mend it there (sqlite3 FILE .recover), or leave it out"
    try:
        with closing(_readable(file)) as given, closing(sqlite3.connect(copy)) as made:
            migrate(made, copy)
            source = given
            version = check(given, file)
            _refuse_programs(given, file)
            if version < VERSION:
                source = sqlite3.connect(":memory:")
                given.backup(source)
                migrate(source, file)
            source.execute("PRAGMA trusted_schema = OFF")
            source.execute("BEGIN")  # one state of it, whoever writes to it meanwhile
            with made:
                for table in COLUMNS:
                    insert(made, table, _checked(source, table))
            verify(made)
    except sqlite3.Error as error:
        raise RunError(f"{file}: {problem} ({error}); {way_out}") from error
    except (ValueError, TypeError, zlib.error) as error:
        raise RunError(f"{file}: {problem} (a row can't be read: {type(error).__name__}); {way_out}") from error
    except OSError as error:
        raise RunError(f"{file}: {error.strerror or error}; {way_out}") from error


def _checked(source: sqlite3.Connection, table: str) -> Iterator[Row]:
    for row in rows(source, table):
        _ROWS[table].validate_python(tuple(row.values()))
        yield row


def _readable(file: Path) -> sqlite3.Connection:
    """A connection that changes nothing. On a medium that can't be written SQLite has to be told that nobody writes."""
    address = file.resolve().as_uri()
    waiting = file.with_name(f"{file.name}-wal")
    for asked in ("mode=ro", "immutable=1"):
        connection = sqlite3.connect(f"{address}?{asked}", uri=True, timeout=_BUSY_S)
        connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, MOST_BYTES)
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
