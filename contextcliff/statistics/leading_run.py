"""How many values in a row, from the first one on, are above a threshold."""

from __future__ import annotations

from collections.abc import Iterable


def leading_above(values: Iterable[float | None], threshold: float, *, reaching: bool = False) -> int:
    """The number of values before the first that is not above `threshold`; with `reaching` one that is equal is above.

    A value that is missing is not above it.
    """
    count = 0
    for value in values:
        if value is None or not (value > threshold or (reaching and value == threshold)):
            break
        count += 1
    return count
