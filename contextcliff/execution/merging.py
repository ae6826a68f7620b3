"""Two stores become one: what is missing is inserted, in one transaction, and nothing that is there is replaced.

Keys of answers, embeddings and documents say what they are of, so that only rows that are missing go in. A run that
both stores have ends with the samples, the faults and the facts of both, the same in whatever order stores come.
"""

from __future__ import annotations

import json
import sqlite3
import tempfile
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from contextcliff.errors import RunError
from contextcliff.execution.foreign_store import COLUMNS, checked_copy
from contextcliff.execution.packing import packed_digest, packed_planned, planned_of_packed
from contextcliff.execution.schedule import in_prefix_order
from contextcliff.execution.store import STORE_NAME, Store
from contextcliff.execution.stored_rows import sample_from_json, sample_to_json
from contextcliff.records.sample import Sample

_BY_CONTENT = ("generations", "embeddings", "documents")
# Unpacked, since what bytes a text packs to depends on the library that packed it.
_OTHER_ANSWERS = (
    "FROM theirs.generations AS t JOIN main.generations AS m USING (key) "
    "WHERE json_of_packed(t.generation) <> json_of_packed(m.generation)"
)
_TOGETHER = (("judge", "judge_served"),)
"""Facts of a run that belong together."""
_Planned = tuple[str, str, str]
"""Key, digest of the prompt, and the sample as JSON."""


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
    _refuse_other_configurations(connection, file)
    before = _answered(connection)
    other_answers = _count(connection, f"SELECT count(*) {_OTHER_ANSWERS}")
    contested = connection.execute(
        "SELECT DISTINCT run_id FROM main.run_samples JOIN theirs.runs USING (run_id) "  # noqa: S608 - our own names
        f"WHERE key IN (SELECT key {_OTHER_ANSWERS}) ORDER BY 1"
    ).fetchall()
    new = {table: _insert(connection, table) for table in _BY_CONTENT}
    shared = [run for (run,) in connection.execute("SELECT run_id FROM theirs.runs JOIN main.runs USING (run_id)")]
    changed = {run for run in shared if _join_run(connection, run)}
    _insert_runs(connection)
    after = _answered(connection)
    return Merged(
        runs=_count(connection, "SELECT count(*) FROM theirs.runs"),
        new_runs=_count(connection, "SELECT count(*) FROM theirs.runs") - len(shared),
        generations=_count(connection, "SELECT count(*) FROM theirs.generations"),
        new_generations=new["generations"],
        other_answers=other_answers,
        contested=tuple(run for (run,) in contested),
        joined=tuple(sorted(run for run in shared if run in changed or after[run] != before[run])),
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


def _insert(connection: sqlite3.Connection, table: str) -> int:
    columns = ", ".join(COLUMNS[table])
    return connection.execute(
        f"INSERT OR IGNORE INTO main.{table} ({columns}) SELECT {columns} FROM theirs.{table}"  # noqa: S608 - our names
    ).rowcount


def _insert_runs(connection: sqlite3.Connection) -> None:
    """The runs that are not here, with their schedules and documents; of all runs the faults that are not."""
    for table in ("run_samples", "runs"):
        columns = ", ".join(COLUMNS[table])
        connection.execute(
            f"INSERT INTO main.{table} ({columns}) SELECT {columns} FROM theirs.{table} "  # noqa: S608 - our own names
            "WHERE run_id NOT IN (SELECT run_id FROM main.runs)"
        )
    connection.execute(
        "INSERT INTO main.run_documents (run_id, document_id, sha256) "
        "SELECT run_id, document_id, sha256 FROM theirs.run_documents WHERE true "
        "ON CONFLICT (run_id, document_id) DO UPDATE SET sha256 = max(sha256, excluded.sha256)"
    )
    missing = _faults(connection, "theirs") - _faults(connection, "main")
    connection.executemany(
        f"INSERT INTO main.faults ({', '.join(COLUMNS['faults'])}) VALUES (?, ?, ?, ?, ?)",  # noqa: S608 - our names
        sorted(missing.elements()),
    )


def _faults(connection: sqlite3.Connection, schema: str) -> Counter[tuple[str, ...]]:
    """They have no key: two that are alike are two."""
    rows = connection.execute(f"SELECT {', '.join(COLUMNS['faults'])} FROM {schema}.faults")  # noqa: S608 - our names
    return Counter(tuple(map(str, row)) for row in rows)


def _join_run(connection: sqlite3.Connection, run: str) -> bool:
    """Give a run that both have the facts and the schedule of both; returns whether its schedule changed."""
    columns = "facts, wall_s, created_at"
    ours, theirs = (
        connection.execute(f"SELECT {columns} FROM {schema}.runs WHERE run_id = ?", (run,)).fetchone()  # noqa: S608
        for schema in ("main", "theirs")
    )
    connection.execute(
        "UPDATE main.runs SET facts = ?, wall_s = ?, created_at = ? WHERE run_id = ?",
        (_joined_facts(ours[0], theirs[0]), max(ours[1], theirs[1]), min(ours[2], theirs[2]), run),
    )
    here, there = _schedule(connection, "main", run), _schedule(connection, "theirs", run)
    if here == there:
        return False
    union = _in_order(connection, {*here, *there})
    if here == union:
        return False
    connection.execute("DELETE FROM main.run_samples WHERE run_id = ?", (run,))
    connection.executemany(
        "INSERT INTO main.run_samples (run_id, position, key, prompt_sha256, sample) VALUES (?, ?, ?, ?, ?)",
        [(run, position, *packed_planned(*planned)) for position, planned in enumerate(union)],
    )
    return True


def _schedule(connection: sqlite3.Connection, schema: str, run: str) -> list[_Planned]:
    rows = connection.execute(
        f"SELECT key, prompt_sha256, sample FROM {schema}.run_samples "  # noqa: S608 - our own names
        "WHERE run_id = ? ORDER BY position",
        (run,),
    )
    return [planned_of_packed(*row) for row in rows]


def _in_order(connection: sqlite3.Connection, planned: set[_Planned]) -> list[_Planned]:
    """As they would be sent, which depends on nothing but themselves. A sample that goes by two keys keeps one: an
    answered one before another."""
    chosen: dict[str, tuple[tuple[bool, str, str, str], Sample]] = {}
    for key, sha256, text in planned:
        sample = sample_from_json(text)
        found = connection.execute("SELECT 1 FROM main.generations WHERE key = ?", (packed_digest(key),)).fetchone()
        place = (found is None, key, sha256, sample_to_json(sample))
        if sample.sample_id not in chosen or place < chosen[sample.sample_id][0]:
            chosen[sample.sample_id] = (place, sample)
    order = in_prefix_order(sample for _, sample in chosen.values())
    return [chosen[sample.sample_id][0][1:] for sample in order]


def _joined_facts(one: str, other: str) -> str:
    """Of each fact the one that says something, and of two that do the later one of the alphabet: no order decides."""
    if one == other:
        return one
    first, second = (dict(json.loads(text)) for text in (one, other))
    parts = [*_TOGETHER, *((name,) for name in first.keys() | second.keys() if not any(name in x for x in _TOGETHER))]
    joined: dict[str, str] = {}
    for part in parts:
        values = max(tuple(each.get(name, "") for name in part) for each in (first, second))
        joined |= {name: value for name, value in zip(part, values, strict=True) if name in first or name in second}
    return json.dumps(joined, sort_keys=True)
