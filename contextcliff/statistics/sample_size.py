"""The samples that a fixed design takes."""

from __future__ import annotations

import bisect
import itertools
import math
from collections.abc import Callable
from functools import lru_cache, partial

import numpy as np
from numpy.typing import NDArray

from contextcliff.statistics import melding
from contextcliff.statistics.clusters import FEW, Evidence, mirrored, samples_worth
from contextcliff.statistics.descriptive import mean_of
from contextcliff.statistics.intervals import (
    binomial_chances,
    binomials_above,
    binomials_exceeded,
    clopper_pearson_low,
    log_choose,
    normal_above,
    normal_below,
    normal_quantile,
)
from contextcliff.statistics.ranks import are_significant, is_significant, least_p

# How many samples would settle it, and the smallest fall of a score that a number of samples detects.
#
# Sizes are for a fixed threshold, for a share of the baseline, and for one test among many. They are planned for a
# power of 80% at the confidence of the run, with the test that the cap is made with, and hold for a new run: samples
# added after a look at the result are optional stopping, which the tests do not allow for.

POWER = 0.8
"""Chance that a run of the planned size shows what is true."""
MOST = 20_000
"""A larger number of samples is not practical; None is returned instead."""


def fewest_all_right(threshold: float, confidence: float) -> int | None:
    """Fewest samples that show a score above `threshold` if all are right: 14 for 0.8 at 95%. None where none do."""
    if threshold >= 1.0:
        return None
    if threshold == 0.0:
        return 1
    # All of n right has the exact p-value threshold ** n; rounding can leave the quotient one short.
    n = max(1, math.ceil(math.log(1.0 - confidence) / math.log(threshold)) - 1)
    while clopper_pearson_low(n, n, confidence) < threshold:
        n += 1
    return n if n <= MOST else None


def few_clusters(threshold: float, confidence: float) -> int:
    """Number of clusters from which on their means need not show `threshold` too: 20 for 0.8 at 95%."""
    return math.ceil(FEW * (fewest_all_right(threshold, confidence) or MOST))


def cautious_mean(mean: float, n: float, threshold: float) -> float:
    """The `mean` of `n` samples, moved toward a half as two more samples would: (k + 1) / (n + 2). The mean itself
    where the moved one would lie on the other side of the threshold."""
    shrunk = (mean * n + 1.0) / (n + 2.0)
    return mean if (shrunk > threshold) != (mean > threshold) else shrunk


@lru_cache(maxsize=1024)
def to_show_above(rate: float, threshold: float, confidence: float) -> int | None:
    """Fewest samples with which a true score of `rate` is shown above `threshold` with 80% power; None above `MOST`."""
    if rate <= threshold:
        return None
    if threshold == 0.0:
        return 1
    for place, n in enumerate(_ranges()):
        compatible = _most_compatible(threshold, confidence, place)
        enough = np.flatnonzero(binomials_above(compatible, n, rate) >= POWER)
        if enough.size:
            return int(n[enough[0]])
    return None


def to_show_below(rate: float, threshold: float, confidence: float) -> int | None:
    """Fewest samples with which a true score of `rate` is shown below `threshold` with 80% power; None above `MOST`.

    By the exact one-sided test, which shows that the share of wrong answers is above 1 − `threshold`. None also for a
    threshold of 1, which a single wrong answer is below."""
    return None if threshold >= 1.0 else to_show_above(1.0 - rate, 1.0 - threshold, confidence)


@lru_cache(maxsize=64)
def _most_compatible(threshold: float, confidence: float, place: int) -> NDArray[np.float64]:
    """The largest count right that is still compatible with a score at the threshold, for each n of a range."""
    return binomials_exceeded(1.0 - confidence, _ranges()[place], threshold)


def _ranges() -> list[np.ndarray[tuple[int], np.dtype[np.int64]]]:
    """Sample sizes to try, from 1 to `MOST`, in three arrays of growing size: most answers are small."""
    edges = [1, 257, 2_049, MOST + 1]
    return [np.arange(a, b, dtype=np.int64) for a, b in itertools.pairwise(edges)]


def to_show_against_share(rate: float, baseline: float, share: float, confidence: float) -> int | None:
    """Samples at each of the two lengths with which `rate` is shown on its side of `share` × `baseline`, 80% power.

    The number for a fixed threshold of that height, plus, by the normal approximation, the number that estimating the
    baseline takes. None above `MOST`, or where `rate` is on neither side."""
    gap = rate - share * baseline
    alone = (to_show_below if gap < 0.0 else to_show_above)(rate, share * baseline, confidence)
    if alone is None:
        return None
    z = normal_quantile(confidence) + normal_quantile(POWER)
    n = alone + math.ceil(z**2 * share**2 * baseline * (1.0 - baseline) / gap**2)
    return n if n <= MOST else None


_MOST_VALUES = 1_000


def fewest_for_significance(tests: int, others: int | None, confidence: float) -> int | None:
    """Fewest values against `others` (None: as many) with which one of `tests` rank tests can be significant."""
    sizes = range(1, _MOST_VALUES + 1)
    return next((n for n in sizes if is_significant(tests * least_p(n, others or n), confidence)), None)


_EXACT_SAMPLES = 250
_DROPS = 400


def detectable_drop(samples: int, *, confidence: float, baseline: float = 0.95, power: float = 0.8) -> float | None:
    """Smallest drop below `baseline` that a one-sided comparison of two lengths finds with this power.

    Fisher's exact test at 1 − confidence, `samples` 0/1 scores a length, its power summed over all outcomes; above
    250 samples by the arcsine approximation (J. Cohen 1988), which is good there. None where not even a fall to
    zero would be found."""
    if samples < 1:
        return None
    power_of = _exact_power if samples <= _EXACT_SAMPLES else _arcsine_power
    drops = np.linspace(0.0, baseline, _DROPS + 1)[1:].tolist()
    at = bisect.bisect_left(drops, True, key=lambda drop: power_of(samples, confidence, baseline, drop) >= power)
    return None if at == len(drops) else float(drops[at])


def _exact_power(n: int, confidence: float, baseline: float, drop: float) -> float:
    """Power of Fisher's test, summed over all outcomes: arrays of shape (n + 1, n + 1), right before × right after."""
    chances = _chances(n, baseline)[:, None] * _chances(n, baseline - drop)[None, :]
    return float(chances[are_significant(_fisher_p_values(n), confidence)].sum())


def _chances(n: int, rate: float) -> NDArray[np.float64]:
    """The last drop is to zero, where rounding may leave something below it."""
    return binomial_chances(n, rate) if rate > 0.0 else np.eye(1, n + 1).ravel()


@lru_cache(maxsize=4)
def _fisher_p_values(n: int) -> NDArray[np.float64]:
    """The chance of so few right after, given how many are right in all: hypergeometric."""
    right = np.arange(n + 1)
    each, whole = log_choose(n, right), log_choose(2 * n, np.arange(2 * n + 1))
    before = np.arange(2 * n + 1)[:, None] - right[None, :]
    is_possible = (before >= 0) & (before <= n)
    logs = each[None, :] + each[np.clip(before, 0, n)] - whole[:, None]
    at_most = np.minimum(1.0, np.cumsum(np.where(is_possible, np.exp(logs), 0.0), axis=1))
    return np.asarray(at_most[right[:, None] + right[None, :], right[None, :]])


def _arcsine_power(n: int, confidence: float, baseline: float, drop: float) -> float:
    effect = 2.0 * (np.arcsin(np.sqrt(baseline)) - np.arcsin(np.sqrt(baseline - drop)))
    return normal_below(float(effect * np.sqrt(n / 2.0)) - normal_quantile(confidence))


# Sample size for scores like those observed: of right and wrong answers by their rate, of fractions by their spread.
#
# Planned with the test that the cap is made with (`melding.py`), on scores distributed like the observed ones: n of
# them are the means of n equal parts of the observed quantile function, which keeps the mean, and their spread is
# scaled to the standard deviation of the sample (n − 1 in the denominator). For 80% power the p-value of these scores
# has to lie below the level by a margin: that of a normal statistic which lies further out by the normal quantile of
# the power, times the ratio of two standard deviations. That ratio is below 1, since the difference of the means varies
# less from run to run than the test allows for with the worst value that it adds to each sample. The figures hold as
# far as a new run scores like the observed one.

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
    """Fewest scores, `least` to `most`, at each of two lengths that show `here` above `share` × `baseline`. With 80%
    power; `below`: that show it below. `here` and `baseline` are the observed scores, ascending."""
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
    Melding draws means under random weights, whose variance is that of the n + 1 values over n + 2."""
    n = len(scores)
    runs = float(np.var(scores) + share**2 * np.var(baseline)) / n
    added, added_to_base = (1.0, 0.0) if below else (0.0, 1.0)
    melded = float(np.var((added, *scores)) + share**2 * np.var((*baseline, added_to_base))) / (n + 2)
    return math.sqrt(runs / melded)


def _parts(scores: tuple[float, ...]) -> _Array:
    """Up to twelve equally likely scores with the mean of `scores` and their standard deviation: shape (parts,). The
    standard deviation is smaller where scores with it would leave 0 to 1."""
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


def to_settle_against(evidence: Evidence, score: float, threshold: float, confidence: float) -> int | None:
    """Samples with which a true score of `score` is shown on its side of `threshold` with 80% power.

    None above `MOST`, or for the threshold itself. The samples share texts as those of `evidence` do, and independent
    fractions vary as these do."""
    below = score < threshold
    moved = _moved(evidence.means, score)
    # The share of a baseline that is known to be 1 is a fixed threshold.
    scores, limit = (mirrored(moved), 1.0 - threshold) if below else (moved, threshold)
    by_means = partial(scores_to_settle, scores, (1.0, 1.0), limit, confidence)
    if not (evidence.binary or evidence.clusters) and len(evidence.scores) >= 2:
        return by_means(most=MOST)
    needed = (to_show_below if below else to_show_above)(score, threshold, confidence)
    return _in_clusters(needed, evidence, limit, confidence, by_means)


def to_settle_against_share(
    evidence: Evidence, baseline: Evidence, score: float, share: float, confidence: float, *, least: int
) -> int | None:
    """The same against `share` × the baseline's score, with as many samples at the baseline.

    More samples at one length alone would leave the error of the other. None also without a score at the baseline.
    `least` is the smallest size that makes a baseline."""
    if not baseline.scores:
        return None
    mean = mean_of(baseline.scores)
    below = score < share * mean
    moved = _moved(evidence.means, score)
    by_means = partial(scores_to_settle, moved, baseline.means, share, confidence, least=least, below=below)
    has_spread = not (evidence.binary or evidence.clusters or baseline.clusters)
    if has_spread and min(len(evidence.scores), len(baseline.scores)) >= 2:
        return by_means(most=MOST)
    needed = to_show_against_share(score, mean, share, confidence)
    return _in_clusters(needed, evidence, 1.0 - share * mean if below else share, confidence, by_means)


def _in_clusters(
    needed: int | None, evidence: Evidence, limit: float, confidence: float, by_means: Callable[..., int | None]
) -> int | None:
    """Samples in clusters like these that are worth `needed` independent ones, and show `limit` themselves if few."""
    if needed is None or not evidence.clusters:
        return needed
    few = few_clusters(limit, confidence)
    clusters = by_means(most=few) or few
    worth = samples_worth(needed, evidence.clusters, confidence, most=MOST)
    size = sum(cluster.scored for cluster in evidence.clusters) / len(evidence.clusters)
    return None if worth is None else max(worth, round(clusters * size))


def _moved(scores: tuple[float, ...], mean: float) -> tuple[float, ...]:
    """The scores with another mean, or one near it where they would leave 0 to 1; rounded, so that equal ones stay
    equal."""
    by = mean - mean_of(scores) if scores else 0.0
    return tuple(round(min(1.0, max(0.0, score + by)), 10) for score in scores)
