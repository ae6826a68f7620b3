"""Where a function crosses zero, by Brent's method. `scipy.optimize` takes a third of a second to import: a run whose
scores need no root goes without it."""

from __future__ import annotations

from collections.abc import Callable


def root_of(function: Callable[[float], float], low: float, high: float, *, tolerance: float) -> float:
    """The place between `low` and `high`, where the function has different signs, to within `tolerance`."""
    from scipy.optimize import brentq

    return float(brentq(function, low, high, xtol=tolerance))
