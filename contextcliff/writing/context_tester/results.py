"""Reads results of Context-Tester: a result folder with `context_N_results.json`, or a CSV file of either generation.

A folder has `metadata.json` too. Figures are read as they were stored. The tool:
github.com/jabberjabberjabber/Context-Tester.
"""

from __future__ import annotations

import csv
import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path

from contextcliff.datasets.local_files import checked_file, refuse_large
from contextcliff.errors import ConfigError
from contextcliff.writing.context_tester.imported_writing import ImportedRound, ImportedRun, ImportedTier
from contextcliff.writing.context_tester.results_schema import (
    LENGTH,
    ROUNDS,
    TOOL,
    address,
    context_tokens,
    measures_of,
    one_line,
    parameters_of,
    round_count,
    text_of,
)

RESULTS = "context_*_results.json"
_METADATA = "metadata.json"
_REMEDY = "give a result folder as Context-Tester left it, or its CSV file"


def read_folder(folder: Path, *, key: str) -> ImportedRun:
    """The run in a folder. Raises `ConfigError` for a folder without results and for files of another kind."""
    files = sorted(folder.glob(RESULTS))
    if not files:
        raise ConfigError(f"{address(folder, key=key)}: holds no context_N_results.json; {_REMEDY}")
    tiers: dict[int, ImportedTier] = {}
    for file in files:
        tier = _tier(_object(file, key=key), place=address(file, key=key))
        if tier.context_tokens in tiers:
            raise ConfigError(
                f"{address(file, key=key)}: {LENGTH} is {tier.context_tokens:,}, as in another file of the folder; "
                "keep one of them"
            )
        tiers[tier.context_tokens] = tier
    metadata = folder / _METADATA
    values = _object(metadata, key=key) if metadata.is_file() else {}
    experiment = _inner(values, "experiment_metadata")
    place = address(metadata, key=key)
    return ImportedRun(
        run_id=one_line(folder.resolve().name) or TOOL,
        tool=TOOL,
        model=one_line(experiment.get("model_name")) or one_line(folder.resolve().name) or TOOL,
        text=one_line(experiment.get("source_text_name")),
        label=one_line(experiment.get("model_id")),
        parameters=parameters_of({**experiment, **_inner(experiment, "generation_params")}),
        tiers=tuple(tiers[tokens] for tokens in sorted(tiers)),
        original=measures_of(_inner(values, "ground_truth_analysis"), place=place),
    )


def _tier(results: Mapping[str, object], *, place: str) -> ImportedTier:
    if LENGTH not in results:
        raise ConfigError(f"{place}: has no {LENGTH}, so it is not a file of Context-Tester's; {_REMEDY}")
    tokens = context_tokens(results[LENGTH], place=place)
    stored = results.get("individual_rounds") or []
    if not isinstance(stored, Sequence) or isinstance(stored, str):
        raise ConfigError(f"{place}: individual_rounds is not a list; {_REMEDY}")
    rounds = []
    for position, values_of_round in enumerate(stored, start=1):
        if not isinstance(values_of_round, dict):
            raise ConfigError(f"{place}: round {position} is not an object; {_REMEDY}")
        values = measures_of(values_of_round, place=f"{place}: round {position}")
        rounds.append(ImportedRound(values=values, text=text_of(values_of_round.get("continuation_text"))))
    if not rounds:
        raise ConfigError(f"{place}: holds no rounds; leave this file out")
    return ImportedTier(context_tokens=tokens, rounds=tuple(rounds))


def _object(file: Path, *, key: str) -> Mapping[str, object]:
    place = address(file, key=key)
    refuse_large(file.stat().st_size, place)
    try:
        values = json.loads(file.read_text(encoding="utf-8-sig"))
    except (ValueError, RecursionError) as error:
        raise ConfigError(f"{place}: is not JSON; {_REMEDY}") from error
    if not isinstance(values, dict):
        raise ConfigError(f"{place}: is not a JSON object; {_REMEDY}")
    return values


def _inner(values: Mapping[str, object], name: str) -> Mapping[str, object]:
    """The object under a name; empty where there is none."""
    inner = values.get(name)
    return inner if isinstance(inner, dict) else {}


_SUFFIXES = (".csv",)
_OWN_COLUMN = "num_distinct"
"""A column that only the tables of this project have."""
_TABLE_REMEDY = "give a CSV file as Context-Tester left it, or its result folder"
_ROUND = "round_number"
_RUN_COLUMNS = ("model_name", "text_name", "model_id")
_Row = Mapping[str, str]


def read_table(path: Path, *, key: str) -> ImportedRun:
    """The run in a CSV file of either generation with a row per round (`_detailed`), in any order.

    Raises `ConfigError` for a file that is empty, not of one run, or of averages.
    """
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
        tiers=tuple(_table_tier(tokens, groups[tokens], place=place) for tokens in sorted(groups)),
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
            raise ConfigError(f"{place}: is not a CSV table ({error}); {_TABLE_REMEDY}") from error
    if not rows:
        raise ConfigError(f"{place}: has no row below its header; {_TABLE_REMEDY}")
    return rows


def _check(columns: Sequence[str], *, place: str) -> None:
    if LENGTH not in columns:
        raise ConfigError(f"{place}: has no column {LENGTH}; {_TABLE_REMEDY}")
    if _OWN_COLUMN in columns or "sample_id" in columns:
        raise ConfigError(f"{place}: is a table of a run of this project; give the run's folder in its place")
    repeated = next((name for name in columns if columns.count(name) > 1), None)
    if repeated is not None:
        raise ConfigError(f"{place}: has two columns {one_line(repeated)}; {_TABLE_REMEDY}")


def _table_tier(tokens: int, rows: Sequence[tuple[int, _Row]], *, place: str) -> ImportedTier:
    """One context length, of its rows with their numbers in the file."""
    if len(rows) == 1:
        position, row = rows[0]
        where = f"{place}: row {position}"
        n = round_count(row.get(ROUNDS), place=where)
        if n > 1:
            raise ConfigError(
                f"{where}: holds the averages of {n:,} rounds; give the table with a row per round (_detailed), or the "
                "result folder"
            )
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


def is_context_tester(path: Path) -> bool:
    """Whether a path looks like results of Context-Tester."""
    return any(path.glob(RESULTS)) if path.is_dir() else path.suffix.lower() in _SUFFIXES


def read_context_tester(path: Path, *, key: str) -> ImportedRun:
    """The run at a path. Raises `ConfigError`, which begins with `key`, where there is none."""
    try:
        return read_folder(path, key=key) if path.is_dir() else read_table(path, key=key)
    except OSError as error:
        raise ConfigError(f"{key}={error.filename or path}: can't be read ({error.strerror})") from error


def kept_texts(run: ImportedRun) -> bool:
    """Whether the text of every round was stored, so that it can be measured again."""
    return all(one.text for tier in run.tiers for one in tier.rounds)
