"""Classes of about equally many values; equal values are never in two classes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import TypeVar

Number = TypeVar("Number", int, float)


def quantile_classes(values: Iterable[Number], classes: int) -> list[list[Number]]:
    """The distinct values, ascending, in up to `classes` classes: the middle of a value's ranks decides its class."""
    counts = Counter(values)
    total, below = counts.total(), 0
    by_class: dict[int, list[Number]] = {}
    for value in sorted(counts):
        by_class.setdefault((2 * below + counts[value]) * classes // (2 * total), []).append(value)
        below += counts[value]
    return list(by_class.values())
