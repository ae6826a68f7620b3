"""Which curves are meant by `[ruler, ruler:gpt-4-1106-preview, mine.csv]`."""

from __future__ import annotations

from collections.abc import Sequence

from contextcliff.errors import ConfigError
from contextcliff.records.published import PublishedCurve
from contextcliff.reporting.published.reading import read_table
from contextcliff.reporting.published.table import PublishedRow, PublishedTable, by_default

_ALL = "all"


def published_curves(chosen: Sequence[str], *, key: str) -> tuple[PublishedCurve, ...]:
    """The curves that a list of names asks for, each once. Raises `ConfigError`, whose line begins with `key`.

    `TABLE` is the table's own choice of a few models, `TABLE:MODEL` one of them and `TABLE:all` every one; a table is a
    name or a file.
    """
    curves: dict[tuple[str, str], PublishedCurve] = {}
    for name in chosen:
        shown = f"{key}={name}"
        place, model = _parted(name)
        table = read_table(place, shown=shown)
        for row in _rows(table, model, shown):
            curves.setdefault((place, row.chosen_by), table.curve(row))
    return tuple(curves.values())


def _parted(name: str) -> tuple[str, str]:
    """Table and model; the colon of a drive (`C:\\mine.csv`) parts nothing."""
    place, colon, model = name.rpartition(":")
    return (place, model) if colon and len(place) > 1 and not model.endswith((".csv", ".yaml", ".yml")) else (name, "")


def _rows(table: PublishedTable, model: str, shown: str) -> tuple[PublishedRow, ...]:
    if not model:
        return by_default(table)
    if model == _ALL:
        return table.rows
    found = tuple(row for row in table.rows if model in (row.chosen_by, row.model))
    if not found:
        keys = ", ".join(sorted(row.chosen_by for row in table.rows))
        raise ConfigError(f"{shown}: {table.title} has no such model; there are {keys}, and {_ALL}")
    return found
