"""The tables of `state.db`, by version: what an older database takes to be one of today, and which are not ours.

`PRAGMA user_version` holds the number of steps that were taken; databases from before it was kept hold 0. A further
change is one more entry of `_STEPS`, and never an edit of one that was released.
"""

from __future__ import annotations

import sqlite3
from pathlib import Path

from contextcliff.errors import RunError

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
_STEPS = (_FIRST,)
"""The statements that lead from each version to the next."""
VERSION = len(_STEPS)

_OURS = {"generations": {"key", "sample_id", "prompt_sha256", "generation"}, "runs": {"run_id", "fingerprint", "facts"}}
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
    connection.execute("BEGIN IMMEDIATE")
    with connection:  # commits, or rolls back
        for step in _STEPS[check(connection, file) :]:
            for statement in step:
                connection.execute(statement)
        connection.execute(f"PRAGMA user_version = {VERSION}")


def _columns(connection: sqlite3.Connection, table: str) -> set[str]:
    return {name for (name,) in connection.execute("SELECT name FROM pragma_table_info(?)", (table,))}
