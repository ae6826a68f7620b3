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
from contextcliff.execution.database import COLUMNS, insert, rows, seal_runs, verify
from contextcliff.execution.foreign_store import checked_copy
from contextcliff.execution.schedule import in_prefix_order
from contextcliff.execution.store import STORE_NAME, Store
from contextcliff.execution.stored_rows import sample_from_json, sample_to_json
from contextcliff.records.sample import Sample

_BY_CONTENT = ("generations", "embeddings", "documents")
_OTHER_ANSWERS = (
    "FROM theirs.generations AS t JOIN main.generations AS m USING (key) WHERE t.generation <> m.generation"
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
    verify(connection)
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
    seal_runs(connection)
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


def _insert(connection: sqlite3.Connection, table: str, where: str = "true", *, otherwise: str = "IGNORE") -> int:
    taken = f"SELECT * FROM theirs.{table} AS t WHERE {where}"  # noqa: S608 - our own names
    return connection.execute(f"INSERT OR {otherwise} INTO main.{table} {taken}").rowcount


def _insert_runs(connection: sqlite3.Connection) -> None:
    """The runs that are not here, with their schedules and documents; of all runs the faults that are not."""
    for table in ("run_samples", "runs"):
        _insert(connection, table, "run_id NOT IN (SELECT run_id FROM main.runs)")
    ours = "SELECT sha256 FROM main.run_documents AS m WHERE (m.run_id, m.document_id) = (t.run_id, t.document_id)"
    later = f"sha256 > coalesce(({ours}), '')"
    _insert(connection, "run_documents", later, otherwise="REPLACE")
    missing = _faults(connection, "theirs") - _faults(connection, "main")
    insert(connection, "faults", (dict(zip(COLUMNS["faults"], row, strict=True)) for row in sorted(missing.elements())))


def _faults(connection: sqlite3.Connection, schema: str) -> Counter[tuple[str, ...]]:
    """They have no key: two that are alike are two."""
    return Counter(tuple(row.values()) for row in rows(connection, "faults", schema=schema))


def _join_run(connection: sqlite3.Connection, run_id: str) -> bool:
    """Give a run that both have the facts and the schedule of both; returns whether its schedule changed."""
    ours, theirs = (next(rows(connection, "runs", "run_id = ?", run_id, schema=each)) for each in ("main", "theirs"))
    joined = {
        **ours,
        "facts": _joined_facts(ours["facts"], theirs["facts"]),
        "wall_s": max(ours["wall_s"], theirs["wall_s"]),
        "created_at": min(ours["created_at"], theirs["created_at"]),
    }
    insert(connection, "runs", [joined], otherwise="REPLACE")
    here, there = (_schedule(connection, each, run_id) for each in ("main", "theirs"))
    union = here if here == there else _in_order(connection, {*here, *there})
    if here == union:
        return False
    connection.execute("DELETE FROM main.run_samples WHERE run_id = ?", (run_id,))
    added = ((run_id, position, *each) for position, each in enumerate(union))
    insert(connection, "run_samples", (dict(zip(COLUMNS["run_samples"], row, strict=True)) for row in added))
    return True


def _schedule(connection: sqlite3.Connection, schema: str, run_id: str) -> list[_Planned]:
    found = rows(connection, "run_samples", "run_id = ? ORDER BY position", run_id, schema=schema)
    return [(row["key"], row["prompt_sha256"], row["sample"]) for row in found]


def _in_order(connection: sqlite3.Connection, planned: set[_Planned]) -> list[_Planned]:
    """As they would be sent, which depends on nothing but themselves. A sample that goes by two keys keeps one: an
    answered one before another."""
    found: list[tuple[bool, str, str, str, Sample]] = []
    for key, prompt_sha256, text in planned:
        sample = sample_from_json(text)
        answer = connection.execute("SELECT 1 FROM main.generations WHERE key = ?", (key,)).fetchone()
        found.append((answer is None, key, prompt_sha256, sample_to_json(sample), sample))
    chosen = {each[-1].sample_id: each for each in sorted(found, key=lambda each: each[:4], reverse=True)}
    order = in_prefix_order(each[-1] for each in chosen.values())
    return [chosen[sample.sample_id][1:4] for sample in order]


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
