"""A CSV file of Context-Tester, of either generation: a row a context length, or a row a round (`_detailed`).

A row a length holds means over `num_rounds` rounds and the standard deviations of two of them; its `round_number` and
text are those of one of the rounds, and are not read.
"""

from __future__ import annotations

import csv
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from contextcliff.datasets.local_files import checked_file
from contextcliff.errors import ConfigError
from contextcliff.writing.context_tester.imported_run import ImportedMeans, ImportedRound, ImportedRun, ImportedTier
from contextcliff.writing.context_tester.results_schema import (
    LENGTH,
    ROUNDS,
    STDS,
    TOOL,
    address,
    context_tokens,
    count,
    line,
    measures_of,
    number,
    parameters_of,
    text_of,
)

_SUFFIXES = (".csv",)
_OURS = "num_distinct"
"""A column that only this project's own tables have."""
_OUT = "give a CSV file as Context-Tester left it, or its result folder"
_ROUND = "round_number"
_WHOSE = ("model_name", "text_name", "model_id")
_Row = Mapping[str, str]


def read_table(path: Path, *, key: str) -> ImportedRun:
    """All rows of a file, in any order. Raises `ConfigError` for one that is empty, binary or of several runs."""
    file = checked_file(str(path), key=key, suffixes=_SUFFIXES)
    place = address(path, key=key)
    rows = _rows(file, place=place)
    first = rows[0]
    for column in _WHOSE:
        told = {row.get(column, "") for row in rows}
        if len(told) > 1:
            some = ", ".join(sorted(map(line, told))[:3])
            raise ConfigError(
                f"{place}: holds rows of several runs ({column}: {some}); give each run a file of its own"
            )
    groups: defaultdict[int, list[tuple[int, _Row]]] = defaultdict(list)
    for position, row in enumerate(rows, start=1):
        groups[context_tokens(row.get(LENGTH), place=f"{place}: row {position}")].append((position, row))
    return ImportedRun(
        run_id=line(file.stem),
        tool=TOOL,
        model=line(first.get("model_name", "")) or line(file.stem),
        text=line(first.get("text_name", "")),
        label=line(first.get("model_id", "")),
        parameters=parameters_of(first),
        tiers=tuple(_tier(tokens, groups[tokens], place=place) for tokens in sorted(groups)),
        original={},
    )


def _rows(file: Path, *, place: str) -> Sequence[_Row]:
    # A model's text may hold a broken character; the figures are plain ASCII.
    with file.open(encoding="utf-8-sig", errors="replace", newline="") as stream:
        table = csv.DictReader(stream, restval="", strict=True)
        try:
            columns = list(table.fieldnames or ())
            _check(columns, place=place)
            rows = [{str(name): cell for name, cell in row.items() if name is not None} for row in table]
        except csv.Error as error:
            raise ConfigError(f"{place}: is no CSV table ({error}); {_OUT}") from error
    if not rows:
        raise ConfigError(f"{place}: has no row under its head line; {_OUT}")
    return rows


def _check(columns: Sequence[str], *, place: str) -> None:
    if LENGTH not in columns:
        raise ConfigError(f"{place}: has no column {LENGTH}; {_OUT}")
    if _OURS in columns or "sample_id" in columns:
        raise ConfigError(f"{place}: is a table of a run of this project; give the run's folder, which holds it")
    twice = next((name for name in columns if columns.count(name) > 1), None)
    if twice is not None:
        raise ConfigError(f"{place}: has two columns {line(twice)}; {_OUT}")


def _tier(tokens: int, found: Iterable[tuple[int, _Row]], *, place: str) -> ImportedTier:
    rows = list(found)
    if len(rows) == 1:
        position, row = rows[0]
        where = f"{place}: row {position}"
        n = count(row.get(ROUNDS), place=where)
        if n > 1:
            return ImportedTier(context_tokens=tokens, means=_means(row, n, place=where))
    numbers = [row.get(_ROUND, "") for _, row in rows]
    if len(set(numbers)) < len(numbers) and any(numbers):
        raise ConfigError(
            f"{place}: has several rows of one round at {tokens:,} tokens, as of several runs; give each a file of its "
            "own"
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
