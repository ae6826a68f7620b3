"""Two stores become one: what is missing is inserted, in one transaction, and nothing that is there is replaced.

The other one may be anybody's, of an earlier version, or in use. Nothing of it is changed: what is merged is a copy,
checked row by row, of rows that our own code could have written, under names that stay inside an output folder."""

from __future__ import annotations

import os
import sqlite3
import zlib
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, ConfigDict, Field, Json, TypeAdapter

from contextcliff.errors import RunError
from contextcliff.execution.database import MOST_BYTES, Row, explained, insert, migrate, opened, rows, seal_runs, verify
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
"""Their keys say what they are of: only rows that are missing go in."""
_OF_RUNS = ("run_samples", "run_documents", "faults", "runs")
_BUSY_S = 30.0


Merged = dict[Literal["runs", "new_runs", "answers", "new_answers", "other_answers"], int]
"""What a store brought. Other answers are those that both have under one key and that differ: the one here stays."""


def merge_store(store: Store, other: Path) -> Merged:
    """Insert what the store in the folder `other` has and `store` lacks, all of it or nothing. Raises `RunError`. Of a
    run that both have the one with more samples stays."""
    file = other / STORE_NAME
    with TemporaryDirectory(prefix="contextcliff-gather-") as folder:
        copy = _checked_copy(file, Path(folder))
        with explained(store.file), closing(opened(store.file)) as connection:
            connection.execute("ATTACH DATABASE ? AS theirs", (str(copy),))
            connection.execute("BEGIN IMMEDIATE")
            with connection:  # commits, or rolls back
                verify(connection)
                return _merged(connection, file)


def _merged(connection: sqlite3.Connection, file: Path) -> Merged:
    def count(of: str) -> int:
        return int(connection.execute(f"SELECT count(*) FROM {of}").fetchone()[0])  # noqa: S608 - our own names

    def take(table: str) -> int:
        where = "run_id NOT IN (SELECT run_id FROM main.runs)" if table in _OF_RUNS else "true"
        taken = f"SELECT * FROM theirs.{table} WHERE {where}"  # noqa: S608 - our own names
        return connection.execute(f"INSERT OR IGNORE INTO main.{table} {taken}").rowcount

    both = "theirs.runs AS t JOIN main.runs AS m USING (run_id)"
    same_key = "theirs.generations AS t JOIN main.generations AS m USING (key)"
    differing = "t.fingerprint <> m.fingerprint OR t.label <> m.label"
    for (run_id,) in connection.execute(f"SELECT run_id FROM {both} WHERE {differing} ORDER BY 1"):  # noqa: S608
        raise RunError(f"{file}: its run {run_id} is another configuration than the one here; leave that store out")
    n_runs, n_both = count("theirs.runs"), count(both)
    other_answers = count(f"{same_key} WHERE t.generation <> m.generation")
    new_answers, *_ = map(take, _BY_CONTENT)
    longer = connection.execute(f"SELECT run_id FROM {both} WHERE t.samples > m.samples").fetchall()  # noqa: S608
    for table in _OF_RUNS:
        connection.executemany(f"DELETE FROM main.{table} WHERE run_id = ?", longer)  # noqa: S608 - our own names
    for table in _OF_RUNS:
        take(table)
    seal_runs(connection)
    return {
        "runs": n_runs,
        "new_runs": n_runs - n_both,
        "answers": count("theirs.generations"),
        "new_answers": new_answers,
        "other_answers": other_answers,
    }


_RunId = Annotated[str, Field(pattern=r"\A\w[\w.-]{0,254}\Z")]  # the name of its folder
_Label = Annotated[str, Field(pattern=r"\A[A-Za-z0-9_.-]{0,64}\Z")]
_Facts = Annotated[str, AfterValidator(facts_from_json)]
_Sample = Annotated[str, AfterValidator(sample_from_json)]
_Generation = Annotated[str, AfterValidator(generation_from_json)]
_Count = Annotated[int, Field(ge=0)]
_AtLeast = Json[dict[Literal["answers", "faults", "documents", "embeddings"], _Count]]
_TYPES: dict[str, Any] = {
    "runs": tuple[_RunId, str, _Label, _Facts, Annotated[float, Field(ge=0)], str, _Count, str, _AtLeast],
    "run_samples": tuple[str, int, str, str, _Sample],
    "generations": tuple[str, str | None, _Generation, str],
    "documents": Annotated[tuple[str, bytes], AfterValidator(lambda row: document_of(*row))],
    "run_documents": tuple[str, str, str],
    "embeddings": tuple[str, Annotated[bytes, AfterValidator(vector_of)]],
    "faults": tuple[str, str, str, str, str],
}
_STRICT = ConfigDict(strict=True, allow_inf_nan=False, regex_engine="python-re")


def _checked_copy(file: Path, folder: Path) -> Path:
    copy, as_it_is = folder / STORE_NAME, folder / "as_it_is.db"
    problem = "is damaged, or no database"
    way_out = "nothing of it was taken: mend it there (sqlite3 FILE .recover), or leave it out"
    try:
        with closing(sqlite3.connect(as_it_is)) as theirs, closing(sqlite3.connect(copy)) as made:
            with closing(_readable(file)) as given:
                # A backup alone would wait for ever while somebody holds the file; a reader waits for a bounded time.
                given.execute("BEGIN")
                given.execute("SELECT count(*) FROM sqlite_master").fetchone()
                given.backup(theirs)  # one state of it, whoever writes to it meanwhile
            theirs.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, MOST_BYTES)
            theirs.execute("PRAGMA trusted_schema = OFF")
            _refuse_programs(theirs, file)
            migrate(theirs, file)
            migrate(made, copy)
            with made:
                for table, types in _TYPES.items():
                    insert(made, table, _checked(theirs, table, types))
            verify(made)
    except sqlite3.Error as error:
        raise RunError(f"{file}: {problem} ({error}); {way_out}") from error
    except (ValueError, TypeError, zlib.error) as error:
        raise RunError(f"{file}: {problem} (a row can't be read: {type(error).__name__}); {way_out}") from error
    except OSError as error:
        raise RunError(f"{file}: {error.strerror or error}; {way_out}") from error
    return copy


def _checked(theirs: sqlite3.Connection, table: str, types: Any) -> Iterator[Row]:
    of_row = TypeAdapter[object](types, config=_STRICT)
    for row in rows(theirs, table):
        of_row.validate_python(tuple(row.values()))
        yield row


def _readable(file: Path) -> sqlite3.Connection:
    # To read, SQLite makes two files beside one that nobody has open; where it may not, it takes our word that nobody
    # writes.
    is_open = any(file.with_name(f"{file.name}{end}").exists() for end in ("-wal", "-shm"))
    mode = "mode=ro" if is_open or os.access(file.parent, os.W_OK) else "immutable=1"
    return sqlite3.connect(f"{file.resolve().as_uri()}?{mode}", uri=True, timeout=_BUSY_S)


def _refuse_programs(theirs: sqlite3.Connection, file: Path) -> None:
    """Raise `RunError` for views, triggers and virtual tables: no store has any, and reading them runs them."""
    programs = "type IN ('view', 'trigger') OR sql LIKE 'CREATE VIRTUAL%'"
    for (name,) in theirs.execute(f"SELECT name FROM sqlite_master WHERE {programs}"):  # noqa: S608 - our own words
        raise RunError(f"{file}: is none of ContextCliff's stores (it has {name}); leave it out")
