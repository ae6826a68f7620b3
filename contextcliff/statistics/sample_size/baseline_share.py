"""Sample size for 0/1 scores that are compared with a share of a baseline, which is an estimate too."""

from __future__ import annotations

import math

from scipy import stats

from contextcliff.statistics.sample_size.fixed_threshold import MOST, POWER, to_show_above


def to_show_above_share(rate: float, baseline: float, share: float, confidence: float) -> int | None:
    """Samples at each of the two lengths with which `rate` is shown above `share` × `baseline` with 80% power.

    The number for a fixed threshold of that height, plus, by the normal approximation, the number that estimating the
    baseline takes. None above `MOST`, or where `rate` is not above.
    """
    alone = to_show_above(rate, share * baseline, confidence)
    if alone is None:
        return None
    z = float(stats.norm.ppf(confidence) + stats.norm.ppf(POWER))
    gap = rate - share * baseline
    n = alone + math.ceil(z**2 * share**2 * baseline * (1.0 - baseline) / gap**2)
    return n if n <= MOST else None
