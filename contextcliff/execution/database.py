"""The SQLite file under the store: its tables, digests by which damage is noticed, and its earlier layouts."""

from __future__ import annotations

import hashlib
import json
import os
import sqlite3
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from pathlib import Path
from shlex import quote
from tempfile import TemporaryDirectory
from typing import Any

from contextcliff.errors import RunError

Row = dict[str, Any]

VERSION = 3
MOST_BYTES = 256 << 20
_TABLES = {
    "runs": "run_id TEXT PRIMARY KEY, fingerprint TEXT, label TEXT, facts TEXT, wall_s REAL, created_at TEXT, "
    "samples INTEGER, samples_sha256 TEXT, at_least TEXT",
    "run_samples": "run_id TEXT, position INTEGER, key TEXT, prompt_sha256 TEXT, sample TEXT",
    "generations": "key TEXT PRIMARY KEY, prompt_sha256 TEXT, generation TEXT, created_at TEXT",
    "documents": "sha256 TEXT PRIMARY KEY, document BLOB",
    "run_documents": "run_id TEXT, document_id TEXT, sha256 TEXT",
    "embeddings": "key TEXT PRIMARY KEY, vector BLOB",
    "faults": "run_id TEXT, sample_id TEXT, kind TEXT, detail TEXT, created_at TEXT",
}
_INDEXES = (
    "CREATE UNIQUE INDEX samples_of_run ON run_samples (run_id, position)",
    "CREATE UNIQUE INDEX documents_of_run ON run_documents (run_id, document_id)",
    "CREATE INDEX faults_of_run ON faults (run_id, sample_id)",
)
COLUMNS = {table: tuple(column.split()[0] for column in types.split(", ")) for table, types in _TABLES.items()}
NO_SAMPLES = {"samples": 0, "samples_sha256": ""}
_IN_ORDER = "run_id = ? ORDER BY position"
_OURS = {"generations": {"key", "generation"}, "runs": {"run_id", "fingerprint", "facts"}}
"""Tables and columns that every database of ours has had."""
_BUSY_S = 30.0

_GOES_ON = "and run the same command again; what was answered is kept"
_HELD = "another process holds it: wait for its end, or end it,"
_NOT_ALLOWED = "allow writing to it and to its folder, or give another output_dir,"
_WAYS_OUT = {
    sqlite3.SQLITE_BUSY: _HELD,
    sqlite3.SQLITE_LOCKED: _HELD,
    sqlite3.SQLITE_READONLY: _NOT_ALLOWED,
    sqlite3.SQLITE_PERM: _NOT_ALLOWED,
    sqlite3.SQLITE_CANTOPEN: _NOT_ALLOWED,
    sqlite3.SQLITE_FULL: "free space on its disk",
    sqlite3.SQLITE_IOERR: "is its disk full, or gone? Mend that",
    sqlite3.SQLITE_TOOBIG: f"give shorter texts, a row may have {MOST_BYTES >> 20} MiB,",
}
_DAMAGE = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_ERROR)  # the last: of a damaged schema


@contextmanager
def explained(file: Path) -> Iterator[None]:
    """Turn what SQLite, and the contents of its rows, complain of into one line. Raises `RunError`."""
    try:
        yield
    except sqlite3.Error as error:
        # The low byte of an extended result code is its kind. Python and our own checks give none: they find damage.
        code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_CORRUPT) & 0xFF
        if code in _DAMAGE:
            raise _damaged(file, str(error)) from error
        raise RunError(f"{file}: {error}; {_WAYS_OUT.get(code, 'mend that')} {_GOES_ON}") from error
    except OSError as error:
        raise RunError(f"{file}: {error.strerror or error}; {_NOT_ALLOWED} {_GOES_ON}") from error
    except (ValueError, zlib.error) as error:  # a row that holds something else than what was written
        raise _damaged(file, f"a row can't be read ({type(error).__name__})") from error


def _damaged(file: Path, cause: str) -> RunError:
    # With its -wal and -shm: beside a new database SQLite would take them for its own.
    aside = file.parent / "damaged"
    moving = f"mkdir {quote(str(aside))} && mv {quote(str(file))}* {quote(str(aside))}"
    # .dump goes on past what it can't read, and then ends with a ROLLBACK; .recover is not in every build. A database
    # without a version is looked through when it is opened, and what is damaged is left out.
    dumping = f"sqlite3 {quote(str(aside / file.name))} .dump"
    saving = f"{dumping} | sed 's/^ROLLBACK/COMMIT/;/^PRAGMA user_version/d' | sqlite3 {quote(str(file))}"
    return RunError(
        f"{file}: is damaged, or no database ({cause}); move it aside ({moving}) and the same command begins anew; "
        f"what can be read of it comes back by: {saving} (perhaps more by .recover in the place of .dump)"
    )


def sha256_of(*values: object) -> str:
    return hashlib.sha256(json.dumps(values, default=bytes.hex).encode()).hexdigest()


def rows(connection: sqlite3.Connection, table: str, where: str = "true", *values: object) -> Iterator[Row]:
    """Rows of a table. Raises `sqlite3.DatabaseError` for one that is not as it was written."""
    query = f"SELECT {', '.join(COLUMNS[table])}, row_sha256 FROM main.{table} WHERE {where}"  # noqa: S608
    for *row, row_sha256 in connection.execute(query, values):
        if sha256_of(*row) != row_sha256:
            raise sqlite3.DatabaseError(f"a row of {table} is not as it was written")
        yield dict(zip(COLUMNS[table], row, strict=True))


def insert(connection: sqlite3.Connection, table: str, new: Iterable[Row], *, otherwise: str = "ABORT") -> None:
    """Insert rows with digests, dated now if they have no date. `otherwise`, if the key is there: IGNORE, REPLACE."""
    columns, created_at = COLUMNS[table], datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
    dated = ({"created_at": created_at, **row} for row in new)
    values = ([row[column] for column in columns] for row in dated)
    statement = f"INSERT OR {otherwise} INTO {table} VALUES (?{', ?' * len(columns)})"  # noqa: S608 - our own names
    connection.executemany(statement, ((*row, sha256_of(*row)) for row in values))


def with_samples(run: Row, samples: Iterable[Row]) -> Row:
    """A run after some more samples: with the number and the chained digest of all."""
    number, digest = run["samples"], run["samples_sha256"]
    for row in samples:
        number, digest = number + 1, sha256_of(digest, row["key"], row["prompt_sha256"], row["sample"])
    return {**run, "samples": number, "samples_sha256": digest}


def samples_of(connection: sqlite3.Connection, run: Row) -> list[Row]:
    """A run's samples in order. Raises `sqlite3.DatabaseError` unless these are all of them."""
    found = list(rows(connection, "run_samples", _IN_ORDER, run["run_id"]))
    if with_samples({**run, **NO_SAMPLES}, found) != run:
        raise sqlite3.DatabaseError(f"the {run['samples']:,} samples of a run are not as they were written")
    return found


def kept_rows(connection: sqlite3.Connection, run_id: str) -> dict[str, int]:
    """The number of rows that a run never loses; embeddings are those of all runs."""
    counts = {
        "answers": "run_samples JOIN generations USING (key) WHERE run_id = :run",
        "faults": "faults WHERE run_id = :run",
        "documents": "run_documents JOIN documents USING (sha256) WHERE run_id = :run",
        "embeddings": "embeddings",
    }
    query = ", ".join(f"(SELECT count(*) FROM {counted})" for counted in counts.values())  # noqa: S608 - our own names
    return dict(zip(counts, connection.execute(f"SELECT {query}", {"run": run_id}).fetchone(), strict=True))


def seal_runs(connection: sqlite3.Connection) -> None:
    """Let every run say which rows it has; samples of no run are removed."""
    connection.execute("DELETE FROM run_samples WHERE run_id NOT IN (SELECT run_id FROM runs)")
    for run in list(rows(connection, "runs")):
        samples = rows(connection, "run_samples", _IN_ORDER, run["run_id"])
        kept = json.dumps(kept_rows(connection, run["run_id"]))
        sealed = with_samples({**run, **NO_SAMPLES, "at_least": kept}, samples)
        insert(connection, "runs", [sealed], otherwise="REPLACE")


def verify(connection: sqlite3.Connection) -> None:
    """Raise `sqlite3.DatabaseError` where a page or a row is not as it was written, or a row of a run is missing."""
    (told,) = connection.execute("PRAGMA main.integrity_check(1)").fetchone()
    if told != "ok":
        raise sqlite3.DatabaseError(told)
    for table in COLUMNS.keys() - {"run_samples"}:
        for _ in rows(connection, table):
            pass
    for run in list(rows(connection, "runs")):
        samples_of(connection, run)
        found = kept_rows(connection, run["run_id"])
        for name, number in json.loads(run["at_least"]).items():
            if found[name] < number:
                raise sqlite3.DatabaseError(f"{number - found[name]:,} of {number:,} {name} are missing")
    if connection.execute("SELECT 1 FROM run_samples WHERE run_id NOT IN (SELECT run_id FROM runs)").fetchone():
        raise sqlite3.DatabaseError("a run is missing")


def check(connection: sqlite3.Connection, file: Path) -> int:
    """The layout of a database, 0 for an empty one. Raises `RunError` for a newer one, and one of something else."""
    version = int(connection.execute("PRAGMA user_version").fetchone()[0])
    tables = {name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    if tables and not all(columns <= _columns(connection, table) for table, columns in _OURS.items()):
        if len(tables & COLUMNS.keys()) > len(COLUMNS) / 2:
            raise sqlite3.DatabaseError("a table is missing")
        raise RunError(
            f"{file}: is a SQLite database and none of ContextCliff's (it has {', '.join(sorted(tables)[:3])}); "
            "nothing was changed: give another output_dir, or move it aside"
        )
    if version > VERSION:
        raise RunError(
            f"{file}: was written by a newer ContextCliff (layout {version}, this one knows {VERSION}); nothing was "
            "changed: take that version (pip install -U contextcliff), or give another output_dir"
        )
    return version


def migrate(connection: sqlite3.Connection, file: Path) -> None:
    """Bring a database to today's layout, all of it or nothing; another process may be at it too."""
    connection.execute("BEGIN IMMEDIATE")
    with connection:  # commits, or rolls back
        if check(connection, file) == VERSION:
            return
        earlier = [table for table in _TABLES if _columns(connection, table)]
        for table in earlier:
            connection.execute(f"ALTER TABLE {table} RENAME TO earlier_{table}")
        for table, types in _TABLES.items():
            connection.execute(f"CREATE TABLE {table} ({types}, row_sha256 TEXT)")
        for table in earlier:
            insert(connection, table, _earlier_rows(connection, table))
            connection.execute(f"DROP TABLE earlier_{table}")
        for index in _INDEXES:
            connection.execute(index)
        seal_runs(connection)
        connection.execute(f"PRAGMA user_version = {VERSION}")


def _earlier_rows(connection: sqlite3.Connection, table: str) -> Iterator[Row]:
    prompts = dict(connection.execute("SELECT key, prompt_sha256 FROM run_samples")) if table == "generations" else {}
    found = connection.execute(f"SELECT * FROM earlier_{table}")  # noqa: S608 - our own names
    names = [name for name, *_ in found.description]
    for values in found:
        # What `.dump` brought back has lost its version: of a damaged database that is what can be read of it.
        if names[-1] == "row_sha256" and values[-1] != sha256_of(*values[:-1]):
            continue
        row = dict(zip(names, values, strict=True))
        packed = {name: value for name, value in row.items() if isinstance(value, bytes) and name in _PACKED}
        row |= {name: _PACKED[name](value) for name, value in packed.items()}
        yield {"prompt_sha256": prompts.get(row.get("key", "")), "at_least": "{}", **NO_SAMPLES, **row}


_COMMON = (
    b'"control":"ceiling","control":"floor","controls":["","pilot":true,"cluster":"","item":"","repeat":1,"bin":3,'
    b'"answer_tokens":48,"system":"","turns":[{"user":[{"text":""}],"assistant":[{"text":"","kind":"summary",'
    b'"kind":"choice","choices":["","evidence":[{"start":12,"end":34},"distractors":["","reply":"",'
    b'"metadata":{"evidence_distance_tokens":1024,"hops":4,"level":2,"topic":""},"reasoning_tokens":64,'
    b'"server_counted":false,"streamed":false,"attention_entropy":[0.5,"reasoning":""'
    b'{"text":"","finish_reason":"length","prompt_tokens":4093,"completion_tokens":48,"cached_tokens":0,'
    b'"ttft_ms":255.25,"latency_ms":295.25,"served_model":"simulated:'
    b'{"text":"","finish_reason":"stop","prompt_tokens":1021,"completion_tokens":4,"cached_tokens":null,'
    b'"ttft_ms":,"latency_ms":,"served_model":"SmolLM2-135M-Instruct"}'
    b'{"sample_id":"niah-001024-d0.250-t19-","task":"niah","context_tokens":1024,"built_tokens":1021,"depth":0.25,'
    b'"trial":19,"document_id":"story","question":"What is the special magic  number?","answers":["266"],'
    b'"recipe":{"user":[{"text":"Read the text below. One sentence in it tells a special magic number; '
    b'remember it.\\n\\n"},{"document_id":"story","start":10,"end":20},'
    b'{"text":"The special magic  number is: 4030729. "},'
    b'{"document_id":"story","start":1089,"end":2668},{"text":"\\n\\nWhat is the special magic  number? '
    b'Answer with the number only."}]},"seed":1807576939,"block":2}'
)
"""What layout 2 deflated its JSON with: every packed row needs it as it is, to the last character."""


def _unpacked(data: bytes) -> str | bytes:
    """The JSON of a row of layout 2; what was not packed, or is too large for a row, as it is."""
    inflating = zlib.decompressobj(zdict=_COMMON)
    try:
        text = inflating.decompress(data, MOST_BYTES).decode()
    except (zlib.error, ValueError):
        return data
    return text if inflating.eof else data


_PACKED: dict[str, Callable[[bytes], str | bytes]] = {
    **dict.fromkeys(("key", "prompt_sha256"), bytes.hex),
    **dict.fromkeys(("generation", "sample"), _unpacked),
}
"""What layout 2 had as bytes, and how it is read."""


def _columns(connection: sqlite3.Connection, table: str) -> set[str]:
    return {name for (name,) in connection.execute("SELECT name FROM pragma_table_info(?)", (table,))}


def opened(file: Path) -> sqlite3.Connection:
    """A connection to a database of today's layout, made where there is none."""
    if not file.exists():
        _make(file)
    if not file.stat().st_size:
        raise sqlite3.DatabaseError("it is empty")
    connection = _connected(file)
    try:
        if check(connection, file) < VERSION:
            migrate(connection, file)
            connection.execute("PRAGMA journal_mode = WAL")
    except (sqlite3.Error, RunError):
        connection.close()
        raise
    return connection


def _connected(file: Path) -> sqlite3.Connection:
    # Generations are written in threads of their own; the store gives each its turn.
    connection = sqlite3.connect(file, timeout=_BUSY_S, check_same_thread=False)
    connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, MOST_BYTES)
    connection.execute("PRAGMA synchronous = FULL")
    connection.execute("PRAGMA cell_size_check = ON")
    return connection


def _make(file: Path) -> None:
    """An empty database under its name, unless another process makes it: nobody ever sees a part of it."""
    file.parent.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(prefix=".state-", dir=file.parent) as folder:
        made = Path(folder) / file.name
        with closing(_connected(made)) as connection:
            connection.execute("PRAGMA journal_mode = WAL")
            migrate(connection, file)
        try:
            os.link(made, file)
        except OSError:
            if not file.exists():  # a file system without hard links
                made.rename(file)
