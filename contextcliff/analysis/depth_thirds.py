"""The thirds of the depths that were asked: by their number, as even as they go, and the same from either end."""

from __future__ import annotations

from collections.abc import Iterable

from contextcliff.records.search_record import THIRDS

CLAIMS = 1 + len(THIRDS)
"""The mean and each third: "one of them is below" errs no more often than stated where each errs a CLAIMS-th of it."""


def third_sizes(n_depths: int) -> tuple[int, int, int]:
    """How many of so many depths each third has: 11 are 4, 3 and 4; 10 are 3, 4 and 3."""
    each, over = divmod(n_depths, 3)
    return (each + (over == 2), each + (over == 1), each + (over == 2))


def depth_thirds(depths: Iterable[float | None]) -> tuple[frozenset[float], ...]:
    """The different depths in three parts, from the start of the text to its end; empty below three depths."""
    ordered = sorted({depth for depth in depths if depth is not None})
    if len(ordered) < len(THIRDS):
        return ()
    first, middle, _ = third_sizes(len(ordered))
    return (
        frozenset(ordered[:first]),
        frozenset(ordered[first : first + middle]),
        frozenset(ordered[first + middle :]),
    )
