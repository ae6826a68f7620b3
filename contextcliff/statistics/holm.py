"""Correction for many tests at once.

S. Holm, "A simple sequentially rejective multiple test procedure", Scand. J. Statist. 6 (1979) 65-70: whatever the
tests have to do with each other, the chance that any of them is rejected wrongly stays at the level. Own code:
statsmodels' `multipletests` gives the same numbers, but collects all garbage of the process in each call and loads
pandas, which takes longer than the rest of an analysis of prose.
"""

from __future__ import annotations

from collections.abc import Sequence

SLACK = 1e-9
"""Tolerance for rounding when a p-value is compared with 1 − confidence: 1 − 0.9 is a little less than 0.1."""


def holm(p_values: Sequence[float]) -> tuple[float, ...]:
    """The p-values after Holm's correction over all of them, in the order given."""
    corrected = [0.0] * len(p_values)
    least = 0.0
    for rank, place in enumerate(sorted(range(len(p_values)), key=p_values.__getitem__)):
        least = max(least, min(1.0, p_values[place] * (len(p_values) - rank)))
        corrected[place] = least
    return tuple(corrected)


def is_significant(p_value: float, confidence: float) -> bool:
    """Whether a p-value is at most 1 − `confidence`."""
    return p_value <= 1.0 - confidence + SLACK
