"""Sample size for scores like those observed: of right and wrong answers by their rate, of fractions by their spread.

Planned with the test that the cap is made with (`melding.py`), on scores distributed like the observed ones: n of them
are the means of n equal parts of the observed quantile function, which keeps the mean, and their spread is scaled to
the standard deviation of the sample (n − 1 in the denominator). For 80% power the p-value of these scores has to lie
below the level by a margin: that of a normal statistic which lies further out by the normal quantile of the power,
times the ratio of two standard deviations. That ratio is below 1, since the difference of the means varies less from
run to run than the test allows for with the worst value that it adds to each sample. The figures hold as far as a new
run scores like the observed one.
"""

from __future__ import annotations

import bisect
import math
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from contextcliff.statistics import melding
from contextcliff.statistics.clusters import Evidence
from contextcliff.statistics.descriptive import mean_of
from contextcliff.statistics.distributions import normal_above, normal_quantile
from contextcliff.statistics.sample_size import (
    MOST,
    POWER,
    to_show_above,
    to_show_above_share,
    to_show_below,
    to_show_below_share,
)

_FEWEST = 2
_PARTS = 12
"""Most different scores that a sample is planned with: each takes time in the distribution of a weighted mean."""

_Array = NDArray[np.float64]


@lru_cache(maxsize=1024)
def scores_to_settle(
    here: tuple[float, ...],
    baseline: tuple[float, ...],
    share: float,
    confidence: float,
    *,
    most: int,
    least: int = _FEWEST,
    below: bool = False,
) -> int | None:
    """Fewest scores, `least` to `most`, at each of two lengths that show `here` above `share` × `baseline`.

    With 80% power; `below`: that show it below. `here` and `baseline` are the observed scores, ascending.
    """
    if min(len(here), len(baseline)) < 2:
        return None
    gap = math.fsum(here) / len(here) - share * math.fsum(baseline) / len(baseline)
    if (gap >= 0.0) if below else (gap <= 0.0):
        return None
    there, base = _parts(here), _parts(baseline)

    def suffice(n: int) -> bool:
        scores, base_scores = _spread_over(there, n), _spread_over(base, n)
        further = normal_quantile(POWER) * _share_of_melded_deviation(scores, base_scores, share, below=below)
        p_value = melding.p_at_least_share if below else melding.p_at_most_share
        p = p_value(scores, base_scores, share, binary=False)
        return p <= normal_above(normal_quantile(confidence) + further)

    if suffice(least):
        return least
    counts = range(least + 1, most + 1)
    at = bisect.bisect_left(counts, True, key=suffice)
    return None if at == len(counts) else counts[at]


def _share_of_melded_deviation(
    scores: tuple[float, ...], baseline: tuple[float, ...], share: float, *, below: bool
) -> float:
    """Standard deviation of the difference from run to run, as a share of the one that melding allows for; below 1.

    Melding draws means under random weights, whose variance is that of the n + 1 values over n + 2.
    """
    n = len(scores)
    runs = float(np.var(scores) + share**2 * np.var(baseline)) / n
    added, added_to_base = (1.0, 0.0) if below else (0.0, 1.0)
    melded = float(np.var((added, *scores)) + share**2 * np.var((*baseline, added_to_base))) / (n + 2)
    return math.sqrt(runs / melded)


def _parts(scores: tuple[float, ...]) -> _Array:
    """Up to twelve equally likely scores with the mean of `scores` and their standard deviation: shape (parts,).

    The standard deviation is smaller where scores with it would leave 0 to 1.
    """
    parts = np.asarray(_spread_over(np.asarray(scores), min(len(scores), _PARTS)))
    mean, spread = float(np.mean(scores)), float(np.std(scores, ddof=1))
    away = parts - mean
    if float(away.std()) < 1e-12:
        return parts
    stretches = [spread / float(away.std())]
    if parts[0] < mean:
        stretches.append(mean / float(mean - parts[0]))
    if parts[-1] > mean:
        stretches.append((1.0 - mean) / float(parts[-1] - mean))
    stretched: _Array = np.clip(mean + min(stretches) * away, 0.0, 1.0)
    return stretched


def _spread_over(scores: _Array, n: int) -> tuple[float, ...]:
    """The means of `n` equal parts of the equally likely `scores`, an ascending array of shape (scores,)."""
    total = np.concatenate([[0.0], np.cumsum(scores)]) / len(scores)
    parts = n * np.diff(np.interp(np.linspace(0.0, 1.0, n + 1), np.linspace(0.0, 1.0, len(scores) + 1), total))
    # Rounded, so that equal scores stay equal: each different one costs time.
    return tuple(float(part) for part in np.clip(np.round(parts, 10), 0.0, 1.0))


def to_settle_against(
    evidence: Evidence, score: float, threshold: float, confidence: float, *, has_spread: bool
) -> int | None:
    """Samples with which a true score of `score` is shown on its side of `threshold` with 80% power.

    None above `MOST`, or for the threshold itself. The samples share texts as those of `evidence` do. `has_spread`:
    the scores are fractions, and independent, and vary as these do.
    """
    below = score < threshold
    if has_spread and len(evidence.scores) >= 2:
        moved = _moved(evidence.scores, score)
        # The share of a baseline that is known to be 1 is a fixed threshold.
        scores, limit = (_mirrored(moved), 1.0 - threshold) if below else (moved, threshold)
        return scores_to_settle(scores, (1.0, 1.0), limit, confidence, most=MOST)
    needed = (to_show_below if below else to_show_above)(score, threshold, confidence)
    return evidence.samples_worth(needed, confidence, most=MOST)


def to_settle_against_share(
    evidence: Evidence,
    baseline: Evidence,
    score: float,
    share: float,
    confidence: float,
    *,
    has_spread: bool,
    least: int,
) -> int | None:
    """The same against `share` × the baseline's score, with as many samples at the baseline.

    More samples at one length alone would leave the error of the other. None also without a score at the baseline.
    `least` is the smallest size that makes a baseline.
    """
    if not baseline.scores:
        return None
    mean = mean_of(baseline.scores)
    below = score < share * mean
    if has_spread and min(len(evidence.scores), len(baseline.scores)) >= 2:
        moved = _moved(evidence.scores, score)
        return scores_to_settle(moved, baseline.scores, share, confidence, most=MOST, least=least, below=below)
    needed = (to_show_below_share if below else to_show_above_share)(score, mean, share, confidence)
    return evidence.samples_worth(needed, confidence, most=MOST)


def _moved(scores: tuple[float, ...], mean: float) -> tuple[float, ...]:
    """The scores with another mean, or one near it where they would leave 0 to 1; rounded, so that equal ones stay
    equal."""
    by = mean - mean_of(scores)
    return tuple(round(min(1.0, max(0.0, score + by)), 10) for score in scores)


def _mirrored(scores: tuple[float, ...]) -> tuple[float, ...]:
    return tuple(round(1.0 - score, 10) for score in reversed(scores))
