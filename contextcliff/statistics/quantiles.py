"""Classes of about equally many values, equal values never in two."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import TypeVar

Number = TypeVar("Number", int, float)


def quantile_classes(values: Iterable[Number], classes: int) -> list[list[Number]]:
    """The distinct values, ascending, in up to `classes` classes: each goes where the middle of its ranks falls."""
    counts = Counter(values)
    total, below = counts.total(), 0
    found: dict[int, list[Number]] = {}
    for value in sorted(counts):
        found.setdefault((2 * below + counts[value]) * classes // (2 * total), []).append(value)
        below += counts[value]
    return list(found.values())
