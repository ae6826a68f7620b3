"""Sample size for the exact rank test: from how many values on a result can be significant at all."""

from __future__ import annotations

from contextcliff.statistics.holm import is_significant
from contextcliff.statistics.rank_tests import least_p

_MOST_VALUES = 1_000


def fewest_for_significance(tests: int, others: int | None, confidence: float) -> int | None:
    """Fewest values with which one of `tests` rank tests can be significant after Holm's correction; None above 1,000.

    They are compared with `others` values; None: with as many as they are.
    """
    sizes = range(1, _MOST_VALUES + 1)
    return next((n for n in sizes if is_significant(tests * least_p(n, others or n), confidence)), None)
