"""Correction for many tests at once.

S. Holm, "A simple sequentially rejective multiple test procedure", Scand. J. Statist. 6 (1979) 65-70: whatever the
tests have to do with each other, the chance that any of them is rejected wrongly stays at the level. The correction is
statsmodels', whose `multipletests` has the other usual ones too.
"""

from __future__ import annotations

from collections.abc import Sequence

SLACK = 1e-9
"""Tolerance for rounding when a p-value is compared with 1 − confidence: 1 − 0.9 is a little less than 0.1."""


def holm(p_values: Sequence[float]) -> tuple[float, ...]:
    """The p-values after Holm's correction over all of them, in the order given."""
    if not p_values:
        return ()
    from statsmodels.stats.multitest import multipletests

    return tuple(float(p) for p in multipletests(p_values, method="holm")[1])


def is_significant(p_value: float, confidence: float) -> bool:
    """Whether a p-value is at most 1 − `confidence`."""
    return p_value <= 1.0 - confidence + SLACK
