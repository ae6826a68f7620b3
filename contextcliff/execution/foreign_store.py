"""Another output folder's `state.db`, read and checked row by row into a database of our own making.

It may be anybody's, of an earlier version, or in use. Nothing of it is changed, and what is merged later is this copy:
rows that our own code could have written, under names that stay inside an output folder.
"""

from __future__ import annotations

import sqlite3
import zlib
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path
from typing import Annotated, Literal

from pydantic import AfterValidator, ConfigDict, Field, Json, TypeAdapter

from contextcliff.errors import RunError
from contextcliff.execution.database import COLUMNS, VERSION, Row, check, insert, migrate, rows, verify
from contextcliff.execution.packing import MOST_BYTES
from contextcliff.execution.stored_rows import (
    document_of,
    facts_from_json,
    generation_from_json,
    sample_from_json,
    vector_of,
)

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


def checked_copy(file: Path, copy: Path) -> None:
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
