"""Reads a CSV file of Context-Tester, of either generation: one row per context length, or per round (`_detailed`).

A row per length holds means over `num_rounds` rounds, and the standard deviations of two of the measures. Its
`round_number` and text are those of one of the rounds and are ignored.
"""

from __future__ import annotations

import csv
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path

from contextcliff.datasets.local_files import checked_file
from contextcliff.errors import ConfigError
from contextcliff.writing.context_tester.imported_writing import ImportedMeans, ImportedRound, ImportedRun, ImportedTier
from contextcliff.writing.context_tester.results_schema import (
    LENGTH,
    ROUNDS,
    STDS,
    TOOL,
    address,
    context_tokens,
    measures_of,
    number,
    one_line,
    parameters_of,
    round_count,
    text_of,
)

_SUFFIXES = (".csv",)
_OWN_COLUMN = "num_distinct"
"""A column that only the tables of this project have."""
_REMEDY = "give a CSV file as Context-Tester left it, or its result folder"
_ROUND = "round_number"
_RUN_COLUMNS = ("model_name", "text_name", "model_id")
_Row = Mapping[str, str]


def read_table(path: Path, *, key: str) -> ImportedRun:
    """The run in a file, from rows in any order. Raises `ConfigError` for a file that is empty or not of one run."""
    file = checked_file(str(path), key=key, suffixes=_SUFFIXES)
    place = address(path, key=key)
    rows = _rows(file, place=place)
    first = rows[0]
    for column in _RUN_COLUMNS:
        values = {row.get(column, "") for row in rows}
        if len(values) > 1:
            some = ", ".join(sorted(map(one_line, values))[:3])
            raise ConfigError(
                f"{place}: holds rows of several runs ({column}: {some}); give each run a file of its own"
            )
    groups: defaultdict[int, list[tuple[int, _Row]]] = defaultdict(list)
    for position, row in enumerate(rows, start=1):
        groups[context_tokens(row.get(LENGTH), place=f"{place}: row {position}")].append((position, row))
    return ImportedRun(
        run_id=one_line(file.stem),
        tool=TOOL,
        model=one_line(first.get("model_name", "")) or one_line(file.stem),
        text=one_line(first.get("text_name", "")),
        label=one_line(first.get("model_id", "")),
        parameters=parameters_of(first),
        tiers=tuple(_tier(tokens, groups[tokens], place=place) for tokens in sorted(groups)),
        original={},
    )


def _rows(file: Path, *, place: str) -> Sequence[_Row]:
    # A model's text can hold invalid bytes; the numbers are plain ASCII.
    with file.open(encoding="utf-8-sig", errors="replace", newline="") as stream:
        table = csv.DictReader(stream, restval="", strict=True)
        try:
            columns = list(table.fieldnames or ())
            _check(columns, place=place)
            rows = [{str(name): cell for name, cell in row.items() if name is not None} for row in table]
        except csv.Error as error:
            raise ConfigError(f"{place}: is not a CSV table ({error}); {_REMEDY}") from error
    if not rows:
        raise ConfigError(f"{place}: has no row below its header; {_REMEDY}")
    return rows


def _check(columns: Sequence[str], *, place: str) -> None:
    if LENGTH not in columns:
        raise ConfigError(f"{place}: has no column {LENGTH}; {_REMEDY}")
    if _OWN_COLUMN in columns or "sample_id" in columns:
        raise ConfigError(f"{place}: is a table of a run of this project; give the run's folder in its place")
    repeated = next((name for name in columns if columns.count(name) > 1), None)
    if repeated is not None:
        raise ConfigError(f"{place}: has two columns {one_line(repeated)}; {_REMEDY}")


def _tier(tokens: int, rows: Sequence[tuple[int, _Row]], *, place: str) -> ImportedTier:
    """One context length, of its rows with their numbers in the file."""
    if len(rows) == 1:
        position, row = rows[0]
        where = f"{place}: row {position}"
        n = round_count(row.get(ROUNDS), place=where)
        if n > 1:
            return ImportedTier(context_tokens=tokens, means=_means(row, n, place=where))
    numbers = [row.get(_ROUND, "") for _, row in rows]
    if len(set(numbers)) < len(numbers) and any(numbers):
        raise ConfigError(
            f"{place}: has several rows of one round at {tokens:,} tokens, as if of several runs; give each run a "
            "file of its own"
        )
    return ImportedTier(
        context_tokens=tokens,
        rounds=tuple(
            ImportedRound(
                values=measures_of(row, place=f"{place}: row {position}"), text=text_of(row.get("continuation_text"))
            )
            for position, row in rows
        ),
    )


def _means(row: _Row, n: int, *, place: str) -> ImportedMeans:
    stds = {measure: number(row.get(name), name, place=place) for name, measure in STDS.items()}
    return ImportedMeans(
        values=measures_of(row, place=place),
        stds={name: std for name, std in stds.items() if std is not None},
        n=n,
    )
