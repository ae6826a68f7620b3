"""Two stores become one: what is missing is inserted, in one transaction, and nothing that is there is replaced.

Keys of answers, embeddings and documents say what they are of, so that only rows that are missing go in. Of a run that
both stores have the one with more samples stays. Two halves of a run, each with answers of its own, are refused.
"""

from __future__ import annotations

import sqlite3
import tempfile
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


def merge_store(store: Store, other: Path) -> Merged:
    """Insert what the store in the folder `other` has and `store` lacks, all of it or nothing.

    Raises `RunError` where it can't be read, and where a run of one id is another configuration or the other half here.
    """
    with tempfile.TemporaryDirectory(prefix="contextcliff-gather-") as folder:
        copy = Path(folder) / STORE_NAME
        checked_copy(other / STORE_NAME, copy)
        with store.attached(copy) as connection:
            return _merged(connection, other / STORE_NAME)


def _merged(connection: sqlite3.Connection, file: Path) -> Merged:
    verify(connection)
    _refuse_other_configurations(connection, file)
    _refuse_halves(connection, file)
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


def _refuse_halves(connection: sqlite3.Connection, file: Path) -> None:
    def answers_of(one: str, other: str) -> str:
        return (
            f"EXISTS (SELECT 1 FROM {one}.run_samples AS s JOIN {one}.generations USING (key) "  # noqa: S608 - our names
            f"WHERE s.run_id = m.run_id AND key NOT IN (SELECT key FROM {other}.generations))"
        )

    found = connection.execute(
        "SELECT run_id FROM theirs.runs JOIN main.runs AS m USING (run_id) "  # noqa: S608 - our own names
        f"WHERE {answers_of('theirs', 'main')} AND {answers_of('main', 'theirs')} ORDER BY 1 LIMIT 1"
    ).fetchone()
    if found is not None:
        raise RunError(
            f"{file}: its run {found[0]} is one half of a run and the one here another, and halves are not joined; end "
            "one of them where it is, with the command that began it, then gather again"
        )


def _count(connection: sqlite3.Connection, query: str) -> int:
    return int(connection.execute(query).fetchone()[0])


def _insert(connection: sqlite3.Connection, table: str, where: str = "true") -> int:
    taken = f"SELECT * FROM theirs.{table} WHERE {where}"  # noqa: S608 - our own names
    return connection.execute(f"INSERT OR IGNORE INTO main.{table} {taken}").rowcount
