"""Waiting for another process that holds a SQLite file, where SQLite itself does not wait.

SQLite's own timeout holds for reads and writes. A change to the write-ahead log fails at once while somebody writes
(SQLite's documentation of `PRAGMA journal_mode`).
"""

from __future__ import annotations

import sqlite3

from tenacity import Retrying, retry_if_exception, stop_after_delay, wait_random


def while_locked(*, at_most_s: float) -> Retrying:
    """Calls again what another process's lock stopped, for `at_most_s` seconds; then raises `sqlite3.Error`."""
    return Retrying(
        retry=retry_if_exception(_is_locked),
        stop=stop_after_delay(at_most_s),
        wait=wait_random(min=0.005, max=0.05),
        reraise=True,
    )


def _is_locked(error: BaseException) -> bool:
    return isinstance(error, sqlite3.OperationalError) and "locked" in str(error)
