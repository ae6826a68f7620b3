"""The SQLite file under the store: its tables by version, what is wrong with a damaged one, and one connection.

It is made by the first generation, and never half written. An older database takes the steps that it lacks, in one
transaction; a newer one, or one of something else, is left as it is.
"""

from __future__ import annotations

import sqlite3
import zlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from shlex import quote
from threading import RLock
from types import TracebackType
from typing import Self

from contextcliff.errors import RunError
from contextcliff.execution.packing import teach
from contextcliff.sqlite_locks import while_locked

_PRIMARY = 0xFF
"""Extended result codes of SQLite hold the primary one in their low byte."""
_GOES_ON = "run the same command again; what was answered is kept"
_WAYS_OUT: Mapping[int, str] = {
    sqlite3.SQLITE_BUSY: f"another process holds it: wait for its end, or end it, and {_GOES_ON}",
    sqlite3.SQLITE_LOCKED: f"another process holds it: wait for its end, or end it, and {_GOES_ON}",
    sqlite3.SQLITE_FULL: f"free space on its disk and {_GOES_ON}",
    sqlite3.SQLITE_IOERR: f"is its disk full, or gone? Mend that and {_GOES_ON}",
    sqlite3.SQLITE_READONLY: f"allow writing to it and to its folder, or give another output_dir, and {_GOES_ON}",
    sqlite3.SQLITE_PERM: f"allow writing to it and to its folder, or give another output_dir, and {_GOES_ON}",
    sqlite3.SQLITE_CANTOPEN: f"allow writing to it and to its folder, or give another output_dir, and {_GOES_ON}",
}
_DAMAGE = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)


@contextmanager
def explained(file: Path) -> Iterator[None]:
    """Turn what SQLite, and the contents of its rows, complain of into one line. Raises `RunError`."""
    try:
        yield
    except sqlite3.Error as error:
        code = getattr(error, "sqlite_errorcode", None)  # None where Python and not SQLite found it
        way_out = None if code is None else _WAYS_OUT.get(code & _PRIMARY)
        if way_out is None and (code is None or code & _PRIMARY in _DAMAGE):
            raise _damaged(file, str(error)) from error
        raise RunError(f"{file}: {error}; {way_out or f'mend that and {_GOES_ON}'}") from error
    except OSError as error:
        raise RunError(f"{file}: {error.strerror or error}; {_WAYS_OUT[sqlite3.SQLITE_CANTOPEN]}") from error
    except (ValueError, zlib.error) as error:  # a row that holds something else than what was written
        raise _damaged(file, f"a row can't be read ({type(error).__name__})") from error


def _damaged(file: Path, cause: str) -> RunError:
    # With its -wal and -shm: beside a new database SQLite would take them for its own.
    aside = file.parent / "damaged"
    moving = f"mkdir {quote(str(aside))} && mv {quote(str(file))}* {quote(str(aside))}"
    # .dump goes on past what it can't read, and then ends with a ROLLBACK; .recover is not in every build.
    dumping = f"sqlite3 {quote(str(aside / file.name))} .dump"
    saving = f"{dumping} | sed s/^ROLLBACK/COMMIT/ | sqlite3 {quote(str(file))}"
    return RunError(
        f"{file}: is damaged, or no database ({cause}); move it aside ({moving}) and the same command begins anew; "
        f"what can be read of it comes back by: {saving} (perhaps more by .recover in the place of .dump)"
    )


_FIRST = (
    # What a database of version 0 has already stays as it is.
    """CREATE TABLE IF NOT EXISTS generations (
        key TEXT PRIMARY KEY, sample_id TEXT NOT NULL, prompt_sha256 TEXT NOT NULL,
        generation TEXT NOT NULL, created_at TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ', 'now'))
    ) WITHOUT ROWID""",
    """CREATE TABLE IF NOT EXISTS runs (
        run_id TEXT PRIMARY KEY, fingerprint TEXT NOT NULL, label TEXT NOT NULL, facts TEXT NOT NULL,
        wall_s REAL NOT NULL DEFAULT 0, created_at TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ', 'now'))
    ) WITHOUT ROWID""",
    """CREATE TABLE IF NOT EXISTS run_samples (
        run_id TEXT NOT NULL, position INTEGER NOT NULL, key TEXT NOT NULL, prompt_sha256 TEXT NOT NULL,
        sample TEXT NOT NULL, PRIMARY KEY (run_id, position)
    ) WITHOUT ROWID""",
    """CREATE TABLE IF NOT EXISTS documents (
        sha256 TEXT PRIMARY KEY, document BLOB NOT NULL
    ) WITHOUT ROWID""",
    """CREATE TABLE IF NOT EXISTS run_documents (
        run_id TEXT NOT NULL, document_id TEXT NOT NULL, sha256 TEXT NOT NULL, PRIMARY KEY (run_id, document_id)
    ) WITHOUT ROWID""",
    """CREATE TABLE IF NOT EXISTS embeddings (
        key TEXT PRIMARY KEY, vector BLOB NOT NULL
    ) WITHOUT ROWID""",
    """CREATE TABLE IF NOT EXISTS faults (
        run_id TEXT NOT NULL, sample_id TEXT NOT NULL, kind TEXT NOT NULL, detail TEXT NOT NULL,
        created_at TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ', 'now'))
    )""",
    "CREATE INDEX IF NOT EXISTS faults_of_run ON faults (run_id, sample_id)",
)
_SECOND = (
    # A third of the bytes. What a generation shared with the samples of its key stands with these alone.
    """CREATE TABLE packed_generations (
        key BLOB PRIMARY KEY, generation BLOB NOT NULL,
        created_at TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ', 'now'))
    ) WITHOUT ROWID""",
    """INSERT INTO packed_generations (key, generation, created_at)
        SELECT packed_digest(key), packed_json(generation), created_at FROM generations""",
    "DROP TABLE generations",
    "ALTER TABLE packed_generations RENAME TO generations",
    """CREATE TABLE packed_samples (
        run_id TEXT NOT NULL, position INTEGER NOT NULL, key BLOB NOT NULL, prompt_sha256 BLOB NOT NULL,
        sample BLOB NOT NULL, PRIMARY KEY (run_id, position)
    ) WITHOUT ROWID""",
    """INSERT INTO packed_samples (run_id, position, key, prompt_sha256, sample)
        SELECT run_id, position, packed_digest(key), packed_digest(prompt_sha256), packed_json(sample)
        FROM run_samples""",
    "DROP TABLE run_samples",
    "ALTER TABLE packed_samples RENAME TO run_samples",
)
_STEPS = (_FIRST, _SECOND)
"""The statements that lead from each version to the next."""
VERSION = len(_STEPS)

_OURS = {"generations": {"key", "generation"}, "runs": {"run_id", "fingerprint", "facts"}}
"""Tables and columns that every database of ours has had."""


def check(connection: sqlite3.Connection, file: Path) -> int:
    """The version of a database, 0 for one that is empty or from before versions. Changes nothing.

    Raises `RunError` for one of a later version, and for one that something else made.
    """
    version = int(connection.execute("PRAGMA user_version").fetchone()[0])
    tables = {name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    if tables and not all(columns <= _columns(connection, table) for table, columns in _OURS.items()):
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
    """Bring a database that was checked to today's version, all of it or nothing; another process may be at it too."""
    teach(connection)
    connection.execute("BEGIN IMMEDIATE")
    with connection:  # commits, or rolls back
        for step in _STEPS[check(connection, file) :]:
            for statement in step:
                connection.execute(statement)
        connection.execute(f"PRAGMA user_version = {VERSION}")


def _columns(connection: sqlite3.Connection, table: str) -> set[str]:
    return {name for (name,) in connection.execute("SELECT name FROM pragma_table_info(?)", (table,))}


_BUSY_MS = 30_000


class Database:
    """One SQLite file. Reading where there is none gives nothing; a write that `creates` makes it.

    What else is written before that waits in memory and goes in with it: a run that never got an
    answer leaves nothing behind. Every failure is a `RunError` with the way out. Threads may share it: one
    waits for the other's transaction.
    """

    def __init__(self, file: Path) -> None:
        self.file = file
        self._turn = RLock()
        self._open: sqlite3.Connection | None = None
        self._waiting: list[tuple[str, Sequence[Sequence[object]]]] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._open is not None:
            self._open.close()
            self._open = None

    def first(self, query: str, *values: object) -> tuple[str, ...] | None:
        """The first row of a query; None where there is none, or no file."""
        return next(iter(self.all(query, *values)), None)

    def all(self, query: str, *values: object) -> list[tuple[str, ...]]:
        """All rows of a query; none where there is no file."""
        if self._open is None and not self.file.exists():
            return []
        with self._turn, explained(self.file):
            return self._connection().execute(query, values).fetchall()

    def write(self, statement: str, rows: Sequence[Sequence[object]], *, creates: bool = False) -> None:
        """Execute a statement for each of the rows, in one transaction with what waits."""
        with self._turn:
            self._waiting.append((statement, rows))
            if not creates and not self.file.exists():
                return
            with explained(self.file):
                self.file.parent.mkdir(parents=True, exist_ok=True)
                with self._connection() as connection:  # commits, or rolls back
                    for waiting, values in self._waiting:
                        connection.executemany(waiting, values)
            self._waiting.clear()

    @contextmanager
    def attached(self, other: Path) -> Iterator[sqlite3.Connection]:
        """One transaction in which `main` is this database, made where there is none, and `theirs` another of ours.

        What the block does is kept where it ends, and dropped where it raises.
        """
        with self._turn, explained(self.file):
            self.file.parent.mkdir(parents=True, exist_ok=True)
            connection = self._connection()
            connection.execute("ATTACH DATABASE ? AS theirs", (str(other),))
            try:
                connection.execute("BEGIN IMMEDIATE")
                with connection:  # commits, or rolls back
                    yield connection
            finally:
                connection.execute("DETACH DATABASE theirs")

    def _connection(self) -> sqlite3.Connection:
        if self._open is None:
            self._open = while_locked(at_most_s=_BUSY_MS / 1000)(_opened, self.file)
        return self._open


def _opened(file: Path) -> sqlite3.Connection:
    # Generations are written in a thread of their own; `Database` gives each its turn.
    connection = sqlite3.connect(file, timeout=_BUSY_MS / 1000, check_same_thread=False)
    try:
        connection.execute(f"PRAGMA busy_timeout = {_BUSY_MS}")
        teach(connection)
        version = check(connection, file)  # before anything is written to it
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = FULL")
        if version < VERSION:
            migrate(connection, file)
    except (sqlite3.Error, RunError):
        connection.close()
        raise
    return connection
