"""Two stores become one: what is missing is inserted, in one transaction, and nothing that is there is replaced.

Keys of answers, embeddings and documents say what they are of, so that only rows that are missing go in. Of a run that
both stores have the one with more samples stays: the same command goes on with it, and asks nothing that either has.
"""

from __future__ import annotations

import sqlite3
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from contextcliff.errors import RunError
from contextcliff.execution.database import seal_runs, verify
from contextcliff.execution.foreign_store import checked_copy
from contextcliff.execution.store import STORE_NAME, Store

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
    joined: tuple[str, ...]
    """Runs that both had and that have more samples or answers now."""
    contested: tuple[str, ...]
    """Runs of both to which another answer was given there."""


def merge_store(store: Store, other: Path) -> Merged:
    """Insert what the store in the folder `other` has and `store` lacks, all of it or nothing.

    Raises `RunError` where it can't be read, and where a run of one id is another configuration here.
    """
    with tempfile.TemporaryDirectory(prefix="contextcliff-gather-") as folder:
        copy = Path(folder) / STORE_NAME
        checked_copy(other / STORE_NAME, copy)
        with store.attached(copy) as connection:
            return _merged(connection, other / STORE_NAME)


def _merged(connection: sqlite3.Connection, file: Path) -> Merged:
    verify(connection)
    _refuse_other_configurations(connection, file)
    before = _answered(connection)
    other_answers = _count(connection, f"SELECT count(*) {_OTHER_ANSWERS}")
    contested = connection.execute(
        "SELECT DISTINCT run_id FROM main.run_samples JOIN theirs.runs USING (run_id) "  # noqa: S608 - our own names
        f"WHERE key IN (SELECT key {_OTHER_ANSWERS}) ORDER BY 1"
    ).fetchall()
    new_generations, *_ = [_insert(connection, table) for table in _BY_CONTENT]
    shared = "FROM theirs.runs AS t JOIN main.runs AS m USING (run_id)"
    n_shared = _count(connection, f"SELECT count(*) {shared}")
    longer = connection.execute(f"SELECT run_id {shared} WHERE t.samples > m.samples").fetchall()
    for table in _OF_RUNS:
        connection.executemany(f"DELETE FROM main.{table} WHERE run_id = ?", longer)  # noqa: S608 - our own names
    for table in _OF_RUNS:
        _insert(connection, table, "run_id NOT IN (SELECT run_id FROM main.runs)")
    seal_runs(connection)
    after = _answered(connection)
    return Merged(
        runs=_count(connection, "SELECT count(*) FROM theirs.runs"),
        new_runs=_count(connection, "SELECT count(*) FROM theirs.runs") - n_shared,
        generations=_count(connection, "SELECT count(*) FROM theirs.generations"),
        new_generations=new_generations,
        other_answers=other_answers,
        contested=tuple(run for (run,) in contested),
        joined=tuple(run for run in sorted(before) if (run,) in longer or after[run] != before[run]),
    )


def _refuse_other_configurations(connection: sqlite3.Connection, file: Path) -> None:
    found = connection.execute(
        "SELECT run_id FROM theirs.runs AS t JOIN main.runs AS m USING (run_id) "
        "WHERE t.fingerprint <> m.fingerprint OR t.label <> m.label ORDER BY 1 LIMIT 1"
    ).fetchone()
    if found is not None:
        raise RunError(f"{file}: its run {found[0]} is another configuration than the one here; leave that store out")


def _answered(connection: sqlite3.Connection) -> Mapping[str, int]:
    """How many samples of each run have an answer."""
    return dict(
        connection.execute(
            "SELECT run_id, count(generations.key) FROM main.runs LEFT JOIN main.run_samples USING (run_id) "
            "LEFT JOIN main.generations USING (key) GROUP BY run_id"
        )
    )


def _count(connection: sqlite3.Connection, query: str) -> int:
    return int(connection.execute(query).fetchone()[0])


def _insert(connection: sqlite3.Connection, table: str, where: str = "true") -> int:
    taken = f"SELECT * FROM theirs.{table} WHERE {where}"  # noqa: S608 - our own names
    return connection.execute(f"INSERT OR IGNORE INTO main.{table} {taken}").rowcount
