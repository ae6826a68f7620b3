"""The SQLite file under the store: made by the first generation, and never half written."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

from tenacity import Retrying, retry_if_exception, stop_after_delay, wait_random

from contextcliff.errors import RunError
from contextcliff.execution.schema import VERSION, check, migrate
from contextcliff.execution.store_faults import explained

_BUSY_MS = 30_000


class Database:
    """One SQLite file. Reading where there is none gives nothing; a write that `creates` makes it.

    What else is written before that waits in memory and goes in with it: a run that never got an
    answer leaves nothing behind. Every failure is a `RunError` with the way out.
    """

    def __init__(self, file: Path) -> None:
        self.file = file
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
        with explained(self.file):
            return self._connection().execute(query, values).fetchall()

    def write(self, statement: str, rows: Sequence[Sequence[object]], *, creates: bool = False) -> None:
        """Execute a statement for each of the rows, in one transaction with what waits."""
        self._waiting.append((statement, rows))
        if not creates and not self.file.exists():
            return
        with explained(self.file):
            self.file.parent.mkdir(parents=True, exist_ok=True)
            with self._connection() as connection:  # commits, or rolls back
                for waiting, values in self._waiting:
                    connection.executemany(waiting, values)
        self._waiting.clear()

    def _connection(self) -> sqlite3.Connection:
        if self._open is None:
            # Changing a fresh file to WAL does not wait for another process that is doing the same.
            opening = Retrying(
                retry=retry_if_exception(_is_locked),
                stop=stop_after_delay(_BUSY_MS / 1000),
                wait=wait_random(min=0.005, max=0.05),
                reraise=True,
            )
            self._open = opening(_opened, self.file)
        return self._open


def _is_locked(error: BaseException) -> bool:
    return isinstance(error, sqlite3.OperationalError) and "locked" in str(error)


def _opened(file: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(file, timeout=_BUSY_MS / 1000)
    try:
        connection.execute(f"PRAGMA busy_timeout = {_BUSY_MS}")
        version = check(connection, file)  # before anything is written to it
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = FULL")
        if version < VERSION:
            migrate(connection, file)
    except (sqlite3.Error, RunError):
        connection.close()
        raise
    return connection
